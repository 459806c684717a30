/* SPDX-License-Identifier: MIT */
/* Memory of a GPU by the driver that the environment names, GPU=cuda or GPU=hip. No context is
 * current except in these functions. */
#ifndef DEVICE_GPU_H
#define DEVICE_GPU_H

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
    void *library, *context;
    int is_hip;
    int (*push)(void *), (*pop)(void **);
    int (*alloc)(uintptr_t *, size_t), (*release)(uintptr_t);
    int (*write)(uintptr_t, const void *, size_t), (*read)(void *, uintptr_t, size_t);
    int (*attribute)(void *, int, uintptr_t);
    int (*copy)(void *, const void *, size_t, int);
    int (*last_error)(void);
} gpu;

static inline void gpu_check(int rc, const char *what)
{
    if (rc == 0)
        return;
    fprintf(stderr, "gpu: %s: error %d\n", what, rc);
    exit(4);
}

static inline void gpu_find(const char *name, void *slot)
{
    void *symbol = dlsym(gpu.library, name);

    gpu_check(!symbol, name);
    memcpy(slot, &symbol, sizeof symbol);
}

static inline void gpu_open(void)
{
    const char *which = getenv("GPU");
    int (*init)(unsigned), (*get)(int *, int), (*retain)(void **, int), device;

    if (gpu.library)
        return;
    gpu.is_hip = which && strcmp(which, "hip") == 0;
    gpu.library = dlopen(gpu.is_hip ? "libamdhip64.so.6" : "libcuda.so.1", RTLD_NOW);
    gpu_check(!gpu.library, dlerror());
    if (gpu.is_hip) {
        gpu_find("hipMalloc", &gpu.alloc);
        gpu_find("hipFree", &gpu.release);
        gpu_find("hipMemcpy", &gpu.copy);
        gpu_find("hipPointerGetAttribute", &gpu.attribute);
        gpu_find("hipPeekAtLastError", &gpu.last_error);
        return;
    }
    gpu_find("cuInit", &init);
    gpu_find("cuDeviceGet", &get);
    gpu_find("cuDevicePrimaryCtxRetain", &retain);
    gpu_find("cuCtxPushCurrent_v2", &gpu.push);
    gpu_find("cuCtxPopCurrent_v2", &gpu.pop);
    gpu_find("cuMemAlloc_v2", &gpu.alloc);
    gpu_find("cuMemFree_v2", &gpu.release);
    gpu_find("cuMemcpyHtoD_v2", &gpu.write);
    gpu_find("cuMemcpyDtoH_v2", &gpu.read);
    gpu_find("cuPointerGetAttribute", &gpu.attribute);
    gpu_check(init(0), "cuInit");
    gpu_check(get(&device, 0), "cuDeviceGet");
    gpu_check(retain(&gpu.context, device), "cuDevicePrimaryCtxRetain");
}

static inline void gpu_enter(void)
{
    if (!gpu.is_hip)
        gpu_check(gpu.push(gpu.context), "cuCtxPushCurrent");
}

static inline void gpu_leave(void)
{
    void *context;

    if (!gpu.is_hip)
        gpu_check(gpu.pop(&context), "cuCtxPopCurrent");
}

static inline void *gpu_alloc(size_t bytes)
{
    uintptr_t memory = 0;

    gpu_enter();
    gpu_check(gpu.alloc(&memory, bytes), "allocate");
    gpu_leave();
    return (void *)memory;
}

static inline void gpu_free(void *memory)
{
    gpu_enter();
    gpu_check(gpu.release((uintptr_t)memory), "free");
    gpu_leave();
}

static inline void gpu_write(void *to, const void *from, size_t bytes)
{
    gpu_enter();
    gpu_check(gpu.is_hip ? gpu.copy(to, from, bytes, 1) : gpu.write((uintptr_t)to, from, bytes),
              "copy to the device");
    gpu_leave();
}

static inline void gpu_read(void *to, const void *from, size_t bytes)
{
    gpu_enter();
    gpu_check(gpu.is_hip ? gpu.copy(to, from, bytes, 2) : gpu.read(to, (uintptr_t)from, bytes),
              "copy from the device");
    gpu_leave();
}

/* Whether it is memory of the device. */
static inline int gpu_is(const void *at)
{
    unsigned type = 0, managed = 0;

    if (gpu.is_hip)
        return gpu.attribute(&type, 2, (uintptr_t)at) == 0 && type == 2;
    return gpu.attribute(&type, 2, (uintptr_t)at) == 0 && type == 2 &&
           (gpu.attribute(&managed, 8, (uintptr_t)at) != 0 || !managed);
}

#endif
