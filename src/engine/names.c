/* SPDX-License-Identifier: MIT */
#include "engine/names.h"

#include <mpi.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/diagnostics.h"
#include "base/file.h"
#include "engine/ports.h"

static atomic_uint published; /* by this process */
static struct file {
    char *path;
    struct file *next;
} * _Atomic files;

/* A publication is numbered by its process, and how many that one made before. Never 0. */
static uint64_t next_publication(const char *process)
{
    char text[64];

    snprintf(text, sizeof text, "%s %u", process, atomic_fetch_add(&published, 1));
    return rp_ports_hash(text) | 1;
}

static uint64_t number_of(const char *service, const char *port)
{
    return rp_ports_hash(service) * 31 + rp_ports_hash(port);
}

static char *path_of(uint64_t number)
{
    char *path = NULL;

    return asprintf(&path, "%sname-%016llx", rp_ports_base(), (unsigned long long)number) < 0
               ? NULL
               : path;
}

/* Another process finds all of it, or nothing. */
static void put(uint64_t number, const void *bytes, size_t length)
{
    struct file *file = calloc(1, sizeof *file);
    struct rp_problem why;
    char *path = path_of(number), *fresh = NULL;

    if (!file || !path || asprintf(&fresh, "%s.%d", path, (int)getpid()) < 0 ||
        rp_write_new_file(fresh, bytes, length, &why) != RP_OK || rename(fresh, path) != 0) {
        rp_error("MPI_Publish_name: no file %sname-* can be made: lookups depend on time",
                 rp_ports_base());
        free(path);
        free(file);
    } else {
        file->path = path;
        file->next = atomic_load(&files);
        while (!atomic_compare_exchange_weak(&files, &file->next, file))
            ;
    }
    free(fresh);
}

static size_t get(uint64_t number, void *bytes, size_t room)
{
    char *path = path_of(number);
    FILE *file = path ? fopen(path, "re") : NULL;
    size_t length = file ? fread(bytes, 1, room, file) : 0;

    if (file)
        fclose(file);
    free(path);
    return length;
}

void rp_names_record(const char *process, const char *service, const char *port)
{
    uint64_t publication = next_publication(process);

    put(number_of(service, port), &publication, sizeof publication);
}

uint64_t rp_names_recorded(const char *service, const char *port)
{
    uint64_t publication;

    return get(number_of(service, port), &publication, sizeof publication) == sizeof publication
               ? publication
               : 0;
}

void rp_names_replay(const char *process, const char *port)
{
    put(next_publication(process), port, strlen(port));
}

bool rp_names_replayed(uint64_t publication, char *port)
{
    size_t length = get(publication, port, MPI_MAX_PORT_NAME - 1);

    port[length] = 0;
    return length > 0;
}

void rp_names_end(void)
{
    for (struct file *file = atomic_exchange(&files, NULL), *next; file; file = next) {
        next = file->next;
        unlink(file->path);
        free(file->path);
        free(file);
    }
}
