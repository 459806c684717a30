/* SPDX-License-Identifier: MIT */
/*
 * Completion: MPI_Wait, MPI_Test and their families. MPI_Waitany and MPI_Testany get the requests
 * in another order, because MPI libraries choose the first that is complete. MPI_Waitany and
 * MPI_Waitsome wait a little, so that more requests are complete. Tests that could say yes say no.
 *
 * A request counts as complete if MPI_Request_get_status returns a sender for it. For an inactive
 * persistent request it returns none: a call on such requests alone is not to say no.
 */
#include <stdlib.h>

#include "base/diagnostics.h"
#include "preload/constants.h"
#include "stress/stress.h"

enum { FEW = 64, NAP = 20000, LONGEST = 300000000 /* ns */ };

/* How far the furthest of them is. */
enum progress { NONE_IS_COMPLETE, ONE_MAY_BE, ONE_IS };

static bool may_not_ask;

void rp_stress_asks_no_more(void)
{
    may_not_ask = true;
}

static enum progress look_at(MPI_Request request)
{
    MPI_Status status;
    int flag = 0;

    if (request == rp_constant.request_null)
        return NONE_IS_COMPLETE;
    if (may_not_ask)
        return ONE_MAY_BE;
    status.MPI_SOURCE = MPI_ANY_SOURCE;
    if (rp_pmpi.Request_get_status(request, &flag, &status) != MPI_SUCCESS)
        return ONE_MAY_BE; /* the call itself will say what is wrong */
    return !flag ? NONE_IS_COMPLETE : status.MPI_SOURCE >= 0 ? ONE_IS : ONE_MAY_BE;
}

/* Of many requests some are looked at, from a random one on: each look may take the library a
 * while. */
static enum progress look(struct rp_chance *chance, int count, const MPI_Request *requests)
{
    enum progress furthest = NONE_IS_COMPLETE;
    int looks = count < FEW ? count : FEW,
        from = count > looks ? (int)rp_chance_below(chance, (uint64_t)count) : 0;

    for (int i = 0; i < looks && furthest != ONE_IS; i++) {
        enum progress progress = look_at(requests[(from + i) % count]);
        furthest = progress > furthest ? progress : furthest;
    }
    return furthest;
}

/* Waits, so that more are complete. Libraries that find one complete look no further for messages:
 * so they are made to look. */
static void pile_up(uint64_t wait, int count, const MPI_Request *requests)
{
    if (wait == 0)
        return;
    rp_stress_pause(wait);
    for (int i = 0; i < count && i < FEW; i++)
        look_at(requests[i]);
}

/* The program calls MPI_Request_get_status: no test may deny what that call has shown as complete.
 */
static bool has_seen_status;

/* Whether the test is to say no. */
static bool is_kept_back(int count, const MPI_Request *requests)
{
    struct rp_chance *chance = rp_stress_chance();

    if (!chance || !requests)
        return false;
    uint64_t begun = rp_stress_now();
    if (!rp_chance_has_time(chance, begun))
        return false;
    enum progress progress = look(chance, count, requests);
    rp_chance_used(chance, rp_stress_now() - begun);
    if (progress != ONE_IS)
        return false;
    if (!has_seen_status && rp_chance_keeps_back(chance))
        return true;
    if (count > 1)
        pile_up(rp_chance_wait(chance, rp_stress_now()), count, requests);
    return false;
}

/* The requests in another order. */
struct shuffled {
    MPI_Request *requests, few[FEW];
    int *place, few_places[FEW]; /* in the program's array */
    int count;
};

