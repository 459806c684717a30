/* SPDX-License-Identifier: MIT */
/* Handles that calls make: told as null, empty or new; alone, new ones are real handles of this process alone. Then the calls of which these are the larger part. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/message.h"
#include "data/data.h"

void rp_record_comm(MPI_Comm comm)
{
    rp_record_number(comm == rp_constant.comm_null ? RP_HANDLE_NULL : RP_HANDLE_NEW);
}

void rp_record_group(MPI_Group group)
{
    rp_record_number(group == rp_handle.group_null ? RP_HANDLE_NULL : group == rp_handle.group_empty ? RP_HANDLE_EMPTY : RP_HANDLE_NEW);
}

/* A split has none of the attributes that a dup would copy. */
static MPI_Comm new_comm(void)
{
    MPI_Comm comm = rp_constant.comm_null;

    rp_data_off++;
    rp_pmpi.Comm_split(rp_constant.self, 0, 0, &comm);
    rp_data_off--;
    return comm;
}

void rp_alone_comm(MPI_Comm parent, MPI_Comm *comm)
{
    MPI_Errhandler handler;

    *comm = rp_constant.comm_null;
    if (rp_alone_number() == RP_HANDLE_NULL)
        return;
    *comm = new_comm();
    rp_pmpi.Comm_get_errhandler(parent, &handler);
    rp_pmpi.Comm_set_errhandler(*comm, handler);
    rp_pmpi.Errhandler_free(&handler);
}

MPI_Comm rp_alone_own(void)
{
    static MPI_Comm own;
    static bool made;

    if (!made)
        own = new_comm();
    made = true;
    return own;
}

void rp_alone_group(MPI_Group *group)
{
    uint64_t what = rp_alone_number();
    MPI_Group self;
    int zero = 0;

    *group = what == RP_HANDLE_EMPTY ? rp_handle.group_empty : rp_handle.group_null;
    if (what != RP_HANDLE_NEW)
        return;
    rp_data_off++;
    rp_pmpi.Comm_group(rp_constant.self, &self);
    rp_pmpi.Group_incl(self, 1, &zero, group);
    rp_pmpi.Group_free(&self);
    rp_data_off--;
}

/* Messages */

void rp_record_message(MPI_Message message)
{
    rp_record_number(message == rp_constant.message_no_proc ? RP_HANDLE_NULL : RP_HANDLE_NEW);
}

void rp_alone_message(MPI_Message *message)
{
    MPI_Request request;
    int found = 0;

    *message = rp_constant.message_no_proc;
    if (rp_alone_number() == RP_HANDLE_NULL)
        return;
    rp_data_off++;
    rp_pmpi.Isend(NULL, 0, rp_constant.byte, 0, 0, rp_alone_own(), &request);
    while (!found)
        rp_pmpi.Improbe(0, 0, rp_alone_own(), &found, message, MPI_STATUS_IGNORE);
    rp_pmpi.Request_free(&request); /* it is complete when the message is received */
    rp_data_off--;
}

void rp_alone_take_message(MPI_Message *message)
{
    rp_data_off++;
    rp_pmpi.Mrecv(NULL, 0, rp_constant.byte, message, MPI_STATUS_IGNORE);
    rp_data_off--;
}

static bool is_wanted(const MPI_Status *status)
{
    return status != MPI_STATUS_IGNORE;
}

static void take_status(MPI_Status *status)
{
    MPI_Status own;

    rp_alone_bytes(is_wanted(status) ? status : &own, sizeof own);
}

int rp_record_Iprobe(const struct rp_next *next, int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status)
{
    MPI_Status own, *seen = is_wanted(status) ? status : &own;

    rp_data_off++;
    int rc = next->Iprobe(source, tag, comm, flag, seen);
    rp_data_off--;
    rp_record_begin(&rp_f_Iprobe, true, rp_check(rp_check(0, source), tag), rc);
    rp_record_number(rc == MPI_SUCCESS && *flag);
    if (rc == MPI_SUCCESS && *flag)
        rp_record_bytes(seen, sizeof *seen);
    rp_record_end();
    return rc;
}

int rp_alone_Iprobe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status)
{
    int rc = rp_alone_begin(&rp_f_Iprobe, true, rp_check(rp_check(0, source), tag));

    *flag = (int)rp_alone_number();
    if (*flag)
        take_status(status);
    rp_alone_end();
    if (rc != MPI_SUCCESS)
        rp_alone_error_comm(comm, rc);
    return rc;
}

