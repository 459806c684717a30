/* SPDX-License-Identifier: MIT */
/* Handles that calls make: recorded as null, empty or new. Feeding, new ones are real handles of
 * this process. Below are the calls that mainly make handles. */
#include <stdlib.h>
#include <string.h>

#include "base/diagnostics.h"
#include "partial/partial_entries.h"
#include "partial/partial_handles.h"
#include "partial/partial_requests.h"
#include "hand.h"

/* Feeding, a communicator keeps this rank in it and its size, by attributes that its copies have,
 * too. */

enum kept { RANK, SIZE, KEPT };
static struct {
    int keyval[KEPT];
    bool has_keyval[KEPT];
    int of_world[KEPT];
    MPI_Comm own; /* whose only member is this process, if has_own */
    bool has_own;
} comms;

static int copy_number(MPI_Comm comm, int keyval, void *extra, void *in, void *out, int *flag)
{
    (void)comm, (void)keyval, (void)extra;
    *(void **)out = in;
    *flag = 1;
    return MPI_SUCCESS;
}

static int forget_number(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void)comm, (void)keyval, (void)value, (void)extra;
    return MPI_SUCCESS;
}

static void keep(MPI_Comm comm, enum kept which, uint64_t number)
{
    if (!comms.has_keyval[which])
        rp_pmpi.Comm_create_keyval(copy_number, forget_number, &comms.keyval[which], NULL);
    comms.has_keyval[which] = true;
    rp_pmpi.Comm_set_attr(comm, comms.keyval[which], (void *)(uintptr_t)number);
}

static bool look_up(enum kept which, MPI_Comm comm, int *number)
{
    void *value;
    int there = 0;

    if (comm == rp_constant.world || comm == rp_constant.self) {
        *number = comm == rp_constant.world ? comms.of_world[which] : which == SIZE;
        return true;
    }
    if (comms.keyval[which] != 0)
        rp_pmpi.Comm_get_attr(comm, comms.keyval[which], &value, &there);
    if (there)
        *number = (int)(intptr_t)value;
    return there != 0;
}

void rp_partial_feed_world(int rank, int size)
{
    comms.of_world[RANK] = rank;
    comms.of_world[SIZE] = size;
}

void rp_partial_record_comm(MPI_Comm comm)
{
    int rank = 0, size = 0;

    rp_partial_record_number(comm == rp_constant.comm_null ? RP_HANDLE_NULL : RP_HANDLE_NEW);
    if (comm == rp_constant.comm_null)
        return;
    rp_pmpi.Comm_rank(comm, &rank);
    rp_pmpi.Comm_size(comm, &size);
    rp_partial_record_number((uint64_t)rank);
    rp_partial_record_number((uint64_t)size);
}

