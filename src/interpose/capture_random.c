/* SPDX-License-Identifier: MIT */
/* Random bytes, which a replay answers from its record. */
#include <stdio.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#include "interpose/captured_values.h"
#include "preload/caller.h"

RP_ENTRY ssize_t getrandom(void *buffer, size_t size, unsigned flags)
{
    int32_t rc;

    if (__builtin_expect(rp_captured == 0, 1) || !rp_capture_is_ours(RP_CAPTURE_RANDOM, RP_CALLER))
        return RP_REAL(ssize_t(void *, size_t, unsigned), "getrandom")(buffer, size, flags);
    struct rp_call call = RP_CALL("getrandom");
    if (!rp_recalled_bytes(&call, buffer, size, &rc)) {
        rc = (int32_t)RP_REAL(ssize_t(void *, size_t, unsigned), "getrandom")(buffer, size, flags);
        rp_noted_bytes(&call, buffer, rc > 0 ? (size_t)rc : 0, rc);
    }
    return rc;
}

RP_ENTRY int getentropy(void *buffer, size_t size)
{
    int32_t rc;

    if (__builtin_expect(rp_captured == 0, 1) || !rp_capture_is_ours(RP_CAPTURE_RANDOM, RP_CALLER))
        return RP_REAL(int(void *, size_t), "getentropy")(buffer, size);
    struct rp_call call = RP_CALL("getentropy");
    if (!rp_recalled_bytes(&call, buffer, size, &rc)) {
        rc = RP_REAL(int(void *, size_t), "getentropy")(buffer, size);
        rp_noted_bytes(&call, buffer, rc == 0 ? size : 0, rc);
    }
    return rc;
}

/* Not every C library has these, so they are declared here. */
uint32_t arc4random(void);
void arc4random_buf(void *buffer, size_t size);
uint32_t arc4random_uniform(uint32_t below);

RP_ENTRY uint32_t arc4random(void)
{
    int32_t value;
    uint64_t unused;

    if (__builtin_expect(rp_captured == 0, 1) || !rp_capture_is_ours(RP_CAPTURE_RANDOM, RP_CALLER))
        return RP_REAL(uint32_t(void), "arc4random")();
    struct rp_call call = RP_CALL("arc4random");
    if (!rp_recalled(&call, &value, &unused)) {
        value = (int32_t)RP_REAL(uint32_t(void), "arc4random")();
        rp_noted(&call, value, 0);
    }
    return (uint32_t)value;
}

RP_ENTRY void arc4random_buf(void *buffer, size_t size)
{
    int32_t unused;

    if (__builtin_expect(rp_captured == 0, 1) ||
        !rp_capture_is_ours(RP_CAPTURE_RANDOM, RP_CALLER)) {
        RP_REAL(void(void *, size_t), "arc4random_buf")(buffer, size);
        return;
    }
    struct rp_call call = RP_CALL("arc4random_buf");
    if (!rp_recalled_bytes(&call, buffer, size, &unused)) {
        RP_REAL(void(void *, size_t), "arc4random_buf")(buffer, size);
        rp_noted_bytes(&call, buffer, size, 0);
    }
}

RP_ENTRY uint32_t arc4random_uniform(uint32_t below)
{
    int32_t value;
    uint64_t unused;

    if (__builtin_expect(rp_captured == 0, 1) || !rp_capture_is_ours(RP_CAPTURE_RANDOM, RP_CALLER))
        return RP_REAL(uint32_t(uint32_t), "arc4random_uniform")(below);
    struct rp_call call = RP_CALL("arc4random_uniform");
    if (!rp_recalled(&call, &value, &unused)) {
        value = (int32_t)RP_REAL(uint32_t(uint32_t), "arc4random_uniform")(below);
        rp_noted(&call, value, 0);
    }
    return (uint32_t)value;
}

static bool is_random_device(int fd)
{
    struct stat about;

    return fstat(fd, &about) == 0 && S_ISCHR(about.st_mode) && major(about.st_rdev) == 1 &&
           (minor(about.st_rdev) == 8 || minor(about.st_rdev) == 9);
}

static bool is_random_read(int fd, uintptr_t caller)
{
    return __builtin_expect(rp_captured != 0, 0) && rp_capture_is_ours(RP_CAPTURE_RANDOM, caller) &&
           is_random_device(fd);
}

static ssize_t read_random(const struct rp_call *call, int fd, void *buffer, size_t size)
{
    int32_t rc;

    if (!rp_recalled_bytes(call, buffer, size, &rc)) {
        rc = (int32_t)RP_REAL(ssize_t(int, void *, size_t), "read")(fd, buffer, size);
        rp_noted_bytes(call, buffer, rc > 0 ? (size_t)rc : 0, rc);
    }
    return rc;
}

