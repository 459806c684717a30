/* SPDX-License-Identifier: MIT */
/*
 * Nothing is asked of any driver before the program has loaded one. The loader counts the files
 * that it has loaded; only when that count has changed are their names looked at. Drivers are found
 * by their names, and used by dlsym: no header of theirs is needed. None is loaded here.
 *
 * What a driver says of an address is not kept. Memory can be freed and its addresses be used for
 * something else at any time, and no call shows that; the driver's answer costs less than a
 * microsecond, and a copy several. Only the program itself, the heap below sbrk(0) and the main
 * thread's stack can never become device memory; nothing is asked about these.
 *
 * Copies go through the per-thread default stream, which needs not be created and waits for the
 * legacy default stream alone: a kernel of another stream may be waiting for the host. A thread
 * need have no current context: that of the memory is made current for the copy; memory that has
 * none (of pools, or mapped by the program) is copied in the current one, or else in its device's
 * primary context.
 */
#include "base/device_memory.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/diagnostics.h"
#include "reprise.h"

/* What a driver says of an address. */
struct place {
    void *context; /* CUDA: NULL where the memory belongs to none */
    int device;
};

struct driver {
    const char *name, *file; /* the file's name begins so */
    const char *copy_name;   /* for messages */
    bool (*find)(void *library);
    bool (*ask)(const void *at, struct place *place);
    int (*copy)(void *to, const void *from, size_t bytes, const struct place *place);
};

/* Looks up `name` and stores its address in the function pointer at `slot`. */
static bool find_symbol(void *library, const char *name, void *slot)
{
    void *symbol = dlsym(library, name);

    memcpy(slot, &symbol, sizeof symbol);
    return symbol != NULL;
}

/* CUDA. The numbers are those of its header, where they never change. */

enum { CONTEXT = 1, MEMORY_TYPE = 2, IS_MANAGED = 8, DEVICE_ORDINAL = 9, TYPE_DEVICE = 2 };
#define PER_THREAD_STREAM ((void *)(uintptr_t)2) /* CU_STREAM_PER_THREAD, hipStreamPerThread */

static struct {
    int (*attributes)(unsigned count, const int *which, void **values, uintptr_t at);
    int (*current)(void **context);
    int (*push)(void *context);
    int (*pop)(void **context);
    int (*retain)(void **context, int device);
    int (*release)(int device);
    int (*copy)(uintptr_t to, uintptr_t from, size_t bytes, void *stream);
    int (*synchronize)(void *stream);
} cuda;

static bool find_cuda(void *library)
{
    return find_symbol(library, "cuPointerGetAttributes", &cuda.attributes) &&
           find_symbol(library, "cuCtxGetCurrent", &cuda.current) &&
           find_symbol(library, "cuCtxPushCurrent_v2", &cuda.push) &&
           find_symbol(library, "cuCtxPopCurrent_v2", &cuda.pop) &&
           find_symbol(library, "cuDevicePrimaryCtxRetain", &cuda.retain) &&
           find_symbol(library, "cuDevicePrimaryCtxRelease_v2", &cuda.release) &&
           find_symbol(library, "cuMemcpyAsync", &cuda.copy) &&
           find_symbol(library, "cuStreamSynchronize", &cuda.synchronize);
}

/* It says nothing of memory that is not its own, and is no error to ask for it. */
static bool ask_cuda(const void *at, struct place *place)
{
    static const int which[] = {MEMORY_TYPE, IS_MANAGED, CONTEXT, DEVICE_ORDINAL};
    unsigned type = 0, managed = 0;
    struct place found = {NULL, 0};
    void *values[] = {&type, &managed, &found.context, &found.device};

    if (cuda.attributes(4, which, values, (uintptr_t)at) != 0 || type != TYPE_DEVICE || managed & 1)
        return false;
    *place = found;
    return true;
}

static int copy_in_current(void *to, const void *from, size_t bytes)
{
    int rc = cuda.copy((uintptr_t)to, (uintptr_t)from, bytes, PER_THREAD_STREAM);

    return rc != 0 ? rc : cuda.synchronize(PER_THREAD_STREAM);
}

static int copy_in(void *context, void *to, const void *from, size_t bytes)
{
    int rc = cuda.push(context);

    if (rc != 0)
        return rc;
    rc = copy_in_current(to, from, bytes);
    cuda.pop(&context);
    return rc;
}

