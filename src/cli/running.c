/* SPDX-License-Identifier: MIT */
#include "cli/running.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/file.h"
#include "base/json.h"
#include "job/settings.h"

enum { LIMIT = 1 << 20 };

/* Of this process. */
static struct {
    struct rp_running run;
    char *path;
    char *base; /* the directory of records */
    bool made_base;
    int64_t begun; /* CLOCK_MONOTONIC seconds */
} own;

static int64_t now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec;
}

static char *base_directory(void)
{
    const char *set = rp_setting("REPRISE_DIR");

    return rp_path_absolute(set ? set : ".reprise");
}

/* When it began, as the system counts: a process of the same number is another one if this differs.
 * 0: there is none. */
static int64_t birth_of(int process)
{
    char path[64], line[1024];
    long long birth = 0;

    snprintf(path, sizeof path, "/proc/%d/stat", process);
    FILE *file = fopen(path, "r");
    const char *rest = file && fgets(line, sizeof line, file) ? strrchr(line, ')') : NULL;
    if (!rest ||
        sscanf(rest,
               ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %lld",
               &birth) != 1)
        birth = 0;
    if (file)
        fclose(file);
    return birth;
}

static void put_field(struct rp_buffer *out, const char *name, const char *value)
{
    rp_buffer_printf(out, ", \"%s\": ", name);
    rp_json_put_string(out, value ? value : "");
}

/* Others read it while it is written again: it is replaced. */
static void write_file(void)
{
    struct rp_buffer text = {0};
    struct rp_problem ignored;
    char *fresh = NULL;

    if (!own.path || asprintf(&fresh, "%s.new", own.path) < 0)
        return;
    rp_buffer_printf(&text, "{\"process\": %d, \"birth\": %lld, \"begun\": %lld, \"ranks\": %lld",
                     (int)getpid(), (long long)birth_of((int)getpid()), (long long)own.begun,
                     (long long)own.run.ranks);
    put_field(&text, "kind", own.run.kind);
    put_field(&text, "command", own.run.command);
    put_field(&text, "progress", own.run.progress);
    put_field(&text, "directory", own.run.directory);
    put_field(&text, "record", own.run.record);
    put_field(&text, "state", own.run.state);
    put_field(&text, "roll", own.run.roll);
    rp_buffer_printf(&text, "}\n");
    unlink(fresh);
    if (!text.failed && rp_write_new_file(fresh, text.bytes, text.length, &ignored) == RP_OK &&
        rename(fresh, own.path) != 0)
        unlink(fresh);
    rp_buffer_free(&text);
    free(fresh);
}

static void replace(char **text, const char *by)
{
    free(*text);
    *text = by ? strdup(by) : NULL;
}

static char *in_words(char **command)
{
    struct rp_buffer text = {0};

    for (char **word = command; *word; word++) {
        if (word != command)
            rp_buffer_byte(&text, ' ');
        rp_buffer_shell_word(&text, *word);
    }
    rp_buffer_byte(&text, 0);
    if (text.failed)
        rp_buffer_free(&text);
    return (char *)text.bytes;
}

void rp_running_begin(const char *kind, char **command, const char *directory)
{
    char *absolute = directory ? rp_path_absolute(directory) : NULL;

    own.base = base_directory();
    if (!own.base || asprintf(&own.path, "%s/running-%d", own.base, (int)getpid()) < 0)
        return;
    own.made_base = mkdir(own.base, 0777) == 0;
    own.begun = now();
    replace(&own.run.kind, kind);
    own.run.command = in_words(command);
    replace(&own.run.directory, absolute);
    free(absolute);
    if (asprintf(&own.run.state, "%s.state", own.path) < 0)
        own.run.state = NULL;
    write_file();
}

const char *rp_running_state(void)
{
    return own.run.state;
}

void rp_running_publish(const char *progress, const char *record, const char *state)
{
    replace(&own.run.progress, progress);
    replace(&own.run.record, record);
    replace(&own.run.state, state);
    write_file();
}

void rp_running_publish_roll(const char *roll, int64_t ranks)
{
    replace(&own.run.roll, roll);
    own.run.ranks = ranks;
    write_file();
}

void rp_running_end(void)
{
    if (!own.path)
        return;
    unlink(own.path);
    if (own.run.state && strncmp(own.run.state, own.path, strlen(own.path)) == 0)
        unlink(own.run.state);
    if (own.made_base)
        rmdir(own.base);
    free(own.path);
    own.path = NULL;
}

/* Reading */

static char *text_of(const struct rp_json *json, const char *name)
{
    const struct rp_json *member = rp_json_member(json, name, RP_JSON_STRING);

    return strdup(member ? member->string : "");
}

static int64_t number_of(const struct rp_json *json, const char *name)
{
    const struct rp_json *member = rp_json_member(json, name, RP_JSON_NUMBER);

    return member ? member->number : 0;
}

void rp_running_clear(struct rp_running *run)
{
    free(run->kind);
    free(run->command);
    free(run->progress);
    free(run->directory);
    free(run->record);
    free(run->state);
    free(run->roll);
}

static struct rp_running take(const struct rp_json *json)
{
    return (struct rp_running){text_of(json, "kind"),     text_of(json, "command"),
                               text_of(json, "progress"), text_of(json, "directory"),
                               text_of(json, "record"),   text_of(json, "state"),
                               text_of(json, "roll"),     (int)number_of(json, "process"),
                               number_of(json, "ranks"),  now() - number_of(json, "begun")};
}

/* False: it is no such file, or its process is no more. */
static bool read_one(const char *base, const char *name, int process, struct rp_running *out)
{
    struct rp_buffer text = {0};
    struct rp_problem ignored;
    struct rp_json *json = NULL;
    char *path = rp_path_join(base, name);
    bool is_one = path && rp_read_file(path, LIMIT, &text, &ignored) == RP_OK &&
                  rp_json_parse((char *)text.bytes, text.length, &json, &ignored) == RP_OK;

    if (is_one) {
        int64_t birth = number_of(json, "birth");
        is_one = number_of(json, "process") == process && birth > 0 && birth_of(process) == birth;
    }
    if (is_one)
        *out = take(json);
    if (json)
        rp_json_free(json);
    rp_buffer_free(&text);
    free(path);
    return is_one;
}

struct rp_running *rp_running_list(size_t *count)
{
    struct rp_running *list = NULL;
    char *base = base_directory();
    DIR *dir = base ? opendir(base) : NULL;
    struct dirent *entry;

    *count = 0;
    while (dir && (entry = readdir(dir))) {
        int process, end = 0;
        if (sscanf(entry->d_name, "running-%d%n", &process, &end) != 1 || entry->d_name[end])
            continue;
        struct rp_running *more = realloc(list, (*count + 1) * sizeof *more);
        if (more)
            list = more;
        if (more && read_one(base, entry->d_name, process, &list[*count]))
            ++*count;
    }
    if (dir)
        closedir(dir);
    free(base);
    return list;
}

void rp_running_free(struct rp_running *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        rp_running_clear(&list[i]);
    free(list);
}
