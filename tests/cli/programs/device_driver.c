/* SPDX-License-Identifier: MIT */
/*
 * A driver of a GPU that does not exist: of CUDA, or with HIP defined of HIP. Its device memory has
 * two mappings: the program gets one that it cannot access, the driver uses the other. Copies
 * happen when the stream is synchronised, and only in threads that have a current context. Every
 * second piece of memory belongs to no context, as that of pools does. Addresses that were freed
 * become memory of the host. At its end it writes how often it was asked about addresses to the
 * file DRIVER_ASKED.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define ENTRY __attribute__((visibility("default")))

enum { INVALID = 1, NO_CONTEXT = 201, MOST = 4096, QUEUE = 64, PER_THREAD = 2 };

struct piece {
    char *at, *real;
    size_t bytes;
    int has_context, is_managed;
};

struct copy {
    void *to;
    const void *from;
    size_t bytes;
};

static struct piece pieces[MOST];
static int made, asked;
static __thread int queued;
static __thread struct copy queue[QUEUE];

static struct piece *find(const void *at)
{
    for (int i = 0; i < MOST; i++)
        if (pieces[i].at && (const char *)at >= pieces[i].at &&
            (const char *)at < pieces[i].at + pieces[i].bytes)
            return &pieces[i];
    return NULL;
}

static void *there(const void *at)
{
    struct piece *piece = find(at);

    return piece ? piece->real + ((const char *)at - piece->at) : (void *)(uintptr_t)at;
}

static int allocate(void **to, size_t bytes, int is_managed)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), whole = (bytes + page - 1) / page * page;
    int file = memfd_create("device", 0);
    struct piece *piece = &pieces[0];

    while (piece->at)
        piece++;
    if (file < 0 || ftruncate(file, (off_t)whole) != 0)
        return INVALID;
    piece->at =
        mmap(NULL, whole, is_managed ? PROT_READ | PROT_WRITE : PROT_NONE, MAP_SHARED, file, 0);
    piece->real = mmap(NULL, whole, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    piece->bytes = whole;
    piece->has_context = made++ % 2 == 0;
    piece->is_managed = is_managed;
    memset(piece->real, 0x5a, whole);
    *to = piece->at;
    return 0;
}

static int release(const void *at)
{
    struct piece *piece = find(at);

    if (!piece)
        return INVALID;
    munmap(piece->real, piece->bytes);
    mmap(piece->at, piece->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
         -1, 0);
    piece->at = NULL;
    return 0;
}

static void copy_now(void *to, const void *from, size_t bytes)
{
    memmove(there(to), there(from), bytes);
}

static int copy_later(void *to, const void *from, size_t bytes, void *stream)
{
    if (queued == QUEUE || stream != (void *)PER_THREAD)
        return INVALID;
    queue[queued++] = (struct copy){to, from, bytes};
    return 0;
}

static int synchronize(void *stream)
{
    if (stream != (void *)PER_THREAD)
        return INVALID;
    for (int i = 0; i < queued; i++)
        copy_now(queue[i].to, queue[i].from, queue[i].bytes);
    queued = 0;
    return 0;
}

__attribute__((destructor)) static void tell(void)
{
    FILE *file = getenv("DRIVER_ASKED") ? fopen(getenv("DRIVER_ASKED"), "a") : NULL;

    if (file) {
        fprintf(file, "asked %d\n", asked);
        fclose(file);
    }
}

#ifndef HIP

static __thread int depth;
static __thread void *contexts[16];
static int primary;

ENTRY int cuInit(unsigned flags)
{
    return (int)flags;
}

ENTRY int cuDeviceGet(int *device, int number)
{
    *device = number;
    return 0;
}

ENTRY int cuDevicePrimaryCtxRetain(void **context, int device)
{
    (void)device;
    *context = &primary;
    return 0;
}

ENTRY int cuDevicePrimaryCtxRelease_v2(int device)
{
    return device;
}

ENTRY int cuCtxPushCurrent_v2(void *context)
{
    contexts[++depth] = context;
    return 0;
}

ENTRY int cuCtxPopCurrent_v2(void **context)
{
    *context = contexts[depth--];
    return 0;
}

ENTRY int cuCtxGetCurrent(void **context)
{
    *context = contexts[depth];
    return 0;
}

ENTRY int cuMemAlloc_v2(uintptr_t *to, size_t bytes)
{
    return allocate((void **)to, bytes, 0);
}

ENTRY int cuMemAllocManaged(uintptr_t *to, size_t bytes, unsigned flags)
{
    (void)flags;
    return allocate((void **)to, bytes, 1);
}

ENTRY int cuMemFree_v2(uintptr_t at)
{
    return release((void *)at);
}

ENTRY int cuPointerGetAttribute(void *value, int which, uintptr_t at)
{
    struct piece *piece = find((void *)at);

    if (!piece)
        return INVALID;
    switch (which) {
    case 1:
        *(void **)value = piece->has_context ? &primary : NULL;
        return 0;
    case 2:
        *(unsigned *)value = 2;
        return 0;
    case 8:
        *(unsigned *)value = (unsigned)piece->is_managed;
        return 0;
    case 9:
        *(int *)value = 0;
        return 0;
    default:
        return INVALID;
    }
}

/* Does not fail for other memory. */
ENTRY int cuPointerGetAttributes(unsigned count, const int *which, void **values, uintptr_t at)
{
    asked++;
    for (unsigned i = 0; i < count; i++)
        if (cuPointerGetAttribute(values[i], which[i], at) != 0)
            memset(values[i], 0, which[i] == 1 ? sizeof(void *) : sizeof(int));
    return 0;
}

