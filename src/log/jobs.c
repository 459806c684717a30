/* SPDX-License-Identifier: MIT */
/*
 * The file `jobs` lists the jobs that were spawned: each root of a spawn appends a line by one
 * write, once the spawn has succeeded. Directories of jobs may be there without a line, if the root
 * was killed before that; they count, too. A line without its directory is damage.
 */
#include "log/jobs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/crc32c.h"
#include "base/file.h"

#define LIST "jobs"
#define PREFIX "job-"

enum { LIST_LIMIT = 64 << 20 };

char *rp_job_directory(const char *record, const char *job)
{
    char *path = NULL;

    if (asprintf(&path, "%s%s%s", record, *job ? "/" PREFIX : "", job) < 0)
        return NULL;
    return path;
}

enum rp_status rp_job_refuse(const char *directory, const struct rp_manifest *manifest,
                             struct rp_problem *why)
{
    const char *slash = strrchr(directory, '/');

    if (!*manifest->job)
        return RP_OK;
    return rp_fail(
        why, RP_USAGE,
        "%s is the part of a record that belongs to the spawned job %s: name the record, "
        "%.*s",
        directory, manifest->job, slash ? (int)(slash - directory) : 1, slash ? directory : ".");
}

/* Writing */

static int format_line(char *line, size_t room, const char *job, uint32_t ranks)
{
    int length = snprintf(line, room, "%s %u ", job, ranks);

    return length + snprintf(line + length, room - (size_t)length, "%08x\n",
                             rp_crc32c(line, (size_t)length));
}

enum rp_status rp_job_note(const char *record, const char *job, uint32_t ranks,
                           struct rp_problem *why)
{
    char line[RP_JOB_NAME + 32], *path = rp_path_join(record, LIST);
    int length = format_line(line, sizeof line, job, ranks);
    int fd = path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, RP_PRIVATE_FILE) : -1;
    enum rp_status status = RP_OK;

    if (fd < 0 || write(fd, line, (size_t)length) != length)
        status = rp_fail(why, RP_SYSTEM, "%s/" LIST ": cannot write: %s", record, strerror(errno));
    if (fd >= 0)
        close(fd);
    free(path);
    return status;
}

/* Reading */

static enum rp_status add(struct rp_jobs *jobs, const char *record, const char *name,
                          struct rp_problem *why)
{
    struct rp_job *more = realloc(jobs->job, (jobs->count + 1) * sizeof *more);

    if (!more)
        return rp_fail(why, RP_MEMORY, "out of memory");
    jobs->job = more;
    struct rp_job *job = &jobs->job[jobs->count];
    memset(job, 0, sizeof *job);
    snprintf(job->name, sizeof job->name, "%s", name);
    job->directory = rp_job_directory(record, name);
    if (!job->directory)
        return rp_fail(why, RP_MEMORY, "out of memory");
    jobs->count++;
    return RP_OK;
}

static bool is_known(const struct rp_jobs *jobs, const char *name)
{
    for (size_t i = 0; i < jobs->count; i++)
        if (strcmp(jobs->job[i].name, name) == 0)
            return true;
    return false;
}

/* Empty directories are of spawns that failed. */
static bool is_begun(const char *record, const char *entry)
{
    char *directory = rp_path_join(record, entry);
    DIR *dir = directory ? opendir(directory) : NULL;
    int entries = 0;

    while (dir && readdir(dir))
        entries++;
    if (dir)
        closedir(dir);
    free(directory);
    return entries > 2;
}

static enum rp_status add_directories(struct rp_jobs *jobs, const char *record,
                                      struct rp_problem *why)
{
    DIR *dir = opendir(record);
    enum rp_status status = RP_OK;

    for (struct dirent *entry; dir && status == RP_OK && (entry = readdir(dir));) {
        const char *name = entry->d_name + strlen(PREFIX);
        if (strncmp(entry->d_name, PREFIX, strlen(PREFIX)) == 0 && rp_job_is_name(name) &&
            is_begun(record, entry->d_name))
            status = add(jobs, record, name, why);
    }
    if (dir)
        closedir(dir);
    return status;
}

static enum rp_status take_line(struct rp_jobs *jobs, const char *record, const char *line,
                                struct rp_problem *why)
{
    char name[RP_JOB_NAME] = "", expected[RP_JOB_NAME + 32];
    unsigned ranks = 0;

    if (sscanf(line, "%95[0-9.] %u", name, &ranks) != 2 || !rp_job_is_name(name))
        return rp_fail(why, RP_DAMAGED, "%s/" LIST ": '%.40s' is no job", record, line);
    int length = format_line(expected, sizeof expected, name, ranks);
    if (strncmp(line, expected, (size_t)length - 1) != 0 || line[length - 1] != 0)
        return rp_fail(why, RP_DAMAGED, "%s/" LIST ": the checksum of job %s is wrong", record,
                       name);
    if (ranks > 0 && !is_known(jobs, name))
        return rp_fail(why, RP_DAMAGED,
                       "the record of job %s, %u processes that rank %.*s spawned, is missing: "
                       "there is no %s/" PREFIX "%s",
                       name, ranks, (int)(strrchr(name, '.') - name), name, record, name);
    return RP_OK;
}

