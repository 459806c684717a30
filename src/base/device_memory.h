/* SPDX-License-Identifier: MIT */
/* Memory of GPUs that the processor cannot load from or store to. It is copied through the driver
 * that the program uses (CUDA: libcuda.so.1, HIP: libamdhip64.so). Managed memory and pinned host
 * memory are host memory here. */
#ifndef RP_DEVICE_MEMORY_H
#define RP_DEVICE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

/* Returns whether this process has loaded a driver, so that pointers may be of device memory. */
bool rp_device_has_driver(void);

/* Returns whether `at` is in device memory. `at` may be any address. */
bool rp_is_device(const void *at);

/* memcpy, where `to` and `from` may be in device memory, each in one allocation. Complete on
 * return. It is ordered behind the calling thread's and the legacy default stream, as cudaMemcpy
 * is. A driver that cannot copy ends the process with a message. */
void rp_device_copy(void *to, const void *from, size_t bytes);

/* Returns where the host can read the `bytes` at `at`: there, or in a copy. *copy gets what the
 * caller must free, or NULL. */
const void *rp_device_read(const void *at, size_t bytes, void **copy);

#endif
