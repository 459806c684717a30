/* SPDX-License-Identifier: MIT */
/*
 * What every entry of the data log begins with: the function, what it returned, and a check of the
 * numbers that it was called with. Recording, an entry is put together; feeding, it is taken apart.
 */
#ifndef RP_PARTIAL_ENTRIES_H
#define RP_PARTIAL_ENTRIES_H

#include "partial/partial_state.h"
#include "partial/partial_threads.h"

/* Recording */

/* Begins the entry of a call that returned rc. `check` is put only if `has_check`. */
void rp_partial_record_begin(const struct rp_function *function, bool has_check, uint32_t check,
                             int rc);
static inline void rp_partial_record_bytes(const void *bytes, size_t count)
{
    rp_data_put(rp_partial.writer, rp_partial.hooks->taken(bytes, count), count);
}
static inline void rp_partial_record_number(uint64_t number)
{
    rp_data_put_number(rp_partial.writer, number);
}
/* Bytes with their count in front of them. */
void rp_partial_record_array(const void *bytes, size_t count);
/* Puts the entry of an update of a window, if it failed or several threads call; else it has none,
 * and its numbers are part of the next check of a synchronisation. `check` is put with several
 * threads. No other entry may stand between that of one which failed and that of the call before.
 */
void rp_partial_record_update(const struct rp_function *function, uint32_t check, int rc);
/* Notes that MPI called an error handler of the program, inside the call that the program is in,
 * and what it passed. It is that of the call's own communicator or window, or of MPI_COMM_WORLD or
 * MPI_COMM_SELF; or, of those for files that the program has made, the n-th (counted from 0), which
 * got MPI_FILE_NULL (RP_HANDLER_OF_FILE + 2 n) or the call's file (+ 1). A file has the handler
 * that MPI_FILE_NULL had when it was opened, and MPI calls that of MPI_FILE_NULL, too. */
enum rp_handler_of {
    RP_HANDLER_OF_CALL,
    RP_HANDLER_OF_WORLD,
    RP_HANDLER_OF_SELF,
    RP_HANDLER_OF_FILE
};
void rp_partial_record_handler(unsigned of, int code);
/* Writes what was noted, an entry each. */
void rp_partial_record_handlers(void);
/* Writes, at the end, that an error handler left a call, so that nothing was recorded behind it. */
void rp_partial_record_left(void);
static inline void rp_partial_record_end(void)
{
    rp_data_end(rp_partial.writer);
}

/* Feeding */

/* Takes the next entry, which must be that of this call; returns what the call returned. Does not
 * return if the record ends here, is damaged, or says otherwise. */
int rp_partial_feed_begin(const struct rp_function *function, bool has_check, uint32_t check);
/* Takes the entry of an update of a window, if there must be one, and returns what the update
 * returned; MPI_SUCCESS if it has no entry. */
int rp_partial_feed_update(const struct rp_function *function, uint32_t check);
void rp_partial_feed_bytes(void *bytes, size_t count);
uint64_t rp_partial_feed_number(void);
void rp_partial_feed_array(void *bytes);
/* Ends the entry after all parts were read. Does not return if one of them could not be read. */
void rp_partial_feed_end(void);
/* Several threads: waits for the turn of the calling one, whose call this must be. Returns false if
 * the rank ends meanwhile. Does not return if the record ends here or says otherwise. */
bool rp_partial_feed_turn(const char *function);
/* The record ends at `where`: stops the process for the debugger, if there is one, else ends it. */
void rp_partial_feed_stop(const char *where) __attribute__((noreturn));
/* The program ends, but the record goes on with a call of this function: says so, and ends the
 * process with status 121. */
void rp_partial_feed_left(const char *recorded) __attribute__((noreturn));
/* Returns the MPI function that the program is in. */
const struct rp_function *rp_partial_feed_calling(void);

/* Feeding, error handlers. Returns whether the call that the program is in, which returned rc, may
 * have called any. */
bool rp_partial_feed_failed(int rc);
/* Returns whether that call made the request or file that it was to make. MPICH 5.0.2 returns
 * MPI_SUCCESS from a call whose error a handler took. */
bool rp_partial_feed_made(int rc);
/* Returns whether the record says which handlers that call called. */
bool rp_partial_feed_knows_handlers(void);
/* These call them; where the record does not say which, that of the object. */
void rp_partial_feed_error_comm(MPI_Comm comm, int rc);
void rp_partial_feed_error_win(MPI_Win win, int rc);
void rp_partial_feed_error_file(MPI_File file, int rc);
/* The call has no file, but concerns one: MPI_File_open, MPI_File_delete. */
void rp_partial_feed_error_no_file(MPI_Comm comm);
/* Calls a function of the program for files, as recorded: number is RP_HANDLER_OF_FILE and more.
 * Returns false if the program has made no such function. */
bool rp_partial_feed_file_handler(unsigned number, MPI_File file, int code);
/* Reads the entry of a handler that MPI called. */
void rp_partial_feed_handler(void);
/* Whether MPI called, in the record, the handler that runs; else it is only supposed. */
bool rp_partial_feed_handler_is_due(void);
/* Reads the mark of a call that a handler left, and ends the process. */
void rp_partial_feed_left_call(void);
extern RP_HIDDEN const struct rp_function rp_f_handler, rp_f_left;
/* > 0: a handler runs. Recording, MPI calls handlers inside the call that fails, so what they call
 * is not in the record. */
extern RP_HIDDEN int rp_partial_feed_in_handler;
/* Says that, and ends the process with status 123. */
void rp_partial_feed_refuse_in_handler(const struct rp_function *function)
    __attribute__((noreturn));

#endif