/* A line that the file's end cuts off was never acknowledged. */
static enum rp_status check_list(struct rp_jobs *jobs, const char *record, struct rp_problem *why)
{
    struct rp_buffer text = {0};
    char *path = rp_path_join(record, LIST), *line, *rest;
    enum rp_status status = RP_OK;

    if (path && access(path, F_OK) == 0)
        status = rp_read_file(path, LIST_LIMIT, &text, why);
    free(path);
    rp_buffer_byte(&text, 0);
    rest = text.failed ? NULL : (char *)text.bytes;
    while (status == RP_OK && rest && strchr(rest, '\n') && (line = strsep(&rest, "\n")))
        status = take_line(jobs, record, line, why);
    rp_buffer_free(&text);
    return status;
}

bool rp_job_failed(const char *record, const char *job)
{
    struct rp_buffer text = {0};
    struct rp_problem ignored;
    char line[RP_JOB_NAME + 32], *path = rp_path_join(record, LIST);
    bool found = path && rp_read_file(path, LIST_LIMIT, &text, &ignored) == RP_OK;

    format_line(line, sizeof line, job, 0);
    rp_buffer_byte(&text, 0);
    found = found && !text.failed && strstr((char *)text.bytes, line);
    rp_buffer_free(&text);
    free(path);
    return found;
}

static int by_name(const void *one, const void *other)
{
    return rp_job_compare(((const struct rp_job *)one)->name, ((const struct rp_job *)other)->name);
}

static enum rp_status check_job(const struct rp_job *job, struct rp_problem *why)
{
    if (strcmp(job->manifest.job, job->name) == 0)
        return RP_OK;
    if (!*job->name)
        return rp_job_refuse(job->directory, &job->manifest, why);
    return rp_fail(why, RP_DAMAGED, "%s is not the record of job %s, but of job %s", job->directory,
                   job->name, job->manifest.job);
}

static enum rp_status describe(struct rp_job *job, struct rp_problem *why)
{
    struct rp_problem inner;
    enum rp_status status = rp_manifest_read(job->directory, &job->manifest, &inner);

    if (status == RP_OK)
        return check_job(job, why);
    if (!*job->name)
        return rp_fail(why, status, "%s", inner.text);
    return rp_fail(why, status == RP_USAGE ? RP_DAMAGED : status,
                   "the record of job %s cannot be read: %s", job->name, inner.text);
}

static enum rp_status describe_all(struct rp_jobs *jobs, struct rp_problem *why)
{
    enum rp_status status = RP_OK;

    for (size_t i = 0; status == RP_OK && i < jobs->count; i++) {
        status = describe(&jobs->job[i], why);
        jobs->job[i].first = jobs->processes;
        if (status == RP_OK)
            jobs->processes += jobs->job[i].manifest.ranks;
    }
    return status;
}

enum rp_status rp_jobs_read(const char *directory, struct rp_jobs *out, struct rp_problem *why)
{
    memset(out, 0, sizeof *out);
    enum rp_status status = add(out, directory, "", why);

    if (status == RP_OK)
        status = describe(&out->job[0], why);
    if (status == RP_OK) {
        rp_manifest_free(&out->job[0].manifest);
        status = add_directories(out, directory, why);
    }
    if (status == RP_OK)
        status = check_list(out, directory, why);
    if (status == RP_OK) {
        qsort(out->job + 1, out->count - 1, sizeof *out->job, by_name);
        status = describe_all(out, why);
    }
    if (status != RP_OK)
        rp_jobs_free(out);
    return status;
}

void rp_jobs_free(struct rp_jobs *jobs)
{
    for (size_t i = 0; i < jobs->count; i++) {
        free(jobs->job[i].directory);
        rp_manifest_free(&jobs->job[i].manifest);
    }
    free(jobs->job);
    memset(jobs, 0, sizeof *jobs);
}

const struct rp_job *rp_jobs_of(const struct rp_jobs *jobs, uint32_t process, uint32_t *rank)
{
    size_t i = jobs->count - 1;

    while (i > 0 && jobs->job[i].first > process)
        i--;
    *rank = process - jobs->job[i].first;
    return &jobs->job[i];
}

uint32_t rp_jobs_find(const struct rp_jobs *jobs, const char *name)
{
    char own[RP_PROCESS_NAME];
    uint32_t rank;

    for (uint32_t i = 0; i < jobs->processes; i++) {
        const struct rp_job *job = rp_jobs_of(jobs, i, &rank);
        if (strcmp(rp_process_name(job->name, rank, own), name) == 0)
            return i;
    }
    return UINT32_MAX;
}