static void shuffle(struct rp_chance *chance, int count, const MPI_Request *requests,
                    struct shuffled *s, int *index)
{
    s->count = count;
    s->requests = count <= FEW ? s->few : malloc((size_t)count * sizeof *s->requests);
    s->place = count <= FEW ? s->few_places : malloc((size_t)count * sizeof *s->place);
    if (!s->requests || !s->place)
        rp_bug(__FILE__, __LINE__, "out of memory for a request array");
    for (int i = 0; i < count; i++) {
        int j = (int)rp_chance_below(chance, (uint64_t)i + 1);
        s->place[i] = j < i ? s->place[j] : i;
        s->place[j] = i;
    }
    for (int i = 0; i < count; i++)
        s->requests[i] = requests[s->place[i]];
    *index = MPI_UNDEFINED; /* a call that fails may leave it as it is */
}

/* The requests as the call left them, and the index that it returned. */
static void put_back(struct shuffled *s, MPI_Request *requests, int *index)
{
    if (*index >= 0 && *index < s->count)
        *index = s->place[*index];
    for (int i = 0; i < s->count; i++)
        requests[s->place[i]] = s->requests[i];
    if (s->count > FEW) {
        free(s->requests);
        free(s->place);
    }
}

static bool are_null(int count, const MPI_Request *requests)
{
    for (int i = 0; i < count; i++)
        if (requests[i] != rp_constant.request_null)
            return false;
    return true;
}

/* Waits until a request is complete, as the call itself would, and then a little more. Gives up
 * after a while: some libraries get on with requests of MPI-IO only in the call that completes
 * them. */
static void wait_for_more(struct rp_chance *chance, int count, const MPI_Request *requests)
{
    uint64_t wait = count <= FEW ? rp_chance_wait(chance, rp_stress_now()) : 0;

    if (wait == 0 || are_null(count, requests))
        return;
    for (uint64_t end = rp_stress_now() + LONGEST;
         rp_stress_now() < end && look(chance, count, requests) == NONE_IS_COMPLETE;)
        rp_stress_pause(NAP);
    pile_up(wait, count, requests);
}

static struct rp_chance *chance_for(const struct rp_completion *c)
{
    return c->count > 1 && c->requests ? rp_stress_chance() : NULL;
}

static int call_shuffled(const struct rp_next *next, const struct rp_completion *c,
                         struct rp_chance *chance)
{
    struct rp_completion other = *c;
    struct shuffled s;

    shuffle(chance, c->count, c->requests, &s, c->index);
    other.requests = s.requests;
    int rc = rp_completion_call(next, &other);
    put_back(&s, c->requests, c->index);
    return rc;
}

static int call(const struct rp_next *next, const struct rp_completion *c)
{
    struct rp_chance *chance = c->form == RP_COMPLETE_ANY ? chance_for(c) : NULL;

    return chance ? call_shuffled(next, c, chance) : rp_completion_call(next, c);
}

static int wait(const struct rp_next *next, const struct rp_completion *c)
{
    bool takes_any = c->form == RP_COMPLETE_ANY || c->form == RP_COMPLETE_SOME;
    struct rp_chance *chance = takes_any ? chance_for(c) : NULL;

    rp_stress_waits_for_requests(c->function, c->count);
    if (chance)
        wait_for_more(chance, c->count, c->requests);
    int rc = call(next, c);
    rp_stress_goes_on();
    return rc;
}

static void say_no(const struct rp_completion *c)
{
    *(c->flag ? c->flag : c->outcount) = 0;
    if (c->index)
        *c->index = MPI_UNDEFINED;
}

static int test(const struct rp_next *next, const struct rp_completion *c)
{
    int rc = MPI_SUCCESS;

    if (is_kept_back(c->count, c->requests))
        say_no(c);
    else
        rc = call(next, c);
    rp_stress_polled(c->function, rc == MPI_SUCCESS && !rp_completion_said_yes(c));
    return rc;
}

int rp_stress_complete(const struct rp_next *next, const struct rp_completion *c)
{
    return c->tests ? test(next, c) : wait(next, c);
}

int rp_stress_request_get_status(int (*real)(MPI_Request, int *, MPI_Status *), MPI_Request request,
                                 int *flag, MPI_Status *status)
{
    int rc = real(request, flag, status);

    has_seen_status |= rc == MPI_SUCCESS && *flag;
    return rc;
}
