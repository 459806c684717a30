/* SPDX-License-Identifier: MIT */
/*
 * Error handlers of the program. Which handler an MPI calls for which error differs between MPIs
 * and their versions, and so does what the failed call returns then. So the record says when MPI
 * called one: an entry `handler` stands before that of the call.
 *
 * To see it, MPI gets a function of ours for each one of the program's. Handlers that were made
 * from Fortran or by MPI_Errhandler_create, and those beyond the number of our functions, are the
 * program's own. Of these, a partial replay supposes that MPI called the one of the call's
 * communicator, window or file.
 */
#include "partial/partial_entries.h"
#include "hand.h"

enum { SLOTS = 16 }; /* functions of each kind */

typedef void comm_function(MPI_Comm *, int *, ...);
typedef void win_function(MPI_Win *, int *, ...);
typedef void file_function(MPI_File *, int *, ...);

static comm_function *comms[SLOTS];
static win_function *wins[SLOTS];
static file_function *files[SLOTS];

/* Whether the program's function is to be called. */
static bool enters(unsigned of, int code)
{
    if (rp_partial.is_feeding)
        return !rp_partial_feed_in_handler || rp_partial_feed_handler_is_due();
    rp_partial_record_handler(of, code);
    return true;
}

static enum rp_handler_of owner(MPI_Comm comm)
{
    return comm == rp_constant.world  ? RP_HANDLER_OF_WORLD
           : comm == rp_constant.self ? RP_HANDLER_OF_SELF
                                      : RP_HANDLER_OF_CALL;
}

static unsigned of_file(unsigned slot, MPI_File file)
{
    return RP_HANDLER_OF_FILE + 2 * slot + (file != rp_partial.handle.file_null);
}

bool rp_partial_feed_file_handler(unsigned number, MPI_File file, int code)
{
    unsigned slot = (number - RP_HANDLER_OF_FILE) / 2;

    if (slot >= SLOTS || !files[slot])
        return false;
    if ((number - RP_HANDLER_OF_FILE) % 2 == 0)
        file = rp_partial.handle.file_null;
    files[slot](&file, &code, NULL);
    return true;
}

/* MPI passes no word of which handler it calls: each function of the program needs one of ours. */
#define SLOT(n)                                                                                    \
    static void comm_##n(MPI_Comm *comm, int *code, ...)                                           \
    {                                                                                              \
        if (enters(owner(*comm), *code))                                                           \
            comms[0x##n](comm, code, NULL);                                                        \
    }                                                                                              \
    static void win_##n(MPI_Win *win, int *code, ...)                                              \
    {                                                                                              \
        if (enters(RP_HANDLER_OF_CALL, *code))                                                     \
            wins[0x##n](win, code, NULL);                                                          \
    }                                                                                              \
    static void file_##n(MPI_File *file, int *code, ...)                                           \
    {                                                                                              \
        if (enters(of_file(0x##n, *file), *code))                                                  \
            files[0x##n](file, code, NULL);                                                        \
    }
/* clang-format off */
SLOT(0) SLOT(1) SLOT(2) SLOT(3) SLOT(4) SLOT(5) SLOT(6) SLOT(7)
SLOT(8) SLOT(9) SLOT(a) SLOT(b) SLOT(c) SLOT(d) SLOT(e) SLOT(f)
#define ALL(kind)                                                                                  \
    {kind##_0, kind##_1, kind##_2, kind##_3, kind##_4, kind##_5, kind##_6, kind##_7,               \
     kind##_8, kind##_9, kind##_a, kind##_b, kind##_c, kind##_d, kind##_e, kind##_f}
/* clang-format on */

/* Ours for `function`, or itself if all are taken. */
#define CHOOSE(kind, taken, function)                                                              \
    do {                                                                                           \
        static kind##_function *const ours[SLOTS] = ALL(kind);                                     \
        for (size_t i = 0; function && i < SLOTS; i++)                                             \
            if (!taken[i] || taken[i] == function) {                                               \
                taken[i] = function;                                                               \
                return ours[i];                                                                    \
            }                                                                                      \
        return function;                                                                           \
    } while (0)

        static comm_function *comm_for(comm_function *function)
{
    CHOOSE(comm, comms, function);
}

static win_function *win_for(win_function *function)
{
    CHOOSE(win, wins, function);
}

static file_function *file_for(file_function *function)
{
    CHOOSE(file, files, function);
}

int rp_partial_record_Comm_create_errhandler(const struct rp_next *next, comm_function *function,
                                             MPI_Errhandler *handler)
{
    return next->Comm_create_errhandler(comm_for(function), handler);
}

int rp_partial_feed_Comm_create_errhandler(comm_function *function, MPI_Errhandler *handler)
{
    return rp_pmpi.Comm_create_errhandler(comm_for(function), handler);
}

int rp_partial_record_Win_create_errhandler(const struct rp_next *next, win_function *function,
                                            MPI_Errhandler *handler)
{
    return next->Win_create_errhandler(win_for(function), handler);
}

int rp_partial_feed_Win_create_errhandler(win_function *function, MPI_Errhandler *handler)
{
    return rp_pmpi.Win_create_errhandler(win_for(function), handler);
}

int rp_partial_record_File_create_errhandler(const struct rp_next *next, file_function *function,
                                             MPI_Errhandler *handler)
{
    return next->File_create_errhandler(file_for(function), handler);
}

int rp_partial_feed_File_create_errhandler(file_function *function, MPI_Errhandler *handler)
{
    return rp_pmpi.File_create_errhandler(file_for(function), handler);
}
