/* SPDX-License-Identifier: MIT */
/*
 * Programs in Fortran. Their bindings are a library on top of MPI's functions in C, which are ours;
 * but it also expects of libmpi what that has only if it was built with Fortran. tools/ulfm builds
 * one without, and the bindings of Open MPI 4 are loaded with it. So here is what they lack:
 * - names of constants, and strings of Fortran and C;
 * - datatypes: that MPI's own of Fortran have no size, and those of C that are the same memory are
 * taken instead; pairs of two reals, which C does not have, are made (ft_pairs.c);
 * - handles of requests, which are numbers. The bindings read the number in the request itself, at
 * a place that is tried once;
 * - generalized requests: the bindings write into MPI's own, so they are made here.
 *
 * What the bindings do with the inside of communicators cannot be done: ours are not what they take
 * them for. It is refused: attributes, but for those that MPI sets, and lists of datatypes.
 */
#include <stdlib.h>
#include <string.h>

#include "ft/ft_abort.h"
#include "ft/ft_enter.h"
#include "ft/ft_pairs.h"
#include "ft/ft_request.h"
#include "ft/ft_state.h"
#include "reprise.h"

#define EXPORTED __attribute__((visibility("default")))
#define WEAK __attribute__((visibility("default"), weak))

/* A program that uses them has its own. */
extern int mpi_fortran_bottom_, mpi_fortran_in_place_, mpi_fortran_unweighted_,
    mpi_fortran_weights_empty_, mpi_fortran_errcodes_ignore_;
extern int mpi_fortran_status_ignore_[], mpi_fortran_statuses_ignore_[];
extern char mpi_fortran_argv_null_, mpi_fortran_argvs_null_;
enum { STATUS_SIZE = 6 };
WEAK int mpi_fortran_bottom_, mpi_fortran_in_place_, mpi_fortran_unweighted_,
    mpi_fortran_weights_empty_, mpi_fortran_errcodes_ignore_;
WEAK int mpi_fortran_status_ignore_[STATUS_SIZE], mpi_fortran_statuses_ignore_[STATUS_SIZE];
WEAK char mpi_fortran_argv_null_, mpi_fortran_argvs_null_;

/* Names that the bindings call, or that stand for MPI's functions there. */
#define REFUSE(NAME, SAYS)                                                                         \
    EXPORTED void NAME(void);                                                                      \
    void NAME(void)                                                                                \
    {                                                                                              \
        rp_ft_refuse(SAYS);                                                                        \
    }
