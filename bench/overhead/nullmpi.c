/* SPDX-License-Identifier: MIT */
/*
 * An MPI library that does next to nothing, in one process: what is counted on top of it is what
 * reprise adds. It is compiled against the mpi.h of one MPI and takes that library's soname, so
 * that the program and libreprise.so are those of a real run.
 *
 * No function calls another by its exported name: the real libraries do not either, and reprise
 * would see it.
 *
 * Every message is there at once, from rank 0, except those with an odd tag, which never come: so
 * the program decides what a call finds. Handles look like those of the real library (addresses of
 * objects, or small numbers) and come back after CYCLE requests, as from a pool.
 */
#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#define EXPORT(name) int name() __attribute__((weak, alias("P" #name)))

enum { CYCLE = 16, NEVER = 64 };

struct request {
    int tag;
    bool persistent;
};

#ifdef OPEN_MPI
struct ompi_request_t {
    struct request content;
    _Alignas(64) char rest[512];
};
static struct ompi_request_t pool[CYCLE + NEVER];
struct ompi_predefined_request_t {
    char bytes[512];
} ompi_request_null;
struct ompi_predefined_communicator_t {
    char bytes[512];
} ompi_mpi_comm_world, ompi_mpi_comm_self, ompi_mpi_comm_null;
struct ompi_predefined_datatype_t {
    char bytes[512];
} ompi_mpi_byte, ompi_mpi_uint64_t, ompi_mpi_int32_t, ompi_mpi_datatype_null;
struct ompi_predefined_op_t {
    char bytes[512];
} ompi_mpi_op_sum, ompi_mpi_op_max;
struct ompi_predefined_errhandler_t {
    char bytes[512];
} ompi_mpi_errors_return;

static MPI_Request handle_of(int index)
{
    return &pool[index];
}

static struct request *content_of(MPI_Request request)
{
    return &request->content;
}
#elif defined(MPI_ABI_VERSION)
static struct {
    struct request content;
    _Alignas(64) char rest[512];
} pool[CYCLE + NEVER];

static MPI_Request handle_of(int index)
{
    return (MPI_Request)&pool[index];
}

static struct request *content_of(MPI_Request request)
{
    return (struct request *)request;
}
#else
enum { FIRST_HANDLE = (int)0x98000000 };
static struct request pool[CYCLE + NEVER];

static MPI_Request handle_of(int index)
{
    return FIRST_HANDLE + index;
}

static struct request *content_of(MPI_Request request)
{
    return &pool[request - FIRST_HANDLE];
}
#endif

static int next_request, next_never;
static MPI_Comm_delete_attr_function *at_finalize;

static MPI_Request new_request(int tag, bool persistent)
{
    int index = tag & 1 ? CYCLE + next_never++ % NEVER : next_request++ % CYCLE;
    MPI_Request request = handle_of(index);

    *content_of(request) = (struct request){tag, persistent};
    return request;
}

static bool is_done(MPI_Request request)
{
    return request != MPI_REQUEST_NULL && !(content_of(request)->tag & 1);
}

static void fill(MPI_Status *status, int tag)
{
    if (status == MPI_STATUS_IGNORE)
        return;
    status->MPI_SOURCE = 0;
    status->MPI_TAG = tag;
    status->MPI_ERROR = MPI_SUCCESS;
}

static void take(MPI_Request *request, MPI_Status *status)
{
    fill(status, content_of(*request)->tag);
    if (!content_of(*request)->persistent)
        *request = MPI_REQUEST_NULL;
}

static int first_done(int count, const MPI_Request *requests)
{
    for (int i = 0; i < count; i++)
        if (is_done(requests[i]))
            return i;
    return MPI_UNDEFINED;
}

/* Life */

EXPORT(MPI_Init);
int PMPI_Init(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    return MPI_SUCCESS;
}

EXPORT(MPI_Comm_get_attr);
int PMPI_Comm_get_attr(MPI_Comm comm, int key, void *value, int *flag)
{
    (void)comm, (void)key, (void)value;
    *flag = 0;
    return MPI_SUCCESS;
}

EXPORT(MPI_Comm_test_inter);
int PMPI_Comm_test_inter(MPI_Comm comm, int *flag)
{
    (void)comm;
    *flag = 0;
    return MPI_SUCCESS;
}

