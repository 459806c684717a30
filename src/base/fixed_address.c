/* SPDX-License-Identifier: MIT */
/*
 * Addresses are handed out in increasing order, from a range in which neither programs nor kernels
 * place anything by themselves: below all that mmap returns, within what the sanitizers regard as
 * memory of the program. No address is used twice.
 *
 * Whether a range is free may differ between two processes. So the next address advances by the
 * same amount whether or not the range was free: later ranges stay where they are.
 */
#include "base/fixed_address.h"

#include <stdint.h>
#include <sys/mman.h>

#if UINTPTR_MAX > 0xffffffff
static const uintptr_t first = 0x7e8000000000, behind = 0x7ec000000000;
#else
static const uintptr_t first = 0, behind = 0;
#endif
enum { PAGE = 65536 }; /* the largest page size of any machine */
static size_t taken;

static size_t whole(size_t size)
{
    return (size / PAGE + 1) * PAGE;
}

void *rp_fixed_take(size_t size)
{
    if (size >= behind - first || whole(size) > behind - first - taken)
        return NULL;
    void *wanted = (void *)(first + taken);
    taken += whole(size);
    void *memory = mmap(wanted, whole(size), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (memory == wanted)
        return memory;
    if (memory != MAP_FAILED) /* this kernel took the address as a hint */
        munmap(memory, whole(size));
    return NULL;
}

void rp_fixed_give(void *memory, size_t size)
{
    munmap(memory, whole(size));
}
