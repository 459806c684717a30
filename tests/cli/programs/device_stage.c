/* SPDX-License-Identifier: MIT */
/*
 * Makes an MPI that knows nothing of GPUs take device memory: stands in front of it, and gives it
 * copies on the host. What a message leaves between its data stays as it is.
 */
#include <mpi.h>

#include "device_gpu.h"

struct stage {
    void *memory, *copy; /* to free; what MPI gets */
    char *device;        /* NULL: the buffer is of the host */
    size_t bytes;
};

struct started {
    MPI_Request request;
    struct stage stage;
    int receives, is_persistent;
};

enum { MOST = 1024 };
static struct started started[MOST];

static void *real(const char *name)
{
    void *symbol = dlsym(RTLD_NEXT, name);

    gpu_check(!symbol, name);
    return symbol;
}

#define REAL(name) ((__typeof__(&P##name))real("P" #name))

static struct stage stage(const void *buf, long count, MPI_Datatype type)
{
    struct stage s = {.copy = (void *)(uintptr_t)buf};
    MPI_Aint lower, extent, true_lower, true_extent;

    if (count <= 0 || type == MPI_DATATYPE_NULL || buf == MPI_IN_PLACE || buf == MPI_BOTTOM)
        return s;
    PMPI_Type_get_extent(type, &lower, &extent);
    PMPI_Type_get_true_extent(type, &true_lower, &true_extent);
    gpu_open();
    if (true_extent == 0 || !gpu_is((const char *)buf + true_lower))
        return s;
    s.device = (char *)(uintptr_t)buf + true_lower;
    s.bytes = (size_t)(true_extent + extent * (count - 1));
    s.memory = malloc(s.bytes);
    s.copy = (void *)((uintptr_t)s.memory - (uintptr_t)true_lower);
    gpu_read(s.memory, s.device, s.bytes);
    return s;
}

static void unstage(struct stage *s, int receives)
{
    if (s->device && receives)
        gpu_write(s->device, s->memory, s->bytes);
    free(s->memory);
}

#define BOTH(name, parameters, arguments)                                                          \
    int MPI_##name parameters                                                                      \
    {                                                                                              \
        return do_##name arguments;                                                                \
    }                                                                                              \
    int PMPI_##name parameters                                                                     \
    {                                                                                              \
        return do_##name arguments;                                                                \
    }

/* Calls that are over when they return. */

static int do_Send(const void *b, int c, MPI_Datatype t, int d, int g, MPI_Comm m)
{
    struct stage s = stage(b, c, t);
    int rc = REAL(MPI_Send)(s.copy, c, t, d, g, m);

    unstage(&s, 0);
    return rc;
}
BOTH(Send, (const void *b, int c, MPI_Datatype t, int d, int g, MPI_Comm m), (b, c, t, d, g, m))

static int do_Recv(void *b, int c, MPI_Datatype t, int s, int g, MPI_Comm m, MPI_Status *u)
{
    struct stage r = stage(b, c, t);
    int rc = REAL(MPI_Recv)(r.copy, c, t, s, g, m, u);

    unstage(&r, 1);
    return rc;
}
BOTH(Recv, (void *b, int c, MPI_Datatype t, int s, int g, MPI_Comm m, MPI_Status *u),
     (b, c, t, s, g, m, u))

static int do_Sendrecv(const void *b, int c, MPI_Datatype t, int d, int g, void *b2, int c2,
                       MPI_Datatype t2, int s, int g2, MPI_Comm m, MPI_Status *u)
{
    struct stage in = stage(b, c, t), out = stage(b2, c2, t2);
    int rc = REAL(MPI_Sendrecv)(in.copy, c, t, d, g, out.copy, c2, t2, s, g2, m, u);

    unstage(&in, 0);
    unstage(&out, 1);
    return rc;
}
BOTH(Sendrecv,
     (const void *b, int c, MPI_Datatype t, int d, int g, void *b2, int c2, MPI_Datatype t2, int s,
      int g2, MPI_Comm m, MPI_Status *u),
     (b, c, t, d, g, b2, c2, t2, s, g2, m, u))