EXPORT(MPI_Finalize);
int PMPI_Finalize(void)
{
    if (at_finalize)
        at_finalize(MPI_COMM_SELF, 0, NULL, NULL);
    return MPI_SUCCESS;
}

/* reprise tells by it which library this is. */
EXPORT(MPI_Abort);
int PMPI_Abort(MPI_Comm comm, int code)
{
    (void)comm;
    _exit(code);
}

EXPORT(MPI_Comm_create_keyval);
int PMPI_Comm_create_keyval(MPI_Comm_copy_attr_function *copy,
                            MPI_Comm_delete_attr_function *delete, int *key, void *extra)
{
    (void)copy, (void)extra;
    at_finalize = delete;
    *key = 0;
    return MPI_SUCCESS;
}

EXPORT(MPI_Comm_set_attr);
int PMPI_Comm_set_attr(MPI_Comm comm, int key, void *value)
{
    (void)comm, (void)key, (void)value;
    return MPI_SUCCESS;
}

EXPORT(MPI_Comm_free_keyval);
int PMPI_Comm_free_keyval(int *key)
{
    *key = MPI_KEYVAL_INVALID;
    return MPI_SUCCESS;
}

EXPORT(MPI_Comm_rank);
int PMPI_Comm_rank(MPI_Comm comm, int *rank)
{
    (void)comm;
    *rank = 0;
    return MPI_SUCCESS;
}

EXPORT(MPI_Comm_size);
int PMPI_Comm_size(MPI_Comm comm, int *size)
{
    (void)comm;
    *size = 1;
    return MPI_SUCCESS;
}

EXPORT(MPI_Get_library_version);
int PMPI_Get_library_version(char *version, int *length)
{
    strcpy(version, "null");
    *length = 4;
    return MPI_SUCCESS;
}

EXPORT(MPI_Error_class);
int PMPI_Error_class(int code, int *class)
{
    *class = code;
    return MPI_SUCCESS;
}

EXPORT(MPI_Comm_get_errhandler);
int PMPI_Comm_get_errhandler(MPI_Comm comm, MPI_Errhandler *errhandler)
{
    (void)comm;
    *errhandler = MPI_ERRORS_RETURN;
    return MPI_SUCCESS;
}

EXPORT(MPI_Comm_set_errhandler);
int PMPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler errhandler)
{
    (void)comm, (void)errhandler;
    return MPI_SUCCESS;
}

EXPORT(MPI_Errhandler_free);
int PMPI_Errhandler_free(MPI_Errhandler *errhandler)
{
    (void)errhandler;
    return MPI_SUCCESS;
}

EXPORT(MPI_Test_cancelled);
int PMPI_Test_cancelled(const MPI_Status *status, int *flag)
{
    (void)status;
    *flag = 0;
    return MPI_SUCCESS;
}

/* Collectives of one rank, on the types that reprise uses */

static size_t size_of(MPI_Datatype type)
{
    return type == MPI_UINT64_T ? 8 : type == MPI_INT32_T ? 4 : 1;
}

EXPORT(MPI_Ibcast);
int PMPI_Ibcast(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm,
                MPI_Request *request)
{
    *request = MPI_REQUEST_NULL;
    (void)buffer, (void)count, (void)type, (void)root, (void)comm;
    return MPI_SUCCESS;
}

EXPORT(MPI_Iallreduce);
int PMPI_Iallreduce(const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op,
                    MPI_Comm comm, MPI_Request *request)
{
    *request = MPI_REQUEST_NULL;
    (void)op, (void)comm;
    memcpy(receive, send, (size_t)count * size_of(type));
    return MPI_SUCCESS;
}

EXPORT(MPI_Ireduce);
int PMPI_Ireduce(const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op, int root,
                 MPI_Comm comm, MPI_Request *request)
{
    *request = MPI_REQUEST_NULL;
    (void)op, (void)root, (void)comm;
    memcpy(receive, send, (size_t)count * size_of(type));
    return MPI_SUCCESS;
}

/* Point to point */

EXPORT(MPI_Recv);
int PMPI_Recv(void *buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
              MPI_Status *status)
{
    (void)buffer, (void)count, (void)type, (void)source, (void)comm;
    fill(status, tag);
    return MPI_SUCCESS;
}

