/* SPDX-License-Identifier: MIT */
/*
 * Completion. Handles are set to null by the call, so the letters of a call's requests are looked
 * up before. What it completed is then delivered, counts are put right, and stamps are told in the
 * order in which the call gives them. Where the program wants no statuses, the call gets some of
 * ours: without them nothing can be delivered.
 */
#include <stdlib.h>

#include "base/diagnostics.h"
#include "cdc/piggyback/piggyback_message.h"
#include "cdc/piggyback/piggyback_entries.h"
#include "cdc/piggyback/piggyback_pending.h"
#include "preload/constants.h"

/* One call. Nothing of it is shared: callbacks inside may make calls themselves. */
enum { FEW = 32 };

struct round {
    bool any; /* one of the requests has a letter */
    struct rp_piggyback_message **letter;
    MPI_Status *statuses; /* that the real call is given */
    struct rp_piggyback_message *few[FEW];
    MPI_Status few_statuses[FEW];
    void *room;
};

static void make_room(struct round *round, size_t count, bool needs_statuses)
{
    size_t letters = count * sizeof *round->letter,
           statuses = needs_statuses ? count * sizeof *round->statuses : 0;

    round->letter = round->few;
    if (needs_statuses)
        round->statuses = round->few_statuses;
    if (count <= FEW)
        return;
    round->room = malloc(letters + statuses);
    if (!round->room)
        rp_bug(__FILE__, __LINE__, "out of memory for a request array");
    if (needs_statuses)
        round->statuses = round->room;
    round->letter = (struct rp_piggyback_message **)((char *)round->room + statuses);
}

static void begin(struct round *round, int count, const MPI_Request *requests, MPI_Status *statuses,
                  const MPI_Status *ignore)
{
    rp_stamps_clear();
    rp_pending_poll_freed();
    round->any = false;
    round->room = NULL;
    round->statuses = statuses;
    if (rp_letters_under_way > 0 && count > 0 && requests) {
        make_room(round, (size_t)count, statuses == ignore);
        for (int i = 0; i < count; i++)
            round->any |= (round->letter[i] = rp_pending_find(requests[i])) != NULL;
    }
}

static void end(struct round *round)
{
    free(round->room);
}

static void returned(void)
{
    rp_pending_poll_freed();
    rp_stamps_clear(); /* of calls that were made meanwhile, by callbacks */
}

/* The letter's request was completed; or it failed, and is still there. */
static void complete(struct rp_piggyback_message *letter, MPI_Request request, MPI_Status *status,
                     int index, bool failed)
{
    bool gone = letter->persistent || request == rp_constant.request_null;

    if (!letter->active || (failed && !gone))
        return;
    if (letter->receives) {
        rp_piggyback_deliver(letter, status, failed);
        if (letter->stamp != RP_NO_STAMP)
            rp_stamps_add(index, letter->stamp);
    }
    letter->active = false;
    if (!letter->persistent)
        rp_pending_remove(letter);
}

static void complete_index(struct round *round, int i, MPI_Request request, MPI_Status *status,
                           int index, bool failed)
{
    if (round->letter[i])
        complete(round->letter[i], request, status, index, failed);
}

int rp_piggyback_wait(int (*real)(MPI_Request *, MPI_Status *), MPI_Request *request,
                      MPI_Status *status)
{
    struct round round;

    begin(&round, 1, request, status, MPI_STATUS_IGNORE);
    int rc;
    RP_INSIDE(rc, real(request, round.statuses));
    returned();
    if (round.any)
        complete(round.letter[0], *request, round.statuses, -1, rc != MPI_SUCCESS);
    end(&round);
    return rc;
}

int rp_piggyback_test(int (*real)(MPI_Request *, int *, MPI_Status *), MPI_Request *request,
                      int *flag, MPI_Status *status)
{
    struct round round;

    begin(&round, 1, request, status, MPI_STATUS_IGNORE);
    int rc;
    RP_INSIDE(rc, real(request, flag, round.statuses));
    returned();
    if (round.any && (rc != MPI_SUCCESS || *flag))
        complete(round.letter[0], *request, round.statuses, -1, rc != MPI_SUCCESS);
    end(&round);
    return rc;
}

static void complete_all(struct round *round, int count, const MPI_Request *requests, int rc)
{
    bool in_status = rc != MPI_SUCCESS && rp_piggyback_error_class(rc) == MPI_ERR_IN_STATUS;

    if (!round->any || (rc != MPI_SUCCESS && !in_status))
        return;
    for (int i = 0; i < count; i++) {
        int error = in_status ? round->statuses[i].MPI_ERROR : MPI_SUCCESS;
        if (error == MPI_SUCCESS || rp_piggyback_error_class(error) != MPI_ERR_PENDING)
            complete_index(round, i, requests[i], &round->statuses[i], i, error != MPI_SUCCESS);
    }
}

