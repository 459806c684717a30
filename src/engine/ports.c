/* SPDX-License-Identifier: MIT */
#include "engine/ports.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/diagnostics.h"
#include "base/file.h"
#include "entry/refuse.h"
#include "peers/peer_reprise.h"
#include "reprise.h"

static char base[PATH_MAX];

void rp_ports_open(const char *path)
{
    snprintf(base, sizeof base, "%s", path);
}

const char *rp_ports_base(void)
{
    return base;
}

uint64_t rp_ports_hash(const char *name)
{
    uint64_t hash = 0xcbf29ce484222325u;

    for (const char *at = name; *at; at++)
        hash = (hash ^ (uint8_t)*at) * 0x100000001b3u;
    return hash;
}

static void path_of(const char *port, char path[PATH_MAX + 32])
{
    snprintf(path, PATH_MAX + 32, "%sport-%016llx", base, (unsigned long long)rp_ports_hash(port));
}

static int open_file(const char *port, int flags)
{
    char path[PATH_MAX + 32];

    path_of(port, path);
    return open(path, O_RDWR | O_CLOEXEC | flags, RP_PRIVATE_FILE);
}

void rp_ports_add(const char *port)
{
    int fd = open_file(port, O_CREAT | O_TRUNC);

    if (fd < 0 || ftruncate(fd, sizeof(struct rp_port)) != 0)
        rp_error("MPI_Open_port: no file %sport-* can be made: clients will be refused", base);
    if (fd >= 0)
        close(fd);
}

void rp_ports_remove(const char *port)
{
    char path[PATH_MAX + 32];

    path_of(port, path);
    unlink(path);
}

__attribute__((noreturn)) static void refuse(const char *function, const char *why)
{
    rp_error("%s: %s, so the program is stopped here rather than replayed wrongly; '--allow %s' "
             "lets it through unrecorded",
             function, why, function);
    reprise_refused(function);
    rp_end_job(REPRISE_EXIT_UNSUPPORTED);
}

static struct rp_port *map(const char *port)
{
    struct stat about;
    int fd = open_file(port, 0);
    void *memory =
        fd >= 0 && fstat(fd, &about) == 0 && (size_t)about.st_size >= sizeof(struct rp_port)
            ? mmap(NULL, sizeof(struct rp_port), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)
            : MAP_FAILED;

    if (fd >= 0)
        close(fd);
    return memory == MAP_FAILED ? NULL : memory;
}

struct rp_port *rp_ports_enter(const char *function, const char *port)
{
    struct rp_port *mapped = map(port);

    if (!mapped)
        refuse(function, "no process of this record has opened that port");
    return mapped;
}

void rp_ports_leave(struct rp_port *port)
{
    munmap(port, sizeof *port);
}

int rp_ports_lock(const char *port)
{
    int fd = open_file(port, 0);

    if (fd >= 0)
        flock(fd, LOCK_EX);
    return fd;
}

void rp_ports_unlock(int lock)
{
    if (lock >= 0)
        close(lock);
}

/* A client takes its ticket before it connects. */
void rp_ports_accepted(const char *function, const char *port)
{
    struct rp_port *mapped = rp_ports_enter(function, port);
    bool is_ours = atomic_fetch_add(&mapped->accepted, 1) < atomic_load(&mapped->asked);

    rp_ports_leave(mapped);
    if (!is_ours)
        refuse(function, "a process connected that is not of this record");
}