int rp_record_Improbe(const struct rp_next *next, int source, int tag, MPI_Comm comm, int *flag, MPI_Message *message, MPI_Status *status)
{
    MPI_Status own, *seen = is_wanted(status) ? status : &own;

    rp_data_off++;
    int rc = next->Improbe(source, tag, comm, flag, message, seen);
    rp_data_off--;
    rp_record_begin(&rp_f_Improbe, true, rp_check(rp_check(0, source), tag), rc);
    rp_record_number(rc == MPI_SUCCESS && *flag);
    if (rc == MPI_SUCCESS && *flag) {
        rp_record_message(*message);
        rp_record_bytes(seen, sizeof *seen);
    }
    rp_record_end();
    return rc;
}

int rp_alone_Improbe(int source, int tag, MPI_Comm comm, int *flag, MPI_Message *message, MPI_Status *status)
{
    int rc = rp_alone_begin(&rp_f_Improbe, true, rp_check(rp_check(0, source), tag));

    *flag = (int)rp_alone_number();
    if (*flag) {
        rp_alone_message(message);
        take_status(status);
    }
    rp_alone_end();
    if (rc != MPI_SUCCESS)
        rp_alone_error_comm(comm, rc);
    return rc;
}

int rp_record_Mprobe(const struct rp_next *next, int source, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status)
{
    MPI_Status own, *seen = is_wanted(status) ? status : &own;

    rp_data_off++;
    int rc = next->Mprobe(source, tag, comm, message, seen);
    rp_data_off--;
    rp_record_begin(&rp_f_Mprobe, true, rp_check(rp_check(0, source), tag), rc);
    if (rc == MPI_SUCCESS) {
        rp_record_message(*message);
        rp_record_bytes(seen, sizeof *seen);
    }
    rp_record_end();
    return rc;
}

int rp_alone_Mprobe(int source, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status)
{
    int rc = rp_alone_begin(&rp_f_Mprobe, true, rp_check(rp_check(0, source), tag));

    if (rc == MPI_SUCCESS) {
        rp_alone_message(message);
        take_status(status);
    }
    rp_alone_end();
    if (rc != MPI_SUCCESS)
        rp_alone_error_comm(comm, rc);
    return rc;
}

/* Communicators that are made meanwhile: the copy of the attributes is made at once. */

static int record_idup(const struct rp_function *function, int rc)
{
    rp_record_begin(function, false, 0, rc);
    rp_record_end();
    return rc;
}

static int alone_idup(const struct rp_function *function, MPI_Comm comm, MPI_Comm *made, MPI_Request *request)
{
    struct rp_areas none = {0};

    rp_pmpi.Comm_dup(comm, made);
    int rc = rp_alone_begin(function, false, 0);
    rp_alone_end();
    if (rc == MPI_SUCCESS)
        *request = rp_alone_request(&none, false);
    else
        rp_alone_error_comm(comm, rc);
    return rc;
}

int rp_record_Comm_idup(const struct rp_next *next, MPI_Comm comm, MPI_Comm *made, MPI_Request *request)
{
    return record_idup(&rp_f_Comm_idup, next->Comm_idup(comm, made, request));
}

int rp_alone_Comm_idup(MPI_Comm comm, MPI_Comm *made, MPI_Request *request)
{
    return alone_idup(&rp_f_Comm_idup, comm, made, request);
}

#if MPI_VERSION >= 4
int rp_record_Comm_idup_with_info(const struct rp_next *next, MPI_Comm comm, MPI_Info info, MPI_Comm *made, MPI_Request *request)
{
    return record_idup(&rp_f_Comm_idup_with_info, next->Comm_idup_with_info(comm, info, made, request));
}

int rp_alone_Comm_idup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm *made, MPI_Request *request)
{
    (void)info;
    return alone_idup(&rp_f_Comm_idup_with_info, comm, made, request);
}
#endif

/* Attributes: those that MPI itself sets are pointers to numbers; all others are the program's own. */

static bool is_predefined(int keyval)
{
    return keyval == MPI_TAG_UB || keyval == MPI_HOST || keyval == MPI_IO || keyval == MPI_WTIME_IS_GLOBAL || keyval == MPI_UNIVERSE_SIZE || keyval == MPI_LASTUSEDCODE || keyval == MPI_APPNUM;
}

static int record_attr(const struct rp_function *function, int keyval, void *value, const int *flag, int rc)
{
    if (!is_predefined(keyval))
        return rc;
    rp_record_begin(function, true, rp_check(0, keyval), rc);
    if (rc == MPI_SUCCESS) {
        rp_record_number(*flag != 0);
        if (*flag)
            rp_data_put_signed(rp_data_writer, **(int **)value);
    }
    rp_record_end();
    return rc;
}