EXPORT(MPI_Sendrecv);
int PMPI_Sendrecv(const void *out, int outcount, MPI_Datatype outtype, int target, int outtag,
                  void *in, int incount, MPI_Datatype intype, int source, int tag, MPI_Comm comm,
                  MPI_Status *status)
{
    (void)out, (void)outcount, (void)outtype, (void)target, (void)outtag;
    (void)in, (void)incount, (void)intype, (void)source, (void)comm;
    fill(status, tag);
    return MPI_SUCCESS;
}

EXPORT(MPI_Irecv);
int PMPI_Irecv(void *buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
               MPI_Request *request)
{
    (void)buffer, (void)count, (void)type, (void)source, (void)comm;
    *request = new_request(tag, false);
    return MPI_SUCCESS;
}

EXPORT(MPI_Isend);
int PMPI_Isend(const void *buffer, int count, MPI_Datatype type, int target, int tag, MPI_Comm comm,
               MPI_Request *request)
{
    (void)buffer, (void)count, (void)type, (void)target, (void)comm;
    *request = new_request(tag, false);
    return MPI_SUCCESS;
}

EXPORT(MPI_Recv_init);
int PMPI_Recv_init(void *buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                   MPI_Request *request)
{
    (void)buffer, (void)count, (void)type, (void)source, (void)comm;
    *request = new_request(tag, true);
    return MPI_SUCCESS;
}

EXPORT(MPI_Send_init);
int PMPI_Send_init(const void *buffer, int count, MPI_Datatype type, int target, int tag,
                   MPI_Comm comm, MPI_Request *request)
{
    (void)buffer, (void)count, (void)type, (void)target, (void)comm;
    *request = new_request(tag, true);
    return MPI_SUCCESS;
}

EXPORT(MPI_Start);
int PMPI_Start(MPI_Request *request)
{
    (void)request;
    return MPI_SUCCESS;
}

EXPORT(MPI_Probe);
int PMPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    (void)source, (void)comm;
    fill(status, tag);
    return MPI_SUCCESS;
}

EXPORT(MPI_Iprobe);
int PMPI_Iprobe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status)
{
    (void)source, (void)comm;
    *flag = !(tag & 1);
    if (*flag)
        fill(status, tag);
    return MPI_SUCCESS;
}

/* Completion */

EXPORT(MPI_Wait);
int PMPI_Wait(MPI_Request *request, MPI_Status *status)
{
    if (*request != MPI_REQUEST_NULL)
        take(request, status);
    return MPI_SUCCESS;
}

EXPORT(MPI_Waitall);
int PMPI_Waitall(int count, MPI_Request *requests, MPI_Status *statuses)
{
    for (int i = 0; i < count; i++)
        if (requests[i] != MPI_REQUEST_NULL)
            take(&requests[i], statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i]);
    return MPI_SUCCESS;
}

EXPORT(MPI_Waitany);
int PMPI_Waitany(int count, MPI_Request *requests, int *index, MPI_Status *status)
{
    *index = first_done(count, requests);
    if (*index != MPI_UNDEFINED)
        take(&requests[*index], status);
    return MPI_SUCCESS;
}

EXPORT(MPI_Test);
int PMPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
    if (*request == MPI_REQUEST_NULL) {
        *flag = 1;
        return MPI_SUCCESS;
    }
    *flag = is_done(*request);
    if (*flag)
        take(request, status);
    return MPI_SUCCESS;
}

EXPORT(MPI_Testsome);
int PMPI_Testsome(int count, MPI_Request *requests, int *outcount, int *indices,
                  MPI_Status *statuses)
{
    indices[0] = first_done(count, requests);
    *outcount = indices[0] != MPI_UNDEFINED;
    if (*outcount)
        take(&requests[indices[0]], statuses);
    return MPI_SUCCESS;
}

EXPORT(MPI_Request_get_status);
int PMPI_Request_get_status(MPI_Request request, int *flag, MPI_Status *status)
{
    *flag = content_of(request)->tag % 2 == 0;
    if (*flag && status != MPI_STATUS_IGNORE) {
        status->MPI_SOURCE = 0;
        status->MPI_TAG = content_of(request)->tag;
    }
    return MPI_SUCCESS;
}
