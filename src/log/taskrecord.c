/* SPDX-License-Identifier: MIT */
#include "log/taskrecord.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/file.h"
#include "base/journal.h"
#include "log/task_header.h"

enum { LIMIT = 1 << 30, PROCESSES = 1 << 24 };

static bool has(const char *directory, const char *name)
{
    char *path = rp_path_join(directory, name);
    bool found = path && access(path, F_OK) == 0;

    free(path);
    return found;
}

static bool is_of_process(const struct dirent *entry)
{
    return strncmp(entry->d_name, "tasks-", 6) == 0;
}

bool rp_task_record_is(const char *directory)
{
    DIR *folder = has(directory, "command") ? opendir(directory) : NULL;
    bool found = false;

    for (const struct dirent *entry; folder && !found && (entry = readdir(folder));)
        found = is_of_process(entry);
    if (folder)
        closedir(folder);
    return found;
}

/* A journal whose process was killed when it made it is as good as none. */
static bool is_blank(const char *name, const struct rp_buffer *file)
{
    const char *suffix = strrchr(name, '.');

    return suffix && strcmp(suffix, ".journal") == 0 &&
           rp_journal_is_blank(file->bytes, file->length);
}

static enum rp_status check_journal(const struct rp_buffer *file, struct rp_task_header *head,
                                    struct rp_problem *why)
{
    struct rp_journal_view view = rp_journal_view_of(file->bytes, file->length);
    enum rp_status status = rp_task_header_of_journal(&view, head, why);
    const uint8_t *entry;
    size_t length;

    if (status != RP_OK)
        return status;
    while (rp_journal_next(&view, &entry, &length))
        ;
    return view.damaged
               ? rp_fail(why, RP_DAMAGED, "entry %llu is damaged", (unsigned long long)view.number)
               : RP_OK;
}

static enum rp_status check_file(const struct rp_buffer *file, struct rp_task_header *head,
                                 struct rp_problem *why)
{
    struct rp_view rest;

    return rp_journal_is(file->bytes, file->length)
               ? check_journal(file, head, why)
               : rp_task_header_of_file(file->bytes, file->length, head, &rest, why);
}

/* `process` is -1 for the first that is read, which says how many there are. */
static enum rp_status take_head(struct rp_task_record *r, int64_t process,
                                const struct rp_task_header *head, struct rp_problem *why)
{
    if (head->processes > PROCESSES || head->process >= head->processes)
        return rp_fail(why, RP_DAMAGED, "it is of process %u of %u", head->process,
                       head->processes);
    if (process < 0) {
        r->processes = head->processes;
        r->tasks = head->tasks;
    } else if (head->process != process || head->processes != r->processes ||
               head->tasks != r->tasks)
        return rp_fail(why, RP_DAMAGED, "it is not of this record, or of another process");
    return RP_OK;
}

static enum rp_status read_one(const char *directory, const char *name, struct rp_task_record *r,
                               int64_t process, struct rp_problem *why)
{
    struct rp_buffer file = {0};
    struct rp_problem because;
    struct rp_task_header head;
    char *path = rp_path_join(directory, name);
    enum rp_status status =
        path ? rp_read_file(path, LIMIT, &file, why) : rp_fail(why, RP_MEMORY, "out of memory");

    if (status == RP_OK && !is_blank(name, &file)) {
        status = check_file(&file, &head, &because);
        if (status == RP_OK)
            status = take_head(r, process, &head, &because);
        if (status != RP_OK)
            rp_fail(why, status, "%s: %s", path, because.text);
        else if (process >= 0)
            r->bytes += file.length;
    }
    rp_buffer_free(&file);
    free(path);
    return status;
}

static enum rp_status read_process(const char *directory, struct rp_task_record *r,
                                   uint32_t process, uint32_t *missing, struct rp_problem *why)
{
    char whole[32], journal[40];

    snprintf(whole, sizeof whole, "tasks-%05u", process);
    snprintf(journal, sizeof journal, "%s.journal", whole);
    if (has(directory, whole))
        return read_one(directory, whole, r, process, why);
    if (has(directory, journal)) {
        r->cut_off++;
        return read_one(directory, journal, r, process, why);
    }
    *missing = process;
    return RP_OK;
}

/* Any process says how many there are: when a run was cut off, the first may not have begun. */
static enum rp_status read_any(const char *directory, struct rp_task_record *r,
                               struct rp_problem *why)
{
    DIR *folder = opendir(directory);
    enum rp_status status = rp_task_record_is(directory)
                                ? RP_OK
                                : rp_fail(why, RP_USAGE, "%s is no record of tasks", directory);

    for (const struct dirent *entry;
         folder && status == RP_OK && r->processes == 0 && (entry = readdir(folder));)
        if (is_of_process(entry))
            status = read_one(directory, entry->d_name, r, -1, why);
    if (folder)
        closedir(folder);
    return status == RP_OK && r->processes == 0
               ? rp_fail(
                     why, RP_DAMAGED,
                     "%s: the run was cut off before any of its processes had recorded anything",
                     directory)
               : status;
}

/* Of a run that was cut off, a process may have nothing: it had not begun. */
enum rp_status rp_task_record_read(const char *directory, struct rp_task_record *out,
                                   struct rp_problem *why)
{
    struct rp_task_record r = {0};
    uint32_t missing = UINT32_MAX;
    enum rp_status status = read_any(directory, &r, why);

    for (uint32_t i = 0; status == RP_OK && i < r.processes; i++)
        status = read_process(directory, &r, i, &missing, why);
    if (status == RP_OK && missing != UINT32_MAX && r.cut_off++ == 0)
        status = rp_fail(why, RP_DAMAGED, "%s: tasks-%05u is not there: the record is incomplete",
                         directory, missing);
    if (status == RP_OK)
        *out = r;
    return status;
}