void rp_partial_record_group(MPI_Group group)
{
    rp_partial_record_number(group == rp_partial.handle.group_null    ? RP_HANDLE_NULL
                             : group == rp_partial.handle.group_empty ? RP_HANDLE_EMPTY
                                                                      : RP_HANDLE_NEW);
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

void rp_partial_feed_comm(MPI_Comm parent, MPI_Comm *comm)
{
    MPI_Errhandler handler;

    *comm = rp_constant.comm_null;
    if (rp_partial_feed_number() == RP_HANDLE_NULL)
        return;
    *comm = new_comm();
    keep(*comm, RANK, rp_partial_feed_number());
    keep(*comm, SIZE, rp_partial_feed_number());
    rp_pmpi.Comm_get_errhandler(parent, &handler);
    rp_pmpi.Comm_set_errhandler(*comm, handler);
    rp_pmpi.Errhandler_free(&handler);
}

/* Of a dup: it is made already, and keeps what the other keeps, unless that is one of the
 * beginning. */
void rp_partial_feed_dup(MPI_Comm comm)
{
    if (rp_partial_feed_number() == RP_HANDLE_NULL)
        return;
    keep(comm, RANK, rp_partial_feed_number());
    keep(comm, SIZE, rp_partial_feed_number());
}

MPI_Comm rp_partial_feed_own(void)
{
    if (!comms.has_own)
        comms.own = new_comm();
    comms.has_own = true;
    return comms.own;
}

void rp_partial_feed_group(MPI_Group *group)
{
    uint64_t what = rp_partial_feed_number();
    MPI_Group self;
    int zero = 0;

    *group = what == RP_HANDLE_EMPTY ? rp_partial.handle.group_empty : rp_partial.handle.group_null;
    if (what != RP_HANDLE_NEW)
        return;
    rp_data_off++;
    rp_pmpi.Comm_group(rp_constant.self, &self);
    rp_pmpi.Group_incl(self, 1, &zero, group);
    rp_pmpi.Group_free(&self);
    rp_data_off--;
}

/* Ranks and sizes. An error handler that MPI calls inside another call may ask for them, which is
 * not written down: then they are what the communicator keeps. */

static int feed_number(const struct rp_function *function, enum kept which, MPI_Comm comm,
                       int *number)
{
    if (rp_partial_feed_in_handler) {
        if (!look_up(which, comm, number))
            rp_partial_feed_refuse_in_handler(function);
        return MPI_SUCCESS;
    }
    int rc = rp_partial_feed_begin(function, false, 0);
    if (rc == MPI_SUCCESS)
        rp_partial_feed_bytes(number, sizeof *number);
    rp_partial_feed_end();
    if (rp_partial_feed_failed(rc))
        rp_partial_feed_error_comm(comm, rc);
    return rc;
}

static int record_number(const struct rp_function *function, int rc, const int *number)
{
    rp_partial_record_begin(function, false, 0, rc);
    if (rc == MPI_SUCCESS)
        rp_partial_record_bytes(number, sizeof *number);
    rp_partial_record_end();
    return rc;
}

int rp_partial_record_Comm_rank(const struct rp_next *next, MPI_Comm comm, int *rank)
{
    bool is_open = rp_real_begin();
    int rc = next->Comm_rank(comm, rank);
    rp_real_end(is_open);
    return record_number(&rp_f_Comm_rank, rc, rank);
}

int rp_partial_feed_Comm_rank(MPI_Comm comm, int *rank)
{
    return feed_number(&rp_f_Comm_rank, RANK, comm, rank);
}

int rp_partial_record_Comm_size(const struct rp_next *next, MPI_Comm comm, int *size)
{
    bool is_open = rp_real_begin();
    int rc = next->Comm_size(comm, size);
    rp_real_end(is_open);
    return record_number(&rp_f_Comm_size, rc, size);
}

int rp_partial_feed_Comm_size(MPI_Comm comm, int *size)
{
    return feed_number(&rp_f_Comm_size, SIZE, comm, size);
}

/* Infos that MPI fills: keys and their values. */

static void put_key(MPI_Info info, int i)
{
    char key[MPI_MAX_INFO_KEY + 1], value[MPI_MAX_INFO_VAL + 1] = "";
    int there = 0;

    rp_pmpi.Info_get_nthkey(info, i, key);
    rp_pmpi.Info_get(info, key, MPI_MAX_INFO_VAL, value, &there);
    rp_partial_record_array(key, strlen(key) + 1);
    rp_partial_record_array(value, strlen(value) + 1);
}

void rp_partial_record_info(MPI_Info info)
{
    int keys = 0;

    rp_pmpi.Info_get_nkeys(info, &keys);
    rp_partial_record_number((uint64_t)keys);
    for (int i = 0; i < keys; i++)
        put_key(info, i);
}

static bool take_text(char *text, size_t room)
{
    size_t length;
    const uint8_t *content = rp_data_get_content(rp_partial.reader, &length);

    if (!content || length == 0 || length > room || content[length - 1] != 0)
        return false;
    memcpy(text, content, length);
    return true;
}

void rp_partial_feed_info(MPI_Info *info)
{
    char key[MPI_MAX_INFO_KEY + 1], value[MPI_MAX_INFO_VAL + 1];

    rp_pmpi.Info_create(info);
    for (uint64_t keys = rp_partial_feed_number();
         keys > 0 && take_text(key, sizeof key) && take_text(value, sizeof value); keys--)
        rp_pmpi.Info_set(*info, key, value);
}

/* Messages */

void rp_partial_record_message(MPI_Message message)
{
    rp_partial_record_number(message == rp_constant.message_no_proc ? RP_HANDLE_NULL
                                                                    : RP_HANDLE_NEW);
}

void rp_partial_feed_message(MPI_Message *message)
{
    MPI_Request request;
    int found = 0;

    *message = rp_constant.message_no_proc;
    if (rp_partial_feed_number() == RP_HANDLE_NULL)
        return;
    rp_data_off++;
    rp_pmpi.Isend(NULL, 0, rp_constant.byte, 0, 0, rp_partial_feed_own(), &request);
    while (!found)
        rp_pmpi.Improbe(0, 0, rp_partial_feed_own(), &found, message, MPI_STATUS_IGNORE);
    rp_pmpi.Request_free(&request); /* it is complete when the message is received */
    rp_data_off--;
}

void rp_partial_feed_take_message(MPI_Message *message)
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

    rp_partial_feed_bytes(is_wanted(status) ? status : &own, sizeof own);
}

