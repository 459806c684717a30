/* SPDX-License-Identifier: MIT */
/*
 * The pointer is a number that the file's ranks share (base/shared_counter.h), in etypes, as MPI's
 * offsets are. What all ranks do together (to open a file, to move its pointer, an ordered access)
 * is made of collective calls on a communicator of the file's own, as if the program had made them.
 * So a rank that is replayed alone gets their results from its record.
 *
 * In a replay the places are told. Then the pointer is kept where the record had it, for a rank
 * that goes on behind the end of its record.
 */
#include "compound/shared_files.h"

#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/diagnostics.h"
#include "base/shared_counter.h"
#include "compound/compound_start.h"
#include "job/settings.h"
#include "peers/peer_det.h"
#include "peers/peer_reprise.h"
#include "preload/constants.h"

struct file {
    struct file *next;
    MPI_File handle;
    MPI_Comm comm; /* of its own; comm_null: it has one rank */
    int rank, ranks;
    MPI_Count etype;  /* bytes */
    bool has_pointer; /* false: not all ranks could open it */
    struct rp_shared_counter pointer;
    char *path; /* of the pointer, if it is to be removed at the end; else NULL */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the list */
static struct file *files;

static struct file *find(MPI_File handle)
{
    pthread_mutex_lock(&lock);
    struct file *file = files;
    while (file && file->handle != handle)
        file = file->next;
    pthread_mutex_unlock(&lock);
    return file;
}

bool rp_file_is_ours(MPI_File handle)
{
    return find(handle) != NULL;
}

/* What all ranks do together */

static void meet(const struct rp_next *next, const struct file *file)
{
    if (file->ranks > 1)
        next->Barrier(file->comm);
}

static void tell_all(const struct rp_next *next, const struct file *file, void *bytes, int length)
{
    if (file->ranks > 1)
        next->Bcast(bytes, length, rp_constant.byte, 0, file->comm);
}

static bool all_can(const struct rp_next *next, const struct file *file, bool can)
{
    char own = can, *each = malloc((size_t)file->ranks);
    bool can_all = each != NULL;

    if (!each)
        rp_bug(__FILE__, __LINE__, "out of memory for a file");
    next->Allgather(&own, 1, rp_constant.byte, each, 1, rp_constant.byte, file->comm);
    for (int i = 0; i < file->ranks; i++)
        can_all &= each[i] != 0;
    free(each);
    return can_all;
}

/* Where the pointer is */

/* Alone, a rank has no others to share it with. */
static bool is_alone(void)
{
    return rp_setting("REPRISE_SOLO") != NULL;
}

/* Beside the file, whose name may begin with the kind of its file system ("ufs:"). */
static bool put_beside(const char *name, char path[PATH_MAX])
{
    const char *colon = strchr(name, ':'), *slash = strchr(name, '/');

    if (colon && colon > name + 1 && (!slash || colon < slash))
        name = colon + 1;
    slash = strrchr(name, '/');
    int folder = slash ? (int)(slash - name) + 1 : 0;
    return snprintf(path, PATH_MAX, "%.*s.%s.pointer-XXXXXX", folder, name, name + folder) <
           PATH_MAX;
}

/* Not if a host plays several, for tests. */
static bool put_in_memory(char path[PATH_MAX])
{
    return !rp_setting("REPRISE_HOSTS") &&
           snprintf(path, PATH_MAX, "/dev/shm/reprise-pointer-XXXXXX") < PATH_MAX;
}

/* Whether all ranks have it: those of other hosts cannot open what is in memory. */
static bool try_place(const struct rp_next *next, struct file *file, bool is_path,
                      char path[PATH_MAX])
{
    bool can = true;

    if (file->rank == 0 && !is_alone())
        can = is_path && rp_shared_counter_create(&file->pointer, path);
    tell_all(next, file, path, PATH_MAX);
    if (file->rank != 0 && !is_alone())
        can = rp_shared_counter_open(&file->pointer, path);
    if (all_can(next, file, can))
        return true;
    if (file->rank == 0 && file->pointer.fd >= 0)
        unlink(path);
    rp_shared_counter_close(&file->pointer);
    return false;
}

/* In memory its name is not needed any more. Elsewhere it is kept: NFS forgets an open file without
 * a name. */
static bool place_pointer(const struct rp_next *next, struct file *file, const char *name)
{
    char path[PATH_MAX] = "";

    if (file->ranks == 1)
        return true;
    if (try_place(next, file, put_in_memory(path), path)) {
        if (file->rank == 0 && !is_alone())
            unlink(path);
        return true;
    }
    if (!try_place(next, file, put_beside(name, path), path))
        return false;
    file->path = strdup(path);
    return true;
}

/* Open and close */

static void forget(struct file *file)
{
    pthread_mutex_lock(&lock);
    for (struct file **link = &files; *link; link = &(*link)->next)
        if (*link == file) {
            *link = file->next;
            break;
        }
    pthread_mutex_unlock(&lock);
    rp_shared_counter_close(&file->pointer);
    free(file->path);
    free(file);
}

static struct file *remember(MPI_File handle)
{
    struct file *file = calloc(1, sizeof *file);