static int alone_attr(const struct rp_function *function, MPI_Comm comm, int keyval, void *value, int *flag)
{
    static int values[16];
    static unsigned used;
    int rc = rp_alone_begin(function, true, rp_check(0, keyval)), *slot = &values[used++ % 16];

    if (rc == MPI_SUCCESS) {
        *flag = (int)rp_alone_number();
        if (*flag) {
            *slot = (int)rp_data_get_signed(rp_data_reader);
            *(int **)value = slot;
        }
    }
    rp_alone_end();
    if (rc != MPI_SUCCESS)
        rp_alone_error_comm(comm, rc);
    return rc;
}

int rp_record_Comm_get_attr(const struct rp_next *next, MPI_Comm comm, int keyval, void *value, int *flag)
{
    return record_attr(&rp_f_Comm_get_attr, keyval, value, flag, next->Comm_get_attr(comm, keyval, value, flag));
}

int rp_alone_Comm_get_attr(MPI_Comm comm, int keyval, void *value, int *flag)
{
    return is_predefined(keyval) ? alone_attr(&rp_f_Comm_get_attr, comm, keyval, value, flag) : rp_pmpi.Comm_get_attr(comm, keyval, value, flag);
}

int rp_record_Attr_get(const struct rp_next *next, MPI_Comm comm, int keyval, void *value, int *flag)
{
    return record_attr(&rp_f_Attr_get, keyval, value, flag, next->Attr_get(comm, keyval, value, flag));
}

int rp_alone_Attr_get(MPI_Comm comm, int keyval, void *value, int *flag)
{
    return is_predefined(keyval) ? alone_attr(&rp_f_Attr_get, comm, keyval, value, flag) : rp_pmpi.Attr_get(comm, keyval, value, flag);
}

/* Files. Alone, an empty file that nobody else sees stands for the real one: nothing is read from it or written to it, but it has views, infos and handlers. */

int rp_record_File_open(const struct rp_next *next, MPI_Comm comm, const char *name, int amode, MPI_Info info, MPI_File *file)
{
    rp_data_off++;
    int rc = next->File_open(comm, name, amode, info, file);
    rp_data_off--;
    rp_record_begin(&rp_f_File_open, true, rp_check(0, amode), rc);
    rp_record_end();
    return rc;
}

int rp_alone_File_open(MPI_Comm comm, const char *name, int amode, MPI_Info info, MPI_File *file)
{
    int rc = rp_alone_begin(&rp_f_File_open, true, rp_check(0, amode));
    char path[] = "/tmp/reprise-file.XXXXXX";
    int fd;

    (void)comm, (void)name, (void)info;
    rp_alone_end();
    if (rc != MPI_SUCCESS) {
        *file = rp_handle.file_null; /* whose handler Open MPI does not call on demand */
        return rc;
    }
    rp_data_off++;
    fd = mkstemp(path);
    if (fd < 0 || rp_pmpi.File_open(rp_constant.self, path, MPI_MODE_RDWR, rp_constant.info_null, file) != MPI_SUCCESS) {
        rp_error("MPI_File_open: no file in /tmp can stand for '%s'", name);
        rp_data_end_job(125);
    }
    close(fd);
    unlink(path);
    rp_data_off--;
    return rc;
}

int rp_record_File_close(const struct rp_next *next, MPI_File *file)
{
    rp_data_off++;
    int rc = next->File_close(file);
    rp_data_off--;
    rp_record_begin(&rp_f_File_close, false, 0, rc);
    rp_record_end();
    return rc;
}

int rp_alone_File_close(MPI_File *file)
{
    int rc = rp_alone_begin(&rp_f_File_close, false, 0);

    rp_alone_end();
    rp_data_off++;
    rp_pmpi.File_close(file);
    rp_data_off--;
    return rc;
}

struct split {
    MPI_File file;
    struct rp_areas areas;
    struct split *next;
};
static struct split *splits;

void rp_split_begin(MPI_File file, struct rp_areas *areas)
{
    struct split *s = calloc(1, sizeof *s);

    if (!s)
        rp_bug(__FILE__, __LINE__, "out of memory");
    *s = (struct split){file, *areas, splits};
    rp_areas_keep(&s->areas);
    splits = s;
}

static void end_split(MPI_File file, void (*use)(const struct rp_areas *, int64_t), int64_t bytes)
{
    static const struct rp_areas none;

    for (struct split **at = &splits; *at; at = &(*at)->next)
        if ((*at)->file == file) {
            struct split *s = *at;
            use(&s->areas, bytes);
            *at = s->next;
            rp_areas_free(&s->areas);
            free(s);
            return;
        }
    use(&none, bytes);
}

static void fill(const struct rp_areas *areas, int64_t bytes)
{
    (void)bytes;
    rp_areas_fill(areas);
}

void rp_split_put(MPI_File file, int64_t bytes)
{
    end_split(file, rp_areas_put, bytes);
}

void rp_split_fill(MPI_File file)
{
    end_split(file, fill, 0);
}
