/* SPDX-License-Identifier: MIT */
#include "cli/tasksinfo.h"

#include <stdio.h>

#include "base/buffer.h"
#include "base/json.h"
#include "base/diagnostics.h"
#include "base/text.h"
#include "cli/tasksrun.h"
#include "log/taskrecord.h"
#include "reprise.h"

static void put_text(struct rp_buffer *out, const char *directory, const struct rp_task_record *r,
                     char **words)
{
    rp_buffer_printf(out, "record    %s, of a program of tasks%s\ncommand  ",
                     rp_text_shown(directory), r->cut_off ? " (incomplete)" : "");
    for (char **word = words + 1; *word; word++) {
        rp_buffer_byte(out, ' ');
        rp_buffer_shell_word(out, *word);
    }
    rp_buffer_printf(out, "\ndirectory %s\nprocesses %u", rp_text_shown(words[0]), r->processes);
    if (r->cut_off)
        rp_buffer_printf(out, ", %u of them cut off", r->cut_off);
    rp_buffer_printf(
        out,
        "\ntasks     %u\nbytes     %llu\n\n'reprise replay' follows it, with --shuffle too, and "
        "'reprise verify' checks it. It has no events of MPI to be dumped or reported.\n",
        r->tasks, (unsigned long long)r->bytes);
}

static void put_json(struct rp_buffer *out, const char *directory, const struct rp_task_record *r,
                     char **words)
{
    rp_buffer_printf(out, "{\n  \"record\": ");
    rp_json_put_string(out, directory);
    rp_buffer_printf(out,
                     ",\n  \"kind\": \"tasks\",\n  \"complete\": %s,\n  \"processes\": %u,\n  "
                     "\"cut_off\": %u,\n  \"tasks\": %u,\n  \"bytes\": %llu,\n  \"directory\": ",
                     r->cut_off ? "false" : "true", r->processes, r->cut_off, r->tasks,
                     (unsigned long long)r->bytes);
    rp_json_put_string(out, words[0]);
    rp_buffer_printf(out, ",\n  \"command\": [");
    for (char **word = words + 1; *word; word++) {
        rp_buffer_printf(out, "%s", word > words + 1 ? ", " : "");
        rp_json_put_string(out, *word);
    }
    rp_buffer_printf(out, "]\n}\n");
}

int rp_tasks_info(const char *directory, bool json)
{
    static char *words[RP_TASKS_WORDS + 1];
    struct rp_buffer command = {0}, text = {0};
    struct rp_task_record record;
    struct rp_problem why;
    enum rp_status status = rp_task_record_read(directory, &record, &why);

    if (status == RP_OK)
        status = rp_tasks_read_command(directory, &command, words, &why);
    if (status == RP_OK) {
        (json ? put_json : put_text)(&text, directory, &record, words);
        rp_text_print(stdout, text.bytes, text.length);
    } else {
        rp_error("%s", why.text);
    }
    rp_buffer_free(&command);
    rp_buffer_free(&text);
    return status != RP_OK       ? rp_exit_status(status)
           : fflush(stdout) == 0 ? 0
                                 : REPRISE_EXIT_INTERNAL;
}

int rp_tasks_verify(const char *directory)
{
    static char *words[RP_TASKS_WORDS + 1];
    struct rp_buffer command = {0};
    struct rp_task_record record;
    struct rp_problem why;
    enum rp_status status = rp_task_record_read(directory, &record, &why);

    if (status == RP_OK)
        status = rp_tasks_read_command(directory, &command, words, &why);
    if (status == RP_OK)
        printf("%s: a record of %u tasks on %u processes, all checksums are right%s\n",
               rp_text_shown(directory), record.tasks, record.processes,
               record.cut_off ? " (incomplete: it was cut off)" : "");
    else
        rp_error("%s", why.text);
    rp_buffer_free(&command);
    return rp_exit_status(status);
}