ENTRY int cuMemcpyAsync(uintptr_t to, uintptr_t from, size_t bytes, void *stream)
{
    return contexts[depth] ? copy_later((void *)to, (void *)from, bytes, stream) : NO_CONTEXT;
}

ENTRY int cuStreamSynchronize(void *stream)
{
    return contexts[depth] ? synchronize(stream) : NO_CONTEXT;
}

ENTRY int cuMemcpyHtoD_v2(uintptr_t to, const void *from, size_t bytes)
{
    if (!contexts[depth])
        return NO_CONTEXT;
    copy_now((void *)to, from, bytes);
    return 0;
}

ENTRY int cuMemcpyDtoH_v2(void *to, uintptr_t from, size_t bytes)
{
    if (!contexts[depth])
        return NO_CONTEXT;
    copy_now(to, (void *)from, bytes);
    return 0;
}

#else

static __thread int device, last_error;

struct attributes {
    int type, device;
    void *device_pointer, *host_pointer;
    int is_managed;
    unsigned flags;
};

static int failed(int rc)
{
    if (rc)
        last_error = rc;
    return rc;
}

ENTRY int hipMalloc(void **to, size_t bytes)
{
    return failed(allocate(to, bytes, 0));
}

ENTRY int hipFree(void *at)
{
    return failed(release(at));
}

ENTRY int hipMemcpy(void *to, const void *from, size_t bytes, int kind)
{
    (void)kind;
    copy_now(to, from, bytes);
    return 0;
}

ENTRY int hipMemcpyAsync(void *to, const void *from, size_t bytes, int kind, void *stream)
{
    return failed(kind == 4 ? copy_later(to, from, bytes, stream) : INVALID);
}

ENTRY int hipStreamSynchronize(void *stream)
{
    return failed(synchronize(stream));
}

ENTRY int hipGetDevice(int *number)
{
    *number = device;
    return 0;
}

ENTRY int hipSetDevice(int number)
{
    device = number;
    return 0;
}

ENTRY int hipPeekAtLastError(void)
{
    return last_error;
}

ENTRY int hipGetLastError(void)
{
    int error = last_error;

    last_error = 0;
    return error;
}

ENTRY int hipPointerGetAttributes(struct attributes *attributes, const void *at)
{
    struct piece *piece = find(at);

    asked++;
    if (!piece)
        return failed(INVALID);
    *attributes = (struct attributes){2, 0, (void *)(uintptr_t)at, NULL, 0, 0};
    return 0;
}

/* Of the test alone: leaves no error. */
ENTRY int hipPointerGetAttribute(void *value, int which, void *at)
{
    if (which != 2 || !find(at))
        return INVALID;
    *(unsigned *)value = 2;
    return 0;
}

#endif