static int do_Sendrecv_replace(void *b, int c, MPI_Datatype t, int d, int g, int s, int g2,
                               MPI_Comm m, MPI_Status *u)
{
    struct stage both = stage(b, c, t);
    int rc = REAL(MPI_Sendrecv_replace)(both.copy, c, t, d, g, s, g2, m, u);

    unstage(&both, 1);
    return rc;
}
BOTH(Sendrecv_replace,
     (void *b, int c, MPI_Datatype t, int d, int g, int s, int g2, MPI_Comm m, MPI_Status *u),
     (b, c, t, d, g, s, g2, m, u))

static int do_Bcast(void *b, int c, MPI_Datatype t, int r, MPI_Comm m)
{
    struct stage s = stage(b, c, t);
    int rc = REAL(MPI_Bcast)(s.copy, c, t, r, m);

    unstage(&s, 1);
    return rc;
}
BOTH(Bcast, (void *b, int c, MPI_Datatype t, int r, MPI_Comm m), (b, c, t, r, m))

static int size_of(MPI_Comm m)
{
    int size;

    PMPI_Comm_size(m, &size);
    return size;
}

static int rank_in(MPI_Comm m)
{
    int rank;

    PMPI_Comm_rank(m, &rank);
    return rank;
}

#define REDUCE(name, received, parameters, arguments, pass)                                        \
    static int do_##name parameters                                                                \
    {                                                                                              \
        struct stage in = stage(b, c, t), out = stage(b2, received, t);                            \
        int rc = REAL(MPI_##name) pass;                                                            \
        unstage(&in, 0);                                                                           \
        unstage(&out, (received) > 0);                                                             \
        return rc;                                                                                 \
    }                                                                                              \
    BOTH(name, parameters, arguments)

REDUCE(Allreduce, c, (const void *b, void *b2, int c, MPI_Datatype t, MPI_Op o, MPI_Comm m),
       (b, b2, c, t, o, m), (in.copy, out.copy, c, t, o, m))
REDUCE(Scan, c, (const void *b, void *b2, int c, MPI_Datatype t, MPI_Op o, MPI_Comm m),
       (b, b2, c, t, o, m), (in.copy, out.copy, c, t, o, m))
REDUCE(Exscan, c, (const void *b, void *b2, int c, MPI_Datatype t, MPI_Op o, MPI_Comm m),
       (b, b2, c, t, o, m), (in.copy, out.copy, c, t, o, m))
REDUCE(Reduce, rank_in(m) == r ? c : 0,
       (const void *b, void *b2, int c, MPI_Datatype t, MPI_Op o, int r, MPI_Comm m),
       (b, b2, c, t, o, r, m), (in.copy, out.copy, c, t, o, r, m))

static int do_Reduce_scatter_block(const void *b, void *b2, int c, MPI_Datatype t, MPI_Op o,
                                   MPI_Comm m)
{
    int in_place = b == MPI_IN_PLACE;
    struct stage in = stage(b, (long)c * size_of(m), t),
                 out = stage(b2, in_place ? (long)c * size_of(m) : c, t);
    int rc = REAL(MPI_Reduce_scatter_block)(in.copy, out.copy, c, t, o, m);

    unstage(&in, 0);
    unstage(&out, 1);
    return rc;
}
BOTH(Reduce_scatter_block, (const void *b, void *b2, int c, MPI_Datatype t, MPI_Op o, MPI_Comm m),
     (b, b2, c, t, o, m))

#define GATHER(name, sends, receives, parameters, arguments, pass)                                 \
    static int do_##name parameters                                                                \
    {                                                                                              \
        struct stage in = stage(b, sends, t), out = stage(b2, receives, t2);                       \
        int rc = REAL(MPI_##name) pass;                                                            \
        unstage(&in, 0);                                                                           \
        unstage(&out, 1);                                                                          \
        return rc;                                                                                 \
    }                                                                                              \
    BOTH(name, parameters, arguments)

GATHER(Gather, c, rank_in(m) == r ? (long)c2 * size_of(m) : 0,
       (const void *b, int c, MPI_Datatype t, void *b2, int c2, MPI_Datatype t2, int r, MPI_Comm m),
       (b, c, t, b2, c2, t2, r, m), (in.copy, c, t, out.copy, c2, t2, r, m))
GATHER(Scatter, rank_in(m) == r ? (long)c * size_of(m) : 0, c2,
       (const void *b, int c, MPI_Datatype t, void *b2, int c2, MPI_Datatype t2, int r, MPI_Comm m),
       (b, c, t, b2, c2, t2, r, m), (in.copy, c, t, out.copy, c2, t2, r, m))
GATHER(Allgather, c, (long)c2 *size_of(m),
       (const void *b, int c, MPI_Datatype t, void *b2, int c2, MPI_Datatype t2, MPI_Comm m),
       (b, c, t, b2, c2, t2, m), (in.copy, c, t, out.copy, c2, t2, m))
GATHER(Alltoall, (long)c *size_of(m), (long)c2 *size_of(m),
       (const void *b, int c, MPI_Datatype t, void *b2, int c2, MPI_Datatype t2, MPI_Comm m),
       (b, c, t, b2, c2, t2, m), (in.copy, c, t, out.copy, c2, t2, m))

/* Requests. The copies of sends that are not persistent stay. */

static int keep(int rc, struct stage s, MPI_Request request, int receives, int is_persistent)
{
    struct started *free_one = started;

    if (rc != MPI_SUCCESS || !s.device || (!receives && !is_persistent))
        return rc;
    while (free_one->stage.device)
        free_one++;
    *free_one = (struct started){request, s, receives, is_persistent};
    return rc;
}

static struct started *find(MPI_Request request)
{
    for (int i = 0; i < MOST; i++)
        if (started[i].stage.device && started[i].request == request)
            return &started[i];
    return NULL;
}

static void over(MPI_Request request)
{
    struct started *one = request == MPI_REQUEST_NULL ? NULL : find(request);

    if (!one)
        return;
    if (one->is_persistent) {
        if (one->receives)
            gpu_write(one->stage.device, one->stage.memory, one->stage.bytes);
        return;
    }
    unstage(&one->stage, 1);
    one->stage.device = NULL;
}

static void begins(MPI_Request request)
{
    struct started *one = find(request);

    if (one)
        gpu_read(one->stage.memory, one->stage.device, one->stage.bytes);
}

#define BEGIN(name, receives, is_persistent, pointer)                                              \
    static int do_##name(pointer b, int c, MPI_Datatype t, int d, int g, MPI_Comm m,               \
                         MPI_Request *q)                                                           \
    {                                                                                              \
        struct stage s = stage(b, c, t);                                                           \
        int rc = REAL(MPI_##name)(s.copy, c, t, d, g, m, q);                                       \
        return keep(rc, s, *q, receives, is_persistent);                                           \
    }                                                                                              \
    BOTH(name, (pointer b, int c, MPI_Datatype t, int d, int g, MPI_Comm m, MPI_Request *q),       \
         (b, c, t, d, g, m, q))

BEGIN(Isend, 0, 0, const void *)
BEGIN(Issend, 0, 0, const void *)
BEGIN(Irecv, 1, 0, void *)
BEGIN(Send_init, 0, 1, const void *)
BEGIN(Recv_init, 1, 1, void *)

#if MPI_VERSION >= 4
static int do_Isendrecv_replace(void *b, int c, MPI_Datatype t, int d, int g, int s, int g2,
                                MPI_Comm m, MPI_Request *q)
{
    struct stage both = stage(b, c, t);
    int rc = REAL(MPI_Isendrecv_replace)(both.copy, c, t, d, g, s, g2, m, q);

    return keep(rc, both, *q, 1, 0);
}
BOTH(Isendrecv_replace,
     (void *b, int c, MPI_Datatype t, int d, int g, int s, int g2, MPI_Comm m, MPI_Request *q),
     (b, c, t, d, g, s, g2, m, q))
#endif

static int do_Start(MPI_Request *q)
{
    begins(*q);
    return REAL(MPI_Start)(q);
}
BOTH(Start, (MPI_Request * q), (q))

static int do_Startall(int n, MPI_Request *q)
{
    for (int i = 0; i < n; i++)
        begins(q[i]);
    return REAL(MPI_Startall)(n, q);
}
BOTH(Startall, (int n, MPI_Request *q), (n, q))

/* Its handle may be used again. */
static int do_Request_free(MPI_Request *q)
{
    struct started *one = find(*q);

    if (one)
        one->stage.device = NULL;
    return REAL(MPI_Request_free)(q);
}
BOTH(Request_free, (MPI_Request * q), (q))

static int do_Wait(MPI_Request *q, MPI_Status *u)
{
    MPI_Request before = *q;
    int rc = REAL(MPI_Wait)(q, u);

    over(before);
    return rc;
}
BOTH(Wait, (MPI_Request * q, MPI_Status *u), (q, u))

static int do_Test(MPI_Request *q, int *flag, MPI_Status *u)
{
    MPI_Request before = *q;
    int rc = REAL(MPI_Test)(q, flag, u);

    if (*flag)
        over(before);
    return rc;
}
BOTH(Test, (MPI_Request * q, int *flag, MPI_Status *u), (q, flag, u))

static MPI_Request *copy_of(const MPI_Request *q, int n)
{
    MPI_Request *copy = malloc(((size_t)n + 1) * sizeof *copy);

    memcpy(copy, q, (size_t)n * sizeof *copy);
    return copy;
}

static int do_Waitall(int n, MPI_Request *q, MPI_Status *u)
{
    MPI_Request *before = copy_of(q, n);
    int rc = REAL(MPI_Waitall)(n, q, u);

    for (int i = 0; i < n; i++)
        over(before[i]);
    free(before);
    return rc;
}
BOTH(Waitall, (int n, MPI_Request *q, MPI_Status *u), (n, q, u))

static int do_Testall(int n, MPI_Request *q, int *flag, MPI_Status *u)
{
    MPI_Request *before = copy_of(q, n);
    int rc = REAL(MPI_Testall)(n, q, flag, u);

    for (int i = 0; i < n && *flag; i++)
        over(before[i]);
    free(before);
    return rc;
}
BOTH(Testall, (int n, MPI_Request *q, int *flag, MPI_Status *u), (n, q, flag, u))

static int do_Waitany(int n, MPI_Request *q, int *index, MPI_Status *u)
{
    MPI_Request *before = copy_of(q, n);
    int rc = REAL(MPI_Waitany)(n, q, index, u);

    if (*index != MPI_UNDEFINED)
        over(before[*index]);
    free(before);
    return rc;
}
BOTH(Waitany, (int n, MPI_Request *q, int *index, MPI_Status *u), (n, q, index, u))

static int do_Testany(int n, MPI_Request *q, int *index, int *flag, MPI_Status *u)
{
    MPI_Request *before = copy_of(q, n);
    int rc = REAL(MPI_Testany)(n, q, index, flag, u);

    if (*flag && *index != MPI_UNDEFINED)
        over(before[*index]);
    free(before);
    return rc;
}
BOTH(Testany, (int n, MPI_Request *q, int *index, int *flag, MPI_Status *u), (n, q, index, flag, u))

#define SOME(name)                                                                                 \
    static int do_##name(int n, MPI_Request *q, int *count, int *indices, MPI_Status *u)           \
    {                                                                                              \
        MPI_Request *before = copy_of(q, n);                                                       \
        int rc = REAL(MPI_##name)(n, q, count, indices, u);                                        \
        for (int i = 0; *count != MPI_UNDEFINED && i < *count; i++)                                \
            over(before[indices[i]]);                                                              \
        free(before);                                                                              \
        return rc;                                                                                 \
    }                                                                                              \
    BOTH(name, (int n, MPI_Request *q, int *count, int *indices, MPI_Status *u),                   \
         (n, q, count, indices, u))

SOME(Waitsome)
SOME(Testsome)