    if (!file)
        rp_bug(__FILE__, __LINE__, "out of memory for a file");
    *file = (struct file){.handle = handle,
                          .comm = rp_constant.comm_null,
                          .etype = 1,
                          .pointer = RP_SHARED_COUNTER_OWN};
    pthread_mutex_lock(&lock);
    file->next = files;
    files = file;
    pthread_mutex_unlock(&lock);
    return file;
}

/* A file that is appended to begins at its end. */
static void set_start(const struct rp_next *next, struct file *file, int mode)
{
    MPI_Offset size = 0;

    if (mode & MPI_MODE_APPEND && next->File_get_size(file->handle, &size) == MPI_SUCCESS &&
        file->rank == 0)
        rp_shared_counter_set(&file->pointer, size);
    meet(next, file);
}

int rp_file_open(const struct rp_file_call *call, MPI_Comm comm, const char *name, int mode,
                 MPI_Info info, MPI_File *handle)
{
    const struct rp_next *next = call->next;
    int rc = next->File_open(comm, name, mode, info, handle);

    rp_compound_prepare();
    if (rc != MPI_SUCCESS || mode & MPI_MODE_SEQUENTIAL)
        return rc;
    struct file *file = remember(*handle);
    next->Comm_size(comm, &file->ranks);
    if (file->ranks > 1) { /* not by MPI_Comm_dup, which calls the program's functions */
        next->Comm_split(comm, 0, 0, &file->comm);
        next->Comm_rank(file->comm, &file->rank);
    }
    file->has_pointer = place_pointer(next, file, name);
    set_start(next, file, mode);
    return rc;
}

int rp_file_close(const struct rp_file_call *call, MPI_File *handle)
{
    struct file *file = handle ? find(*handle) : NULL;
    int rc = call->next->File_close(handle);

    if (!file)
        return rc;
    if (file->path) { /* others may use the pointer until they are here */
        meet(call->next, file);
        if (file->rank == 0 && !is_alone())
            unlink(file->path);
    }
    if (file->ranks > 1)
        call->next->Comm_free(&file->comm);
    forget(file);
    return rc;
}

/* Places */

static void check_pointer(const struct rp_file_call *call, const struct file *file, int64_t value)
{
    if (!file->has_pointer)
        rp_compound_refuse(call->function, "a file, beside which its ranks cannot all open another "
                                           "one for the shared pointer,");
    if (value < 0)
        rp_compound_refuse(call->function, "a file whose shared pointer cannot be read or written");
}

static bool recall(const struct rp_file_call *call, uint64_t *value)
{
    return reprise_recall &&
           reprise_recall(call->function, call->return_address, call->stack, value);
}

/* The pointer moves by `amount` when it is this rank's turn among `comm`. */
static int64_t move(const struct rp_file_call *call, struct file *file, MPI_Comm comm,
                    int64_t amount)
{
    uint64_t told;

    if (recall(call, &told)) {
        if (amount > 0)
            rp_shared_counter_raise(&file->pointer, (int64_t)told + amount);
        return (int64_t)told;
    }
    if (reprise_det_turn && comm != rp_constant.comm_null)
        reprise_det_turn(call->function, call->return_address, call->stack, comm);
    int64_t place = rp_shared_counter_add(&file->pointer, amount);
    check_pointer(call, file, place);
    if (reprise_det_took)
        reprise_det_took((uint64_t)place);
    if (reprise_note)
        reprise_note(call->function, call->return_address, call->stack, (uint64_t)place);
    return place;
}

/* In etypes; 0 if MPI is to find an error in the arguments. */
static int64_t length_of(const struct rp_next *next, const struct file *file, MPI_Count count,
                         MPI_Datatype type)
{
    MPI_Count size = 0;

    if (count <= 0 || type == rp_constant.datatype_null ||
        next->Type_size_x(type, &size) != MPI_SUCCESS)
        return 0;
    return count * size / file->etype;
}

bool rp_file_take(const struct rp_file_call *call, MPI_File handle, MPI_Count count,
                  MPI_Datatype type, MPI_Offset *place)
{
    struct file *file = find(handle);

    if (file)
        *place = move(call, file, file->comm, length_of(call->next, file, count, type));
    return file != NULL;
}

bool rp_file_take_ordered(const struct rp_file_call *call, MPI_File handle, MPI_Count count,
                          MPI_Datatype type, MPI_Offset *place)
{
    struct file *file = find(handle);

    if (!file)
        return false;
    int64_t own = length_of(call->next, file, count, type), before = 0, all = own, start = 0;
    int64_t *each = calloc((size_t)file->ranks, sizeof *each);
    if (!each)
        rp_bug(__FILE__, __LINE__, "out of memory for a file");
    if (file->ranks > 1)
        all = 0, call->next->Allgather(&own, sizeof own, rp_constant.byte, each, sizeof own,
                                       rp_constant.byte, file->comm);
    for (int i = 0; i < file->ranks; i++) {
        before += i < file->rank ? each[i] : 0;
        all += each[i];
    }
    free(each);
    if (file->rank == 0) /* all are here: it is nobody else's turn */
        start = move(call, file, rp_constant.comm_null, all);
    tell_all(call->next, file, &start, sizeof start);
    *place = start + before;
    return true;
}

/* Other calls */

int rp_file_set_view(const struct rp_file_call *call, MPI_File handle, MPI_Offset displacement,
                     MPI_Datatype etype, MPI_Datatype filetype, const char *representation,
                     MPI_Info info)
{
    const struct rp_next *next = call->next;
    struct file *file = find(handle);
    int rc = next->File_set_view(handle, displacement, etype, filetype, representation, info);
    MPI_Count size = 0;

    if (!file)
        return rc;
    meet(next, file);
    if (rc == MPI_SUCCESS && next->Type_size_x(etype, &size) == MPI_SUCCESS && size > 0)
        file->etype = size;
    if (rc == MPI_SUCCESS && file->rank == 0)
        rp_shared_counter_set(&file->pointer, 0);
    meet(next, file);
    return rc;
}

/* In etypes of the view. */
static MPI_Offset end_of(const struct rp_next *next, const struct file *file)
{
    MPI_Offset now = 0, end = -1;

    next->File_get_position(file->handle, &now);
    if (next->File_seek(file->handle, 0, MPI_SEEK_END) == MPI_SUCCESS)
        next->File_get_position(file->handle, &end);
    next->File_seek(file->handle, now, MPI_SEEK_SET);
    return end;
}

static MPI_Offset sought(const struct rp_file_call *call, struct file *file, MPI_Offset offset,
                         int whence)
{
    if (whence == MPI_SEEK_SET)
        return offset;
    if (whence == MPI_SEEK_CUR)
        return move(call, file, rp_constant.comm_null, 0) + offset;
    return whence == MPI_SEEK_END ? end_of(call->next, file) + offset : -1;
}

int rp_file_seek_shared(const struct rp_file_call *call, MPI_File handle, MPI_Offset offset,
                        int whence)
{
    struct file *file = find(handle);
    int64_t to = 0;

    if (!file)
        return call->next->File_seek_shared(handle, offset, whence);
    meet(call->next, file);
    if (file->rank == 0)
        to = sought(call, file, offset, whence);
    if (file->rank == 0 && to >= 0)
        check_pointer(call, file, rp_shared_counter_set(&file->pointer, to));
    tell_all(call->next, file, &to, sizeof to);
    if (to >= 0)
        return MPI_SUCCESS;
    call->next->File_call_errhandler(handle, MPI_ERR_ARG);
    return MPI_ERR_ARG;
}

int rp_file_get_position_shared(const struct rp_file_call *call, MPI_File handle, MPI_Offset *place)
{
    struct file *file = find(handle);

    if (!file || !place)
        return call->next->File_get_position_shared(handle, place);
    *place = move(call, file, file->comm, 0);
    return MPI_SUCCESS;
}
