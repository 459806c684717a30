/* SPDX-License-Identifier: MIT */
/*
 * A receive or probe from any source takes the message that arrived first, by the library's
 * reckoning. Here it is made to take another one: all senders are probed for, and the call is made
 * by the source and tag of one that has something. A probe finds the first message of a sender that
 * the call could take, and what is found no earlier receive wants: so the call takes it at once,
 * and it might have been the first to arrive.
 */
#include "preload/constants.h"
#include "stress/stress.h"

struct candidate {
    int source, tag;
};

enum { CANDIDATES = 32 };

static int senders(MPI_Comm comm)
{
    int inter = 0, size = 0;

    rp_pmpi.Comm_test_inter(comm, &inter);
    if (inter)
        rp_pmpi.Comm_remote_size(comm, &size);
    else
        rp_pmpi.Comm_size(comm, &size);
    return size;
}

static bool is_here(int source, int tag, MPI_Comm comm, struct candidate *out)
{
    MPI_Status status;
    int flag = 0;

    if (rp_pmpi.Iprobe(source, tag, comm, &flag, &status) != MPI_SUCCESS || !flag)
        return false;
    *out = (struct candidate){status.MPI_SOURCE, status.MPI_TAG};
    return true;
}

/* Of many senders some are looked at, from a random one on. */
static uint32_t look(struct rp_chance *chance, int tag, MPI_Comm comm,
                     struct candidate here[CANDIDATES])
{
    int size = senders(comm), looks = size < CANDIDATES ? size : CANDIDATES;
    int from = size > looks ? (int)rp_chance_below(chance, (uint64_t)size) : 0;
    uint32_t count = 0;

    for (int i = 0; i < looks; i++)
        count += is_here((from + i) % size, tag, comm, &here[count]);
    return count;
}

static void choose_among(struct rp_chance *chance, int *source, int *tag, MPI_Comm comm)
{
    struct candidate first, here[CANDIDATES];

    if (!is_here(MPI_ANY_SOURCE, *tag, comm, &first))
        return;
    uint32_t count = look(chance, *tag, comm, here), usual = 0;
    while (usual < count && here[usual].source != first.source)
        usual++;
    if (count < 2)
        return;
    struct candidate chosen = here[rp_chance_choose(chance, count, usual)];
    *source = chosen.source;
    *tag = chosen.tag;
}

static void choose(struct rp_chance *chance, int *source, int *tag, MPI_Comm comm)
{
    uint64_t begun = rp_stress_now();

    if (!rp_chance_has_time(chance, begun))
        return;
    choose_among(chance, source, tag, comm);
    rp_chance_used(chance, rp_stress_now() - begun);
}

/* What is wrong with a call is for the call itself to find: an error handler is to be called
 * once. */
static bool can_probe(int source, int tag, MPI_Comm comm)
{
    if ((tag < 0 && tag != MPI_ANY_TAG) || comm == rp_constant.comm_null || !rp_stress_may_probe())
        return false;
    return source == MPI_ANY_SOURCE || (source >= 0 && source < senders(comm));
}

static bool has_choice(int source, int tag, MPI_Comm comm)
{
    return source == MPI_ANY_SOURCE && can_probe(source, tag, comm);
}

/* The call itself would wait, too; but not if it is wrong in a way that only it can see. */
static void await_first(int source, int tag, MPI_Comm comm)
{
    enum { NAP = 50000, LONGEST = 300000000 }; /* ns */
    struct candidate ignored;

    for (uint64_t end = rp_stress_now() + LONGEST;
         rp_stress_now() < end && !is_here(source, tag, comm, &ignored);)
        rp_stress_pause(NAP);
}

static bool is_found;

void rp_stress_found(void)
{
    is_found = true;
}

void rp_stress_before_take(int *source, int *tag, MPI_Comm comm)
{
    struct rp_chance *chance = rp_stress_chance();

    is_found = false;
    if (!chance || !has_choice(*source, *tag, comm))
        return;
    uint64_t wait = rp_chance_wait(chance, rp_stress_now());
    if (wait > 0) {
        await_first(*source, *tag, comm);
        rp_stress_pause(wait);
    }
    choose(chance, source, tag, comm);
}

void rp_stress_before_post(int *source, int *tag, MPI_Comm comm)
{
    struct rp_chance *chance = rp_stress_chance();

    is_found = false;
    if (!chance || !has_choice(*source, *tag, comm))
        return;
    rp_stress_pause(rp_chance_wait(chance, rp_stress_now()));
    choose(chance, source, tag, comm);
}

/* Before a probe that does not wait: true if it is to say no. */
static bool is_kept_back(int *source, int *tag, MPI_Comm comm)
{
    struct rp_chance *chance = rp_stress_chance();
    struct candidate ignored;

    if (!chance || !can_probe(*source, *tag, comm))
        return false;
    uint64_t begun = rp_stress_now();
    if (!rp_chance_has_time(chance, begun))
        return false;
    bool here = is_here(*source, *tag, comm, &ignored);
    rp_chance_used(chance, rp_stress_now() - begun);
    if (!here)
        return false;
    if (!is_found && rp_chance_keeps_back(chance))
        return true;
    if (*source == MPI_ANY_SOURCE)
        choose(chance, source, tag, comm);
    return false;
}

int rp_stress_iprobe(int (*real)(int, int, MPI_Comm, int *, MPI_Status *), const char *name,
                     int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status)
{
    int rc = MPI_SUCCESS;

    if (is_kept_back(&source, &tag, comm))
        *flag = 0;
    else
        rc = real(source, tag, comm, flag, status);
    is_found |= rc == MPI_SUCCESS && *flag;
    rp_stress_polled(name, rc == MPI_SUCCESS && !*flag);
    return rc;
}

int rp_stress_improbe(int (*real)(int, int, MPI_Comm, int *, MPI_Message *, MPI_Status *),
                      const char *name, int source, int tag, MPI_Comm comm, int *flag,
                      MPI_Message *message, MPI_Status *status)
{
    int rc = MPI_SUCCESS;

    if (is_kept_back(&source, &tag, comm))
        *flag = 0;
    else
        rc = real(source, tag, comm, flag, message, status);
    rp_stress_polled(name, rc == MPI_SUCCESS && !*flag);
    return rc;
}
