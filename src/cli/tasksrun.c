/* SPDX-License-Identifier: MIT */
/* A record of tasks is a directory with a file `tasks-NNNNN` for each process (or
 * `tasks-NNNNN.journal`, if the run was cut off) and `command`: the words of the command line, each
 * ended by a NUL, after the working directory; behind them a checksum. */
#include "cli/tasksrun.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/crc32c.h"
#include "base/file.h"
#include "base/diagnostics.h"
#include "job/settings.h"
#include "cli/launch.h"
#include "cli/taskshuffle.h"
#include "log/rundir.h"
#include "log/taskrecord.h"
#include "reprise.h"

enum { LIMIT = 1 << 20 };

static bool has(const char *directory, const char *name)
{
    char *path = rp_path_join(directory, name);
    bool found = path && access(path, R_OK) == 0;

    free(path);
    return found;
}

static enum rp_status note_command(char **command, const char *directory, struct rp_problem *why)
{
    struct rp_buffer text = {0};
    char *path = rp_path_join(directory, "command"), *here = rp_path_absolute(".");
    enum rp_status status = RP_MEMORY;

    if (path && here)
        rp_buffer_put(&text, here, strlen(here) + 1);
    for (char **word = command; *word; word++)
        rp_buffer_put(&text, *word, strlen(*word) + 1);
    if (!text.failed)
        rp_buffer_u32(&text, rp_crc32c(text.bytes, text.length));
    if (!path || !here || text.failed)
        rp_fail(why, status, "no memory for the command line");
    else
        status = rp_write_new_file(path, text.bytes, text.length, why);
    rp_buffer_free(&text);
    free(path);
    free(here);
    return status;
}

static void remove_command(const char *directory)
{
    char *path = rp_path_join(directory, "command");

    if (path)
        unlink(path);
    free(path);
}

/* Runs the command; if one of its processes left the status that it ended the job with, that is the
 * answer. */
static int run_tasks(char **command)
{
    char path[] = "/tmp/reprise-tasks.XXXXXX";
    int descriptor = mkstemp(path), exit_status, verdict = 0;
    FILE *file;

    if (descriptor >= 0)
        setenv("REPRISE_TASKS_VERDICT", path, 1);
    exit_status = rp_launch_run(command, NULL, NULL);
    if (descriptor < 0)
        return exit_status;
    file = fdopen(descriptor, "r");
    if (exit_status != 0 && file && fscanf(file, "%d", &verdict) == 1)
        exit_status = verdict;
    if (file)
        fclose(file);
    unlink(path);
    return exit_status;
}

int rp_tasks_record(char **command, const char *directory)
{
    struct rp_problem why;

    enum rp_status status = note_command(command, directory, &why);
    if (status != RP_OK) {
        rp_error("cannot record: %s", why.text);
        return rp_exit_status(status);
    }
    setenv("REPRISE_TASKS", "record", 1);
    int exit_status = run_tasks(command);
    if (!rp_task_record_is(directory)) {
        remove_command(directory);
        rmdir(directory);
        rp_error("nothing was recorded: '%s' did not come to reprise_tasks_run. Is it a program of "
                 "tasks (reprise_tasks.h)?",
                 command[0]);
        return exit_status ? exit_status : REPRISE_EXIT_UNSUPPORTED;
    }
    rp_run_set_latest(directory);
    rp_note("recorded in %s%s", directory,
            has(directory, "tasks-00000") ? "" : ", up to where it was cut off");
    return exit_status;
}

/* Takes the checksum off, if it is right. */
static enum rp_status check_sum(struct rp_buffer *text, const char *path, struct rp_problem *why)
{
    enum { SUM = 4 };
    size_t length = text->length > SUM ? text->length - SUM : 0;

    if (length == 0 || text->bytes[length - 1] != 0 ||
        rp_load_u32(text->bytes + length) != rp_crc32c(text->bytes, length))
        return rp_fail(why, RP_DAMAGED,
                       "%s: its checksum is wrong or missing: it was changed after it was written, "
                       "or an early version of reprise wrote it; record the run again",
                       path);
    text->length = length;
    return RP_OK;
}

enum rp_status rp_tasks_read_command(const char *directory, struct rp_buffer *text,
                                     char *words[RP_TASKS_WORDS + 1], struct rp_problem *why)
{
    char *path = rp_path_join(directory, "command");
    enum rp_status status = path ? rp_read_file(path, LIMIT, text, why)
                                 : rp_fail(why, RP_MEMORY, "no memory for a path");
    size_t count = 0;

    if (status == RP_OK)
        status = check_sum(text, path, why);
    for (size_t at = 0; status == RP_OK && at < text->length;
         at += strlen((char *)text->bytes + at) + 1) {
        if (count == RP_TASKS_WORDS)
            status = rp_fail(why, RP_DAMAGED, "%s: more than %d words", path, RP_TASKS_WORDS);
        else
            words[count++] = (char *)text->bytes + at;
    }
    if (status == RP_OK && count < 2)
        status = rp_fail(why, RP_DAMAGED, "%s: there is no command", path);
    words[count] = NULL;
    free(path);
    return status;
}

static int run_again(void *command)
{
    return run_tasks(command);
}

static bool is_shuffled(void)
{
    const char *seed = rp_setting("REPRISE_SHUFFLE");

    return seed && strspn(seed, "0123456789") == strlen(seed) && strtoull(seed, NULL, 10) > 0;
}

int rp_tasks_replay(char **command, const char *directory)
{
    static char *words[RP_TASKS_WORDS + 1];
    struct rp_problem why;
    struct rp_buffer text = {0};

    enum rp_status status = rp_tasks_read_command(directory, &text, words, &why);
    if (status == RP_OK && !command && chdir(words[0]) != 0)
        status = rp_fail(&why, RP_USAGE, "it was recorded in %s: %s", words[0], strerror(errno));
    if (status != RP_OK) {
        rp_error("cannot replay: %s", why.text);
        rp_buffer_free(&text);
        return rp_exit_status(status);
    }
    if (!command)
        command = words + 1;
    setenv("REPRISE_TASKS", "replay", 1);
    setenv("REPRISE_RUN", directory, 1);
    int exit_status =
        is_shuffled() ? rp_task_shuffle(directory, run_again, command) : run_tasks(command);
    rp_buffer_free(&text);
    return exit_status;
}