static int copy_cuda(void *to, const void *from, size_t bytes, const struct place *place)
{
    void *context = NULL;

    cuda.current(&context);
    if (context && (!place->context || context == place->context))
        return copy_in_current(to, from, bytes);
    if (place->context)
        return copy_in(place->context, to, from, bytes);
    int rc = cuda.retain(&context, place->device);
    if (rc != 0)
        return rc;
    rc = copy_in(context, to, from, bytes);
    cuda.release(place->device);
    return rc;
}

/* HIP. The values of the type of memory differ between its versions; the other fields do not. */

enum { COPY_DEFAULT = 4 };

struct hip_attributes {
    int type, device;
    void *device_pointer, *host_pointer;
    int is_managed;
    unsigned flags;
    char room[64]; /* for fields of later versions */
};

static struct {
    int (*attributes)(struct hip_attributes *attributes, const void *at);
    int (*peek_error)(void);
    int (*take_error)(void);
    int (*get_device)(int *device);
    int (*set_device)(int device);
    int (*copy)(void *to, const void *from, size_t bytes, int kind, void *stream);
    int (*synchronize)(void *stream);
} hip;

static bool find_hip(void *library)
{
    return find_symbol(library, "hipPointerGetAttributes", &hip.attributes) &&
           find_symbol(library, "hipPeekAtLastError", &hip.peek_error) &&
           find_symbol(library, "hipGetLastError", &hip.take_error) &&
           find_symbol(library, "hipGetDevice", &hip.get_device) &&
           find_symbol(library, "hipSetDevice", &hip.set_device) &&
           find_symbol(library, "hipMemcpyAsync", &hip.copy) &&
           find_symbol(library, "hipStreamSynchronize", &hip.synchronize);
}

/* It is an error to ask for other memory. The program must not see that error as its own. */
static bool ask_hip(const void *at, struct place *place)
{
    struct hip_attributes found = {0};
    int before = hip.peek_error();
    int rc = hip.attributes(&found, at);

    if (rc != 0 && before == 0)
        hip.take_error();
    if (rc != 0 || !found.device_pointer || found.host_pointer || found.is_managed)
        return false;
    *place = (struct place){NULL, found.device};
    return true;
}

static int copy_hip(void *to, const void *from, size_t bytes, const struct place *place)
{
    int device = place->device, rc = hip.get_device(&device);

    if (rc == 0 && device != place->device)
        rc = hip.set_device(place->device);
    if (rc == 0)
        rc = hip.copy(to, from, bytes, COPY_DEFAULT, PER_THREAD_STREAM);
    if (rc == 0)
        rc = hip.synchronize(PER_THREAD_STREAM);
    if (device != place->device)
        hip.set_device(device);
    return rc;
}

/* Drivers */

static const struct driver drivers[] = {
    {"CUDA", "libcuda.so", "cuMemcpyAsync", find_cuda, ask_cuda, copy_cuda},
    {"HIP", "libamdhip64.so", "hipMemcpyAsync", find_hip, ask_hip, copy_hip},
};
enum { DRIVERS = sizeof drivers / sizeof *drivers, PATH = 4096 };

static struct {
    pthread_mutex_t lock;
    _Atomic uint64_t looked;       /* the loader's count when names were last looked at */
    atomic_bool is_there[DRIVERS]; /* and can be used */
    atomic_bool any;               /* any is */
} state = {.lock = PTHREAD_MUTEX_INITIALIZER};

struct search {
    uint64_t count;
    char path[DRIVERS][PATH]; /* "": it is not loaded */
};

static int read_count(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)size;
    *(uint64_t *)data = info->dlpi_adds;
    return 1;
}

static int read_name(struct dl_phdr_info *info, size_t size, void *data)
{
    struct search *search = data;
    const char *slash = info->dlpi_name ? strrchr(info->dlpi_name, '/') : NULL,
               *name = slash ? slash + 1 : info->dlpi_name;

    (void)size;
    search->count = info->dlpi_adds;
    for (size_t i = 0; name && i < DRIVERS; i++)
        if (strncmp(name, drivers[i].file, strlen(drivers[i].file)) == 0 &&
            strlen(info->dlpi_name) < PATH)
            strcpy(search->path[i], info->dlpi_name);
    return 0;
}

