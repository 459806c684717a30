/* SPDX-License-Identifier: MIT */
/*
 * Shared file pointers. The pointer of a file is ours; an access by it takes its place there and
 * is then made by MPI's function for explicit offsets: MPI_File_read_shared becomes
 * MPI_File_read_at. So only the place is open, and that is told to libreprise.so as a value, which
 * a replay tells back; in deterministic runs, libreprise-det.so says whose turn it is. A
 * nonblocking access takes its place when it is called.
 *
 * A file that was opened with MPI_MODE_SEQUENTIAL has no explicit offsets: its calls are passed on.
 */
#ifndef RP_SHARED_FILES_H
#define RP_SHARED_FILES_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/visibility.h"
#include "next.h"

/* Who calls: the MPI function, the real functions, and the return address and the frame. */
struct rp_file_call {
    const char *function;
    const struct rp_next *next;
    uintptr_t return_address, stack;
};

#define RP_FILE_CALL(name, twin)                                                                   \
    (&(const struct rp_file_call){name, twin, (uintptr_t)__builtin_return_address(0),              \
                                  (uintptr_t)__builtin_frame_address(0)})

/* Whether a file has a pointer of ours. */
bool rp_file_is_ours(MPI_File file);

/* Takes the place of an access to `count` elements: of this rank alone, or of all ranks, in their
 * order. Returns whether the access is to be made there; else the call is passed on. */
bool rp_file_take(const struct rp_file_call *call, MPI_File file, MPI_Count count,
                  MPI_Datatype type, MPI_Offset *place);
bool rp_file_take_ordered(const struct rp_file_call *call, MPI_File file, MPI_Count count,
                          MPI_Datatype type, MPI_Offset *place);

/* The functions take the arguments of MPI's. */
int rp_file_open(const struct rp_file_call *call, MPI_Comm comm, const char *name, int mode,
                 MPI_Info info, MPI_File *file);
int rp_file_close(const struct rp_file_call *call, MPI_File *file);
int rp_file_set_view(const struct rp_file_call *call, MPI_File file, MPI_Offset displacement,
                     MPI_Datatype etype, MPI_Datatype filetype, const char *representation,
                     MPI_Info info);
int rp_file_seek_shared(const struct rp_file_call *call, MPI_File file, MPI_Offset offset,
                        int whence);
int rp_file_get_position_shared(const struct rp_file_call *call, MPI_File file, MPI_Offset *place);

#endif