int rp_piggyback_waitall(int (*real)(int, MPI_Request *, MPI_Status *), int count,
                         MPI_Request *requests, MPI_Status *statuses)
{
    struct round round;

    begin(&round, count, requests, statuses, MPI_STATUSES_IGNORE);
    int rc;
    RP_INSIDE(rc, real(count, requests, round.statuses));
    returned();
    complete_all(&round, count, requests, rc);
    end(&round);
    return rc;
}

int rp_piggyback_testall(int (*real)(int, MPI_Request *, int *, MPI_Status *), int count,
                         MPI_Request *requests, int *flag, MPI_Status *statuses)
{
    struct round round;

    begin(&round, count, requests, statuses, MPI_STATUSES_IGNORE);
    int rc;
    RP_INSIDE(rc, real(count, requests, flag, round.statuses));
    returned();
    if (rc != MPI_SUCCESS || *flag)
        complete_all(&round, count, requests, rc);
    end(&round);
    return rc;
}

static void complete_any(struct round *round, int count, const MPI_Request *requests, int index,
                         int rc)
{
    if (round->any && index != MPI_UNDEFINED && index >= 0 && index < count)
        complete_index(round, index, requests[index], round->statuses, index, rc != MPI_SUCCESS);
}

int rp_piggyback_waitany(int (*real)(int, MPI_Request *, int *, MPI_Status *), int count,
                         MPI_Request *requests, int *index, MPI_Status *status)
{
    struct round round;

    begin(&round, count, requests, status, MPI_STATUS_IGNORE);
    if (index)
        *index = MPI_UNDEFINED;
    int rc;
    RP_INSIDE(rc, real(count, requests, index, round.statuses));
    returned();
    if (index)
        complete_any(&round, count, requests, *index, rc);
    end(&round);
    return rc;
}

int rp_piggyback_testany(int (*real)(int, MPI_Request *, int *, int *, MPI_Status *), int count,
                         MPI_Request *requests, int *index, int *flag, MPI_Status *status)
{
    struct round round;

    begin(&round, count, requests, status, MPI_STATUS_IGNORE);
    if (index)
        *index = MPI_UNDEFINED;
    int rc;
    RP_INSIDE(rc, real(count, requests, index, flag, round.statuses));
    returned();
    if (index && (rc != MPI_SUCCESS || *flag))
        complete_any(&round, count, requests, *index, rc);
    end(&round);
    return rc;
}

static int some(rp_some_function *real, int count, MPI_Request *requests, int *outcount,
                int *indices, MPI_Status *statuses)
{
    struct round round;

    begin(&round, count, requests, statuses, MPI_STATUSES_IGNORE);
    int rc;
    RP_INSIDE(rc, real(count, requests, outcount, indices, round.statuses));
    returned();
    bool in_status = rc != MPI_SUCCESS && rp_piggyback_error_class(rc) == MPI_ERR_IN_STATUS;
    int done =
        round.any && (rc == MPI_SUCCESS || in_status) && *outcount != MPI_UNDEFINED ? *outcount : 0;
    for (int i = 0; i < done; i++)
        complete_index(&round, indices[i], requests[indices[i]], &round.statuses[i], indices[i],
                       in_status && round.statuses[i].MPI_ERROR != MPI_SUCCESS);
    end(&round);
    return rc;
}

int rp_piggyback_waitsome(rp_some_function *real, int count, MPI_Request *requests, int *outcount,
                          int *indices, MPI_Status *statuses)
{
    return some(real, count, requests, outcount, indices, statuses);
}

int rp_piggyback_testsome(rp_some_function *real, int count, MPI_Request *requests, int *outcount,
                          int *indices, MPI_Status *statuses)
{
    return some(real, count, requests, outcount, indices, statuses);
}

/* The request stays. A receive that is complete has its payload in the program's buffer, but is not
 * given to the program yet. */
int rp_piggyback_request_get_status(int (*real)(MPI_Request, int *, MPI_Status *),
                                    MPI_Request request, int *flag, MPI_Status *status)
{
    struct rp_piggyback_message *letter = rp_pending_find(request);
    MPI_Status own, *seen = letter && status == MPI_STATUS_IGNORE ? &own : status;

    int rc;
    RP_INSIDE(rc, real(request, flag, seen));
    if (letter && letter->active && letter->receives && rc == MPI_SUCCESS && *flag)
        rp_piggyback_deliver(letter, seen, seen->MPI_ERROR != MPI_SUCCESS);
    return rc;
}

int rp_piggyback_request_free(int (*real)(MPI_Request *), MPI_Request *request)
{
    struct rp_piggyback_message *letter = request ? rp_pending_find(*request) : NULL;

    if (!letter)
        return real(request);
    if (letter->active) {
        rp_pending_keep_freed(letter);
        *request = rp_constant.request_null;
        return MPI_SUCCESS;
    }
    rp_pending_remove(letter);
    return real(request);
}
