/* SPDX-License-Identifier: MIT */
/*
 * A rank holds a lock on its log while it writes it, and counts its events in the ring beside it,
 * which other processes can read. A log that is not locked is opened by the reader of logs. If the
 * log ends between these two steps, both are done again.
 */
#include "log/progress.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "event/ring.h"
#include "log/jobs.h"
#include "log/logreader.h"
#include "log/logwriter.h"

/* RP_BUSY: somebody writes it. */
static enum rp_status look_at_file(const char *path, struct rp_rank_progress *out,
                                   struct rp_problem *why)
{
    struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET};
    struct stat st;
    int fd = rp_open_regular(path, O_RDONLY);

    if (fd < 0)
        return errno == ENOENT ? RP_OK : rp_fail_open(why, path, errno);
    if (fstat(fd, &st) == 0)
        out->bytes = (uint64_t)st.st_size;
    bool locked = fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
    close(fd);
    out->state = locked ? RP_PROGRESS_WRITTEN : RP_PROGRESS_ENDED;
    out->pid = locked ? lock.l_pid : 0;
    return locked ? RP_BUSY : RP_OK;
}

static enum rp_status look_at_ring(const char *directory, uint64_t run, uint32_t rank,
                                   struct rp_rank_progress *out, struct rp_problem *why)
{
    struct rp_ring_place place;
    char *path = rp_ring_path(directory, rank, 0);

    if (!path)
        return rp_fail(why, RP_MEMORY, "out of memory");
    enum rp_status status = rp_ring_peek(path, run, rank, 0, &place, why);
    free(path);
    if (status == RP_OK) {
        out->events = place.events;
        out->polls = place.polls;
    }
    return status;
}

static enum rp_status look_at_end(const char *directory, const struct rp_manifest *m, uint32_t rank,
                                  struct rp_rank_progress *out, struct rp_problem *why)
{
    struct rp_log *log;
    enum rp_status status = rp_log_open(directory, m->run, rank, m->ranks, &log, why);

    if (status != RP_OK)
        return status;
    struct rp_log_end end = rp_log_end(log);
    out->events = end.events;
    out->bytes = rp_log_size(log);
    out->reason = end.reason;
    out->code = end.code;
    rp_log_free(log);
    return RP_OK;
}

static enum rp_status read_rank(const char *directory, const struct rp_manifest *m, uint32_t rank,
                                struct rp_rank_progress *out, struct rp_problem *why)
{
    enum { TRIES = 3 };
    char *path = rp_log_path(directory, rank);
    enum rp_status status = path ? RP_BUSY : rp_fail(why, RP_MEMORY, "out of memory");

    for (int i = 0; path && status != RP_OK && i < TRIES; i++) {
        *out = (struct rp_rank_progress){0};
        status = look_at_file(path, out, why);
        if (status == RP_BUSY)
            status = look_at_ring(directory, m->run, rank, out, why);
        else if (status == RP_OK && out->state == RP_PROGRESS_ENDED)
            status = look_at_end(directory, m, rank, out, why);
    }
    free(path);
    return status;
}

enum rp_status rp_progress_read(const char *directory, const struct rp_manifest *manifest,
                                struct rp_progress *out, struct rp_problem *why)
{
    enum rp_status status = RP_OK;
    struct rp_problem ignored;
    struct rp_jobs jobs = {0};

    /* A job may be about to begin, and cannot be read yet. */
    bool has_jobs = !*manifest->job && rp_jobs_read(directory, &jobs, &ignored) == RP_OK;
    uint32_t ranks = has_jobs ? jobs.processes : manifest->ranks;
    *out = (struct rp_progress){.ranks = ranks, .rank = calloc(ranks, sizeof *out->rank)};
    if (!out->rank)
        status = rp_fail(why, RP_MEMORY, "out of memory");
    for (uint32_t i = 0; status == RP_OK && i < out->ranks; i++) {
        uint32_t rank = i;
        const struct rp_job *job = has_jobs ? rp_jobs_of(&jobs, i, &rank) : NULL;
        status = read_rank(job ? job->directory : directory, job ? &job->manifest : manifest, rank,
                           &out->rank[i], why);
        rp_process_name(job ? job->name : manifest->job, rank, out->rank[i].name);
        out->events += out->rank[i].events;
        out->bytes += out->rank[i].bytes;
        out->written += out->rank[i].state == RP_PROGRESS_WRITTEN;
        if (out->rank[i].events < out->rank[out->behind].events)
            out->behind = i;
    }
    rp_jobs_free(&jobs);
    if (status != RP_OK)
        rp_progress_free(out);
    return status;
}

void rp_progress_free(struct rp_progress *progress)
{
    free(progress->rank);
    *progress = (struct rp_progress){0};
}
