/* SPDX-License-Identifier: MIT */
/* Process ids and names of hosts, which a replay answers from its record. */
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "interpose/captured_values.h"
#include "preload/caller.h"

RP_ENTRY pid_t getpid(void)
{
    int32_t value;
    uint64_t unused;

    if (__builtin_expect(rp_captured == 0, 1) || !rp_capture_is_ours(RP_CAPTURE_PID, RP_CALLER))
        return RP_REAL(pid_t(void), "getpid")();
    struct rp_call call = RP_CALL("getpid");
    if (!rp_recalled(&call, &value, &unused)) {
        value = RP_REAL(pid_t(void), "getpid")();
        rp_noted(&call, value, 0);
    } else {
        rp_capture_told_pid = value;
    }
    return value;
}

RP_ENTRY pid_t getppid(void)
{
    int32_t value;
    uint64_t unused;

    if (__builtin_expect(rp_captured == 0, 1) || !rp_capture_is_ours(RP_CAPTURE_PID, RP_CALLER))
        return (pid_t)syscall(SYS_getppid);
    struct rp_call call = RP_CALL("getppid");
    if (!rp_recalled(&call, &value, &unused)) {
        value = (pid_t)syscall(SYS_getppid);
        rp_noted(&call, value, 0);
    } else {
        rp_capture_told_parent = value;
    }
    return value;
}

static int host_name(const struct rp_call *call, char *name, size_t size)
{
    int32_t rc;

    if (!rp_recalled_bytes(call, name, size, &rc)) {
        rc = RP_REAL(int(char *, size_t), "gethostname")(name, size);
        rp_noted_bytes(call, name, rc == 0 ? strnlen(name, size - 1) + 1 : 0, rc);
    }
    return rc;
}

RP_ENTRY int gethostname(char *name, size_t size)
{
    if (__builtin_expect(rp_captured == 0, 1) || !rp_capture_is_ours(RP_CAPTURE_HOST, RP_CALLER))
        return RP_REAL(int(char *, size_t), "gethostname")(name, size);
    struct rp_call call = RP_CALL("gethostname");
    return host_name(&call, name, size);
}

RP_ENTRY int __gethostname_chk(char *name, size_t size, size_t room);
RP_ENTRY int __gethostname_chk(char *name, size_t size, size_t room)
{
    if (__builtin_expect(rp_captured == 0, 1) || size > room ||
        !rp_capture_is_ours(RP_CAPTURE_HOST, RP_CALLER))
        return RP_REAL(int(char *, size_t, size_t), "__gethostname_chk")(name, size, room);
    struct rp_call call = RP_CALL("gethostname");
    return host_name(&call, name, size);
}

RP_ENTRY int uname(struct utsname *about)
{
    int32_t rc;

    if (__builtin_expect(rp_captured == 0, 1) || !rp_capture_is_ours(RP_CAPTURE_HOST, RP_CALLER))
        return RP_REAL(int(struct utsname *), "uname")(about);
    struct rp_call call = RP_CALL("uname");
    if (!rp_recalled_bytes(&call, about, sizeof *about, &rc)) {
        rc = RP_REAL(int(struct utsname *), "uname")(about);
        rp_noted_bytes(&call, about, rc == 0 ? sizeof *about : 0, rc);
    }
    return rc;
}