int rp_partial_record_Iprobe(const struct rp_next *next, int source, int tag, MPI_Comm comm,
                             int *flag, MPI_Status *status)
{
    MPI_Status own, *seen = is_wanted(status) ? status : &own;

    bool is_open = rp_real_begin();
    int rc = next->Iprobe(source, tag, comm, flag, seen);
    rp_real_end(is_open);
    if (rp_partial.has_threads && rc == MPI_SUCCESS && !*flag && rp_threads_skip_no())
        return rc;
    rp_partial_record_begin(&rp_f_Iprobe, true, rp_check(rp_check(0, source), tag), rc);
    rp_partial_record_number(rc == MPI_SUCCESS && *flag);
    if (rc == MPI_SUCCESS && *flag)
        rp_partial_record_bytes(seen, sizeof *seen);
    rp_partial_record_end();
    return rc;
}

int rp_partial_feed_Iprobe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status)
{
    int rc = rp_partial_feed_begin(&rp_f_Iprobe, true, rp_check(rp_check(0, source), tag));

    *flag = (int)rp_partial_feed_number();
    if (*flag)
        take_status(status);
    rp_partial_feed_end();
    if (rp_partial_feed_failed(rc))
        rp_partial_feed_error_comm(comm, rc);
    return rc;
}

int rp_partial_record_Improbe(const struct rp_next *next, int source, int tag, MPI_Comm comm,
                              int *flag, MPI_Message *message, MPI_Status *status)
{
    MPI_Status own, *seen = is_wanted(status) ? status : &own;

    bool is_open = rp_real_begin();
    int rc = next->Improbe(source, tag, comm, flag, message, seen);
    rp_real_end(is_open);
    if (rp_partial.has_threads && rc == MPI_SUCCESS && !*flag && rp_threads_skip_no())
        return rc;
    rp_partial_record_begin(&rp_f_Improbe, true, rp_check(rp_check(0, source), tag), rc);
    rp_partial_record_number(rc == MPI_SUCCESS && *flag);
    if (rc == MPI_SUCCESS && *flag) {
        rp_partial_record_message(*message);
        rp_partial_record_bytes(seen, sizeof *seen);
    }
    rp_partial_record_end();
    return rc;
}

int rp_partial_feed_Improbe(int source, int tag, MPI_Comm comm, int *flag, MPI_Message *message,
                            MPI_Status *status)
{
    int rc = rp_partial_feed_begin(&rp_f_Improbe, true, rp_check(rp_check(0, source), tag));

    *flag = (int)rp_partial_feed_number();
    if (*flag) {
        rp_partial_feed_message(message);
        take_status(status);
    }
    rp_partial_feed_end();
    if (rp_partial_feed_failed(rc))
        rp_partial_feed_error_comm(comm, rc);
    return rc;
}

int rp_partial_record_Mprobe(const struct rp_next *next, int source, int tag, MPI_Comm comm,
                             MPI_Message *message, MPI_Status *status)
{
    MPI_Status own, *seen = is_wanted(status) ? status : &own;

    bool is_open = rp_real_begin();
    int rc = next->Mprobe(source, tag, comm, message, seen);
    rp_real_end(is_open);
    rp_partial_record_begin(&rp_f_Mprobe, true, rp_check(rp_check(0, source), tag), rc);
    if (rc == MPI_SUCCESS) {
        rp_partial_record_message(*message);
        rp_partial_record_bytes(seen, sizeof *seen);
    }
    rp_partial_record_end();
    return rc;
}

int rp_partial_feed_Mprobe(int source, int tag, MPI_Comm comm, MPI_Message *message,
                           MPI_Status *status)
{
    int rc = rp_partial_feed_begin(&rp_f_Mprobe, true, rp_check(rp_check(0, source), tag));

    if (rc == MPI_SUCCESS) {
        rp_partial_feed_message(message);
        take_status(status);
    }
    rp_partial_feed_end();
    if (rp_partial_feed_failed(rc))
        rp_partial_feed_error_comm(comm, rc);
    return rc;
}

/* Communicators that are made meanwhile: the copy of the attributes is made at once. */

static int record_idup(const struct rp_function *function, int rc)
{
    rp_partial_record_begin(function, false, 0, rc);
    rp_partial_record_end();
    return rc;
}

static int feed_idup(const struct rp_function *function, MPI_Comm comm, MPI_Comm *made,
                     MPI_Request *request)
{
    struct rp_areas none = {0};

    rp_pmpi.Comm_dup(comm, made);
    for (int which = 0, number; which < KEPT; which++)
        if (look_up(which, comm, &number))
            keep(*made, which, (uint64_t)number);
    int rc = rp_partial_feed_begin(function, false, 0);
    rp_partial_feed_end();
    if (rc == MPI_SUCCESS)
        *request = rp_partial_feed_request(&none, false,
                                           (struct rp_raiser){.kind = RP_OF_COMM, .comm = comm});
    else
        rp_partial_feed_error_comm(comm, rc);
    return rc;
}