#define REFUSE_PERSISTENT(NAME) REFUSE(PMPIX_##NAME, "MPIX_" #NAME)
#define REFUSE_BINDING(NAME, SAYS)                                                                 \
    REFUSE(mpi_##NAME##_, SAYS)                                                                    \
    REFUSE(pmpi_##NAME##_, SAYS)                                                                   \
    REFUSE(ompi_##NAME##_f, SAYS)

REFUSE(mpi_conversion_fn_null_, "MPI_CONVERSION_FN_NULL")
REFUSE(ompi_fortran_argv_blank_f2c, "MPI_Comm_spawn")
REFUSE(ompi_fortran_argv_count_f2c, "MPI_Comm_spawn_multiple")
REFUSE(ompi_fortran_multiple_argvs_f2c, "MPI_Comm_spawn_multiple")
REFUSE_BINDING(comm_set_attr, "MPI_Comm_set_attr of Fortran")
REFUSE_BINDING(attr_put, "MPI_Attr_put of Fortran")
REFUSE_BINDING(alltoallw, "MPI_Alltoallw of Fortran")
REFUSE_BINDING(ialltoallw, "MPI_Ialltoallw of Fortran")
REFUSE_BINDING(ineighbor_alltoallw, "MPI_Ineighbor_alltoallw of Fortran")
REFUSE(ompix_alltoallw_init_f, "MPIX_Alltoallw_init")
REFUSE_PERSISTENT(Barrier_init)
REFUSE_PERSISTENT(Bcast_init)
REFUSE_PERSISTENT(Reduce_init)
REFUSE_PERSISTENT(Allreduce_init)
REFUSE_PERSISTENT(Scan_init)
REFUSE_PERSISTENT(Exscan_init)
REFUSE_PERSISTENT(Reduce_scatter_init)
REFUSE_PERSISTENT(Reduce_scatter_block_init)
REFUSE_PERSISTENT(Gather_init)
REFUSE_PERSISTENT(Gatherv_init)
REFUSE_PERSISTENT(Scatter_init)
REFUSE_PERSISTENT(Scatterv_init)
REFUSE_PERSISTENT(Allgather_init)
REFUSE_PERSISTENT(Allgatherv_init)
REFUSE_PERSISTENT(Alltoall_init)
REFUSE_PERSISTENT(Alltoallv_init)
REFUSE_PERSISTENT(Alltoallw_init)
REFUSE_PERSISTENT(Neighbor_allgather_init)
REFUSE_PERSISTENT(Neighbor_allgatherv_init)
REFUSE_PERSISTENT(Neighbor_alltoall_init)
REFUSE_PERSISTENT(Neighbor_alltoallv_init)
REFUSE_PERSISTENT(Neighbor_alltoallw_init)

/* Strings: blanks around one are none of it, blanks behind it fill it up. */

EXPORTED int ompi_fortran_string_f2c(const char *from, int length, char **to);
EXPORTED int ompi_fortran_string_c2f(const char *from, char *to, int length);

int ompi_fortran_string_f2c(const char *from, int length, char **to)
{
    for (; length > 0 && from[length - 1] == ' '; length--)
        ;
    for (; length > 0 && *from == ' '; length--)
        from++;
    *to = rp_ft_alloc((size_t)length + 1);
    memcpy(*to, from, (size_t)length);
    return MPI_SUCCESS;
}

int ompi_fortran_string_c2f(const char *from, char *to, int length)
{
    size_t room = (size_t)length, used = strnlen(from, room);

    memcpy(to, from, used);
    memset(to + used, ' ', room - used);
    return MPI_SUCCESS;
}

/* Attributes that MPI sets are pointers to int in C, and values in Fortran. */

static bool predefined(int key, MPI_Aint *value)
{
    int *in_c, flag = 0;

    if (key < MPI_TAG_UB || key > MPI_UNIVERSE_SIZE)
        rp_ft_refuse("MPI_Comm_get_attr of Fortran, of a key that the program made,");
    rp_ft_Comm_get_attr(MPI_COMM_WORLD, key, &in_c, &flag);
    if (flag)
        *value = *in_c;
    return flag;
}

#define GET_ATTRIBUTE(NAME, TYPE)                                                                  \
    EXPORTED void NAME(const MPI_Fint *comm, const MPI_Fint *key, TYPE *value, int *flag,          \
                       MPI_Fint *error);                                                           \
    void NAME(const MPI_Fint *comm, const MPI_Fint *key, TYPE *value, int *flag, MPI_Fint *error)  \
    {                                                                                              \
        MPI_Aint found;                                                                            \
        (void)comm;                                                                                \
        *flag = predefined(*key, &found);                                                          \
        if (*flag)                                                                                 \
            *value = (TYPE)found;                                                                  \
        if (error)                                                                                 \
            *error = MPI_SUCCESS;                                                                  \
    }
GET_ATTRIBUTE(mpi_comm_get_attr_, MPI_Aint)
GET_ATTRIBUTE(pmpi_comm_get_attr_, MPI_Aint)
GET_ATTRIBUTE(ompi_comm_get_attr_f, MPI_Aint)
GET_ATTRIBUTE(mpi_attr_get_, MPI_Fint)
GET_ATTRIBUTE(pmpi_attr_get_, MPI_Fint)
GET_ATTRIBUTE(ompi_attr_get_f, MPI_Fint)

/* Datatypes, by their numbers in Fortran, which Open MPI never changed. */

static MPI_Datatype same_in_c(MPI_Fint number)
{
    switch (number) {
    case 5: /* MPI_CHARACTER */
        return MPI_CHAR;
    case 6: /* MPI_LOGICAL */
    case 7: /* MPI_INTEGER */
        return MPI_INT;
    case 8:  /* MPI_INTEGER1 */
    case 29: /* MPI_LOGICAL1 */
        return MPI_INT8_T;
    case 9:  /* MPI_INTEGER2 */
    case 30: /* MPI_LOGICAL2 */
        return MPI_INT16_T;
    case 10: /* MPI_INTEGER4 */
    case 31: /* MPI_LOGICAL4 */
        return MPI_INT32_T;
    case 11: /* MPI_INTEGER8 */
    case 32: /* MPI_LOGICAL8 */
        return MPI_INT64_T;
    case 13: /* MPI_REAL */
    case 14: /* MPI_REAL4 */
        return MPI_FLOAT;
    case 15: /* MPI_REAL8 */
    case 17: /* MPI_DOUBLE_PRECISION */
        return MPI_DOUBLE;
    case 18: /* MPI_COMPLEX */
    case 19: /* MPI_COMPLEX8 */
        return MPI_C_FLOAT_COMPLEX;
    case 20: /* MPI_COMPLEX16 */
    case 22: /* MPI_DOUBLE_COMPLEX */
        return MPI_C_DOUBLE_COMPLEX;
    case 23: /* MPI_2REAL */
        return rp_ft_pair_of_reals();
    case 24: /* MPI_2DOUBLE_PRECISION */
        return rp_ft_pair_of_doubles();
    case 25: /* MPI_2INTEGER */
        return MPI_2INT;
    default:
        return MPI_DATATYPE_NULL;
    }
}

/* Of pairs of reals an MPI without Fortran has the size, but not the operations. */
static bool has_fortran(void)
{
    enum { INTEGER = 7 };
    static int bytes = -1;

    if (bytes < 0)
        rp_real.Type_size(rp_real.Type_f2c(INTEGER), &bytes);
    return bytes > 0;
}

/* An MPI that has Fortran knows them itself. */
MPI_Datatype rp_ft_Type_f2c(MPI_Fint number)
{
    MPI_Datatype in_c = has_fortran() ? MPI_DATATYPE_NULL : same_in_c(number);

    return in_c != MPI_DATATYPE_NULL ? in_c : rp_real.Type_f2c(number);
}

/* Requests. Number 0 is MPI_REQUEST_NULL. */

static struct {
    struct rp_ft_request **request;
    MPI_Fint room, first_free;
} numbers = {.first_free = 1};

_Static_assert(offsetof(struct rp_ft_request, fortran) == 104, "where the bindings read it");

static bool is_read_there(void)
{
    MPI_Request real;
    MPI_Fint number, there;

    rp_real.Send_init(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_SELF, &real);
    number = rp_real.Request_c2f(real);
    memcpy(&there, (const char *)real + offsetof(struct rp_ft_request, fortran), sizeof there);
    rp_real.Request_free(&real);
    return number != 0 && there == number;
}

static void grow(void)
{
    enum { FIRST = 64 };
    size_t before = (size_t)numbers.room;

    numbers.room = before > 0 ? 2 * numbers.room : FIRST;
    numbers.request = realloc(numbers.request, (size_t)numbers.room * sizeof *numbers.request);
    if (!numbers.request)
        rp_ft_die(REPRISE_EXIT_INTERNAL, "%s: out of memory for %d requests", rp_ft.call,
                  (int)numbers.room);
    for (size_t i = before; i < (size_t)numbers.room; i++)
        numbers.request[i] = NULL;
}

static void forget(struct rp_ft_request *request)
{
    numbers.request[request->fortran] = NULL;
    if (request->fortran < numbers.first_free)
        numbers.first_free = request->fortran;
    request->fortran = 0;
}

static void begin(void)
{
    if (!is_read_there())
        rp_ft_refuse("MPI_Request_c2f, with these bindings of Fortran,");
    rp_ft_request_on_free(forget);
}

MPI_Fint rp_ft_Request_c2f(MPI_Request handle)
{
    struct rp_ft_request *request = (struct rp_ft_request *)handle;

    if (handle == MPI_REQUEST_NULL)
        return 0;
    if (request->fortran)
        return request->fortran;
    if (!numbers.request)
        begin();
    while (numbers.first_free < numbers.room && numbers.request[numbers.first_free])
        numbers.first_free++;
    if (numbers.first_free >= numbers.room)
        grow();
    numbers.request[numbers.first_free] = request;
    request->fortran = numbers.first_free;
    return request->fortran;
}

MPI_Request rp_ft_Request_f2c(MPI_Fint number)
{
    struct rp_ft_request *request =
        number > 0 && number < numbers.room ? numbers.request[number] : NULL;

    return request ? (MPI_Request)request : MPI_REQUEST_NULL;
}

/* Generalized requests. Their functions get everything by its address. */

struct fortran_general {
    void (*query)(MPI_Aint *extra, MPI_Fint *status, MPI_Fint *error);
    void (*free)(MPI_Aint *extra, MPI_Fint *error);
    void (*cancel)(MPI_Aint *extra, const MPI_Fint *complete, MPI_Fint *error);
    MPI_Aint *extra;
};

static int query(void *data, MPI_Status *status)
{
    const struct fortran_general *general = data;
    MPI_Fint in_fortran[STATUS_SIZE], error = MPI_SUCCESS;

    rp_real.Status_c2f(status, in_fortran);
    general->query(general->extra, in_fortran, &error);
    rp_real.Status_f2c(in_fortran, status);
    return error;
}

static int release(void *data)
{
    struct fortran_general *general = data;
    MPI_Fint error = MPI_SUCCESS;

    general->free(general->extra, &error);
    free(general);
    return error;
}

static int cancel(void *data, int complete)
{
    const struct fortran_general *general = data;
    MPI_Fint in_fortran = complete != 0, error = MPI_SUCCESS;

    general->cancel(general->extra, &in_fortran, &error);
    return error;
}

static void start(struct fortran_general general, MPI_Fint *request, MPI_Fint *error)
{
    struct fortran_general *copy = rp_ft_alloc(sizeof *copy);
    MPI_Request handle;

    *copy = general;
    rp_ft_enter("MPI_Grequest_start");
    int result = rp_ft_Grequest_start(query, release, cancel, copy, &handle);
    *request = rp_ft_Request_c2f(handle);
    if (error)
        *error = result;
}

#define GREQUEST_START(NAME)                                                                       \
    EXPORTED void NAME(void (*query)(MPI_Aint *, MPI_Fint *, MPI_Fint *),                          \
                       void (*free)(MPI_Aint *, MPI_Fint *),                                       \
                       void (*cancel)(MPI_Aint *, const MPI_Fint *, MPI_Fint *), MPI_Aint *extra,  \
                       MPI_Fint *request, MPI_Fint *error);                                        \
    void NAME(void (*query)(MPI_Aint *, MPI_Fint *, MPI_Fint *),                                   \
              void (*free)(MPI_Aint *, MPI_Fint *),                                                \
              void (*cancel)(MPI_Aint *, const MPI_Fint *, MPI_Fint *), MPI_Aint *extra,           \
              MPI_Fint *request, MPI_Fint *error)                                                  \
    {                                                                                              \
        start((struct fortran_general){query, free, cancel, extra}, request, error);               \
    }
GREQUEST_START(mpi_grequest_start_)
GREQUEST_START(pmpi_grequest_start_)
GREQUEST_START(ompi_grequest_start_f)
