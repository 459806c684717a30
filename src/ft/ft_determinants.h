/* SPDX-License-Identifier: MIT */
/*
 * Determinants: the outcomes of order-dependent events since the last checkpoint, kept in a file
 * that outlives the process. A rank that recovers repeats them; behind the last one it adds its
 * own. More than the file has room for end the job.
 */
#ifndef RP_FT_DETERMINANTS_H
#define RP_FT_DETERMINANTS_H

#include <stdbool.h>
#include <stdint.h>

struct rp_ft_request;

/* Begins behind the checkpoint of this generation; -1: at the beginning of the program. What the
 * file has from there on is repeated. */
void rp_ft_determinants_from(int64_t generation);

/* Forgets those behind the checkpoint of this generation, and behind any later one. */
void rp_ft_determinants_forget(int64_t generation);

/* A receive from MPI_ANY_SOURCE is posted. If its match is known, it takes that message only. */
void rp_ft_determinant_get(struct rp_ft_request *request);

/* A receive has met its message: a match is kept if it was from MPI_ANY_SOURCE. */
void rp_ft_determinant_put(struct rp_ft_request *request);

/* Takes the next answer if it is a no: of a test or a probe that finds nothing. */
bool rp_ft_outcome_is_no(void);

/* Takes the next answer that is not a no. Returns false if it is not known. */
bool rp_ft_outcome_next(int64_t *answer);

/* Keep an answer: a no; another one; or how many requests are done, and which, all of it or
 * nothing.
 */
void rp_ft_outcome_no(void);
void rp_ft_outcome_put(int64_t answer);
void rp_ft_outcome_put_list(int count, const int *answers);

/* The next message: may the program (0), or the coroutine of this number, send it? */
bool rp_ft_turn_is(uint32_t who);

/* It sends the next message. Called before the message leaves. */
void rp_ft_turn_take(uint32_t who);

#endif