int rp_partial_record_Comm_idup(const struct rp_next *next, MPI_Comm comm, MPI_Comm *made,
                                MPI_Request *request)
{
    bool is_open = rp_partial_open();
    int rc = next->Comm_idup(comm, made, request);
    rp_partial_shut(is_open);
    return record_idup(&rp_f_Comm_idup, rc);
}

int rp_partial_feed_Comm_idup(MPI_Comm comm, MPI_Comm *made, MPI_Request *request)
{
    return feed_idup(&rp_f_Comm_idup, comm, made, request);
}

#if RP_HAS_IDUP_WITH_INFO
int rp_partial_record_Comm_idup_with_info(const struct rp_next *next, MPI_Comm comm, MPI_Info info,
                                          MPI_Comm *made, MPI_Request *request)
{
    bool is_open = rp_partial_open();
    int rc = next->Comm_idup_with_info(comm, info, made, request);
    rp_partial_shut(is_open);
    return record_idup(&rp_f_Comm_idup_with_info, rc);
}

int rp_partial_feed_Comm_idup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm *made,
                                        MPI_Request *request)
{
    (void)info;
    return feed_idup(&rp_f_Comm_idup_with_info, comm, made, request);
}
#endif

/* Attributes: those that MPI itself sets are pointers to numbers, which the program may keep; all
 * others are the program's own. */

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations" // MPI_HOST, which programs still use
static const int predefined_keyvals[] = {MPI_TAG_UB,          MPI_HOST,          MPI_IO,
                                         MPI_WTIME_IS_GLOBAL, MPI_UNIVERSE_SIZE, MPI_LASTUSEDCODE,
                                         MPI_APPNUM};
#pragma GCC diagnostic pop
enum { PREDEFINED = sizeof predefined_keyvals / sizeof *predefined_keyvals };

/* PREDEFINED: it is not. */
static int predefined(int keyval)
{
    int i = 0;

    while (i < PREDEFINED && predefined_keyvals[i] != keyval)
        i++;
    return i;
}

static bool is_predefined(int keyval)
{
    return predefined(keyval) < PREDEFINED;
}

static int record_attr(const struct rp_function *function, int keyval, void *value, const int *flag,
                       int rc)
{
    if (!is_predefined(keyval))
        return rc;
    rp_partial_record_begin(function, true, rp_check(0, keyval), rc);
    if (rc == MPI_SUCCESS) {
        rp_partial_record_number(*flag != 0);
        if (*flag)
            rp_data_put_signed(rp_partial.writer, **(int **)value);
    }
    rp_partial_record_end();
    return rc;
}

static int feed_attr(const struct rp_function *function, MPI_Comm comm, int keyval, void *value,
                     int *flag)
{
    static int values[PREDEFINED];
    int rc = rp_partial_feed_begin(function, true, rp_check(0, keyval)),
        *slot = &values[predefined(keyval)];

    if (rc == MPI_SUCCESS) {
        *flag = (int)rp_partial_feed_number();
        if (*flag) {
            *slot = (int)rp_data_get_signed(rp_partial.reader);
            *(int **)value = slot;
        }
    }
    rp_partial_feed_end();
    if (rp_partial_feed_failed(rc))
        rp_partial_feed_error_comm(comm, rc);
    return rc;
}

int rp_partial_record_Comm_get_attr(const struct rp_next *next, MPI_Comm comm, int keyval,
                                    void *value, int *flag)
{
    return record_attr(&rp_f_Comm_get_attr, keyval, value, flag,
                       next->Comm_get_attr(comm, keyval, value, flag));
}

int rp_partial_feed_Comm_get_attr(MPI_Comm comm, int keyval, void *value, int *flag)
{
    return is_predefined(keyval) ? feed_attr(&rp_f_Comm_get_attr, comm, keyval, value, flag)
                                 : rp_pmpi.Comm_get_attr(comm, keyval, value, flag);
}

#if RP_HAS_ATTR_GET
int rp_partial_record_Attr_get(const struct rp_next *next, MPI_Comm comm, int keyval, void *value,
                               int *flag)
{
    return record_attr(&rp_f_Attr_get, keyval, value, flag,
                       next->Attr_get(comm, keyval, value, flag));
}

int rp_partial_feed_Attr_get(MPI_Comm comm, int keyval, void *value, int *flag)
{
    return is_predefined(keyval) ? feed_attr(&rp_f_Attr_get, comm, keyval, value, flag)
                                 : rp_pmpi.Attr_get(comm, keyval, value, flag);
}
#endif