static void open_driver(size_t i, const char *path)
{
    void *library = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);

    if (!library)
        return;
    if (drivers[i].find(library)) {
        atomic_store(&state.is_there[i], true);
        atomic_store(&state.any, true);
    } else {
        dlclose(library);
    }
}

static void look_for_drivers(void)
{
    struct search *search = calloc(1, sizeof *search);

    if (!search)
        rp_bug(__FILE__, __LINE__, "out of memory");
    pthread_mutex_lock(&state.lock);
    dl_iterate_phdr(read_name, search);
    for (size_t i = 0; i < DRIVERS; i++)
        if (search->path[i][0] && !state.is_there[i])
            open_driver(i, search->path[i]);
    atomic_store(&state.looked, search->count);
    pthread_mutex_unlock(&state.lock);
    free(search);
}

bool rp_device_has_driver(void)
{
    uint64_t count = 0;

    if (atomic_load_explicit(&state.any, memory_order_acquire))
        return true;
    dl_iterate_phdr(read_count, &count);
    if (count != atomic_load_explicit(&state.looked, memory_order_acquire))
        look_for_drivers();
    return atomic_load_explicit(&state.any, memory_order_acquire);
}

/* Addresses */

struct range {
    uintptr_t from, to;
};

static struct {
    struct range program; /* the main program and its variables */
    uintptr_t heap;       /* where the heap begins */
    pthread_t main;
} host;

/* Where the main thread's stack began; of glibc. */
extern __attribute__((weak)) void *__libc_stack_end;

static int read_program(struct dl_phdr_info *info, size_t size, void *data)
{
    struct range *range = data;

    (void)size;
    *range = (struct range){UINTPTR_MAX, 0};
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        uintptr_t from = info->dlpi_addr + part->p_vaddr;
        if (part->p_type != PT_LOAD)
            continue;
        range->from = from < range->from ? from : range->from;
        range->to = from + part->p_memsz > range->to ? from + part->p_memsz : range->to;
    }
    return 1; /* the program is the first */
}

/* The loader runs it in the main thread. */
__attribute__((constructor)) static void look_at_host(void)
{
    host.main = pthread_self();
    host.heap = (uintptr_t)sbrk(0);
    dl_iterate_phdr(read_program, &host.program);
}

static bool is_in(uintptr_t address, uintptr_t from, uintptr_t to)
{
    return address >= from && address < to;
}

static bool is_surely_host(const void *at)
{
    uintptr_t address = (uintptr_t)at;

    if (is_in(address, host.heap, (uintptr_t)sbrk(0)) ||
        is_in(address, host.program.from, host.program.to))
        return true;
    return &__libc_stack_end && pthread_equal(pthread_self(), host.main) &&
           is_in(address, (uintptr_t)__builtin_frame_address(0), (uintptr_t)__libc_stack_end);
}

static const struct driver *driver_of(const void *at, struct place *place)
{
    if (is_surely_host(at) || !rp_device_has_driver())
        return NULL;
    for (size_t i = 0; i < DRIVERS; i++)
        if (state.is_there[i] && drivers[i].ask(at, place))
            return &drivers[i];
    return NULL;
}

bool rp_is_device(const void *at)
{
    struct place place;

    return driver_of(at, &place) != NULL;
}

void rp_device_copy(void *to, const void *from, size_t bytes)
{
    struct place place;
    const struct driver *driver = bytes > 0 ? driver_of(to, &place) : NULL;

    if (bytes > 0 && !driver)
        driver = driver_of(from, &place);
    if (!driver) {
        memcpy(to, from, bytes);
        return;
    }
    int rc = driver->copy(to, from, bytes, &place);
    if (rc == 0)
        return;
    rp_error("%zu bytes of device memory of %s cannot be copied: %s failed with error %d", bytes,
             driver->name, driver->copy_name, rc);
    _exit(REPRISE_EXIT_INTERNAL);
}

const void *rp_device_read(const void *at, size_t bytes, void **copy)
{
    *copy = NULL;
    if (bytes == 0 || !rp_is_device(at))
        return at;
    *copy = malloc(bytes);
    if (!*copy)
        rp_bug(__FILE__, __LINE__, "out of memory for a message in device memory");
    rp_device_copy(*copy, at, bytes);
    return *copy;
}
