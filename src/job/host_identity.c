/* SPDX-License-Identifier: MIT */
#include "job/host_identity.h"

#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include "base/file.h"

/* FNV-1a. */
static uint64_t fold(uint64_t hash, const void *bytes, size_t count)
{
    const uint8_t *byte = bytes;

    for (size_t i = 0; i < count; i++)
        hash = (hash ^ byte[i]) * UINT64_C(0x100000001b3);
    return hash;
}

uint64_t rp_host_identity(void)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    struct rp_buffer text = {0};
    struct rp_problem why;
    struct utsname names;
    struct stat memory;

    if (rp_read_file("/proc/sys/kernel/random/boot_id", 4096, &text, &why) == RP_OK)
        hash = fold(hash, text.bytes, text.length);
    rp_buffer_free(&text);
    if (uname(&names) == 0)
        hash = fold(hash, names.nodename, strlen(names.nodename));
    if (stat("/dev/shm", &memory) == 0) {
        hash = fold(hash, &memory.st_dev, sizeof memory.st_dev);
        hash = fold(hash, &memory.st_ino, sizeof memory.st_ino);
    }
    return hash;
}
