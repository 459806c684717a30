/* SPDX-License-Identifier: MIT */
/*
 * Completion. Calls that complete one of several requests are given them in another order, by which
 * libraries choose; calls that could complete something wait a little, so that there is more; polls
 * that could say yes say no.
 *
 * A request counts as complete if MPI_Request_get_status gives a sender for it. Of an inactive
 * persistent request it gives none: a call on such requests alone is not to say no.
 */
#include <stdlib.h>

#include "base/diagnostics.h"
#include "preload/constants.h"
#include "stress/stress.h"

enum { FEW = 64, NAP = 20000, LONGEST = 300000000 /* ns */ };

/* How far the furthest of them is. */
enum progress { NONE_IS_COMPLETE, ONE_MAY_BE, ONE_IS };

static enum progress look_at(MPI_Request request)
{
    MPI_Status status;
    int flag = 0;

    if (request == rp_constant.request_null)
        return NONE_IS_COMPLETE;
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

static bool is_told; /* the program asks by MPI_Request_get_status: what it knows to be complete
                        must not be denied */

/* True if the poll is to say no. */
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
    if (!is_told && rp_chance_keeps_back(chance))
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

/* The requests as the call left them, and the index that it gave. */
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

static struct rp_chance *chance_for(int count, const MPI_Request *requests)
{
    return count > 1 && requests ? rp_stress_chance() : NULL;
}

int rp_stress_wait(int (*real)(MPI_Request *, MPI_Status *), MPI_Request *request,
                   MPI_Status *status)
{
    rp_stress_waits_for_requests("MPI_Wait", 1);
    int rc = real(request, status);
    rp_stress_goes_on();
    return rc;
}

int rp_stress_waitall(int (*real)(int, MPI_Request *, MPI_Status *), int count,
                      MPI_Request *requests, MPI_Status *statuses)
{
    rp_stress_waits_for_requests("MPI_Waitall", count);
    int rc = real(count, requests, statuses);
    rp_stress_goes_on();
    return rc;
}

static bool are_null(int count, const MPI_Request *requests)
{
    for (int i = 0; i < count; i++)
        if (requests[i] != rp_constant.request_null)
            return false;
    return true;
}

/* Until there is something, as the call itself would wait; then a little more. But not for ever:
 * requests of MPI-IO may be worked on only in the call that completes them. */
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

int rp_stress_waitany(int (*real)(int, MPI_Request *, int *, MPI_Status *), int count,
                      MPI_Request *requests, int *index, MPI_Status *status)
{
    struct rp_chance *chance = chance_for(count, requests);
    struct shuffled s;

    rp_stress_waits_for_requests("MPI_Waitany", count);
    if (chance) {
        wait_for_more(chance, count, requests);
        shuffle(chance, count, requests, &s, index);
    }
    int rc = chance ? real(count, s.requests, index, status) : real(count, requests, index, status);
    rp_stress_goes_on();
    if (chance)
        put_back(&s, requests, index);
    return rc;
}

int rp_stress_testany(int (*real)(int, MPI_Request *, int *, int *, MPI_Status *), int count,
                      MPI_Request *requests, int *index, int *flag, MPI_Status *status)
{
    struct rp_chance *chance = chance_for(count, requests);
    struct shuffled s;
    int rc = MPI_SUCCESS;

    if (is_kept_back(count, requests)) {
        *flag = 0;
        *index = MPI_UNDEFINED;
    } else if (chance) {
        shuffle(chance, count, requests, &s, index);
        rc = real(count, s.requests, index, flag, status);
        put_back(&s, requests, index);
    } else {
        rc = real(count, requests, index, flag, status);
    }
    rp_stress_polled("MPI_Testany", rc == MPI_SUCCESS && !*flag);
    return rc;
}

int rp_stress_waitsome(int (*real)(int, MPI_Request *, int *, int *, MPI_Status *), int count,
                       MPI_Request *requests, int *outcount, int *indices, MPI_Status *statuses)
{
    struct rp_chance *chance = chance_for(count, requests);

    rp_stress_waits_for_requests("MPI_Waitsome", count);
    if (chance)
        wait_for_more(chance, count, requests);
    int rc = real(count, requests, outcount, indices, statuses);
    rp_stress_goes_on();
    return rc;
}

int rp_stress_testsome(int (*real)(int, MPI_Request *, int *, int *, MPI_Status *), int count,
                       MPI_Request *requests, int *outcount, int *indices, MPI_Status *statuses)
{
    int rc = MPI_SUCCESS;

    if (is_kept_back(count, requests))
        *outcount = 0;
    else
        rc = real(count, requests, outcount, indices, statuses);
    rp_stress_polled("MPI_Testsome", rc == MPI_SUCCESS && *outcount == 0);
    return rc;
}

int rp_stress_test(int (*real)(MPI_Request *, int *, MPI_Status *), MPI_Request *request, int *flag,
                   MPI_Status *status)
{
    int rc = MPI_SUCCESS;

    if (is_kept_back(1, request))
        *flag = 0;
    else
        rc = real(request, flag, status);
    rp_stress_polled("MPI_Test", rc == MPI_SUCCESS && !*flag);
    return rc;
}

int rp_stress_testall(int (*real)(int, MPI_Request *, int *, MPI_Status *), int count,
                      MPI_Request *requests, int *flag, MPI_Status *statuses)
{
    int rc = MPI_SUCCESS;

    if (is_kept_back(count, requests))
        *flag = 0;
    else
        rc = real(count, requests, flag, statuses);
    rp_stress_polled("MPI_Testall", rc == MPI_SUCCESS && !*flag);
    return rc;
}

int rp_stress_request_get_status(int (*real)(MPI_Request, int *, MPI_Status *), MPI_Request request,
                                 int *flag, MPI_Status *status)
{
    int rc = real(request, flag, status);

    is_told |= rc == MPI_SUCCESS && *flag;
    return rc;
}