static size_t fread_random(const struct rp_call *call, void *buffer, size_t size, size_t count,
                           FILE *file)
{
    int32_t rc;

    if (!rp_recalled_bytes(call, buffer, size * count, &rc)) {
        rc = (int32_t)RP_REAL(size_t(void *, size_t, size_t, FILE *), "fread")(buffer, size, count,
                                                                               file);
        rp_noted_bytes(call, buffer, (size_t)rc * size, rc);
    }
    return (size_t)rc;
}

RP_ENTRY ssize_t read(int fd, void *buffer, size_t size)
{
    if (__builtin_expect(!is_random_read(fd, RP_CALLER), 1))
        return RP_REAL(ssize_t(int, void *, size_t), "read")(fd, buffer, size);
    struct rp_call call = RP_CALL("read");
    return read_random(&call, fd, buffer, size);
}

/* A random device has no offsets: `at` is ignored. */
RP_ENTRY ssize_t pread(int fd, void *buffer, size_t size, off_t at)
{
    if (__builtin_expect(!is_random_read(fd, RP_CALLER), 1))
        return RP_REAL(ssize_t(int, void *, size_t, off_t), "pread")(fd, buffer, size, at);
    struct rp_call call = RP_CALL("pread");
    return read_random(&call, fd, buffer, size);
}

RP_ENTRY ssize_t pread64(int fd, void *buffer, size_t size, off64_t at)
{
    if (__builtin_expect(!is_random_read(fd, RP_CALLER), 1))
        return RP_REAL(ssize_t(int, void *, size_t, off64_t), "pread64")(fd, buffer, size, at);
    struct rp_call call = RP_CALL("pread");
    return read_random(&call, fd, buffer, size);
}

RP_ENTRY ssize_t readv(int fd, const struct iovec *parts, int count)
{
    ssize_t sum = 0;

    if (__builtin_expect(!is_random_read(fd, RP_CALLER), 1))
        return RP_REAL(ssize_t(int, const struct iovec *, int), "readv")(fd, parts, count);
    struct rp_call call = RP_CALL("readv");
    for (int i = 0; i < count; i++) {
        ssize_t got = read_random(&call, fd, parts[i].iov_base, parts[i].iov_len);
        if (got < 0)
            return sum > 0 ? sum : got;
        sum += got;
    }
    return sum;
}

RP_ENTRY size_t fread(void *restrict buffer, size_t size, size_t count, FILE *restrict file)
{
    if (__builtin_expect(rp_captured == 0, 1) || !is_random_read(fileno(file), RP_CALLER))
        return RP_REAL(size_t(void *, size_t, size_t, FILE *), "fread")(buffer, size, count, file);
    struct rp_call call = RP_CALL("fread");
    return fread_random(&call, buffer, size, count, file);
}

/* The compiler calls these instead where it checks buffer sizes (_FORTIFY_SOURCE). */

RP_ENTRY ssize_t __read_chk(int fd, void *buffer, size_t size, size_t room);
RP_ENTRY ssize_t __read_chk(int fd, void *buffer, size_t size, size_t room)
{
    if (__builtin_expect(size > room || !is_random_read(fd, RP_CALLER), 1))
        return RP_REAL(ssize_t(int, void *, size_t, size_t), "__read_chk")(fd, buffer, size, room);
    struct rp_call call = RP_CALL("read");
    return read_random(&call, fd, buffer, size);
}

RP_ENTRY size_t __fread_chk(void *restrict buffer, size_t room, size_t size, size_t count,
                            FILE *restrict file);
RP_ENTRY size_t __fread_chk(void *restrict buffer, size_t room, size_t size, size_t count,
                            FILE *restrict file)
{
    if (__builtin_expect(rp_captured == 0, 1) || size * count > room ||
        !is_random_read(fileno(file), RP_CALLER))
        return RP_REAL(size_t(void *, size_t, size_t, size_t, FILE *),
                       "__fread_chk")(buffer, room, size, count, file);
    struct rp_call call = RP_CALL("fread");
    return fread_random(&call, buffer, size, count, file);
}

/* std::random_device::_M_getval(), which may use an instruction of the processor. */
RP_ENTRY unsigned _ZNSt13random_device9_M_getvalEv(void *self);
RP_ENTRY unsigned _ZNSt13random_device9_M_getvalEv(void *self)
{
    int32_t value;
    uint64_t unused;

    if (__builtin_expect(rp_captured == 0, 1) || !rp_capture_is_ours(RP_CAPTURE_RANDOM, RP_CALLER))
        return RP_REAL(unsigned(void *), "_ZNSt13random_device9_M_getvalEv")(self);
    struct rp_call call = RP_CALL("std::random_device");
    if (!rp_recalled(&call, &value, &unused)) {
        rp_thread_state.depth++;
        value = (int32_t)RP_REAL(unsigned(void *), "_ZNSt13random_device9_M_getvalEv")(self);
        rp_thread_state.depth--;
        rp_noted(&call, value, 0);
    }
    return (unsigned)value;
}
