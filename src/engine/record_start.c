/* SPDX-License-Identifier: MIT */
/* Founding a record: its directory, which is claimed by creating its description, and what that
 * says. */
#include "engine/record_start.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "job/settings.h"
#include "event/wrappers.h"
#include "log/jobs.h"
#include "log/manifest.h"
#include "log/rundir.h"
#include "entry/engine.h"
#include "reprise.h"

static char *program_name(char path[PATH_MAX])
{
    ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 1);

    path[length > 0 ? length : 0] = 0;
    char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* The n-th try: the directory that was asked for; of one that the command reserved, its neighbours
 * too, for further jobs of the same command line. */
static enum rp_status try_directory(int n, const char *name, char **out, struct rp_problem *why)
{
    const char *job = rp_job_own();
    const char *reserved = rp_setting("REPRISE_PARENT") ? rp_setting("REPRISE_RUN") : NULL;
    char *path = NULL;

    if (*job) {
        *out = rp_job_directory(rp_setting("REPRISE_RUN"), job);
        return *out ? rp_make_directory(*out, true, why) : rp_fail(why, RP_MEMORY, "out of memory");
    }
    if (!reserved && rp_setting("REPRISE_OUTPUT"))
        return rp_run_new_at(rp_setting("REPRISE_OUTPUT"), out, why);
    if (!reserved)
        return rp_run_new(name, out, why);
    if ((n == 1 ? asprintf(&path, "%s", reserved) : asprintf(&path, "%s.%d", reserved, n)) < 0)
        return rp_fail(why, RP_MEMORY, "out of memory");
    enum rp_status status =
        n == 1 ? RP_OK : rp_make_directory(path, false, why); /* one that is there is another's */
    *out = path;
    return status;
}

/* Of a process that was spawned: its own. */
static char **own_command_line(void)
{
    struct rp_buffer text = {0};
    struct rp_problem ignored;
    size_t count = 0;

    rp_read_file("/proc/self/cmdline", 1 << 24, &text, &ignored);
    rp_buffer_byte(&text, 0);
    char **words = text.failed ? NULL : calloc(text.length + 1, sizeof *words);
    for (size_t at = 0; words && at + 1 < text.length; at += strlen(words[count++]) + 1)
        words[count] = strdup((char *)text.bytes + at);
    rp_buffer_free(&text);
    return words;
}

static char **command_line(void)
{
    const char *text = rp_setting("REPRISE_COMMAND");
    struct rp_json *json;
    struct rp_problem why;
    size_t count = 0;

    if (!text || rp_json_parse(text, strlen(text), &json, &why) != RP_OK)
        return calloc(1, sizeof(char *));
    for (struct rp_json *item = json->child; item; item = item->next)
        count++;
    char **words = calloc(count + 1, sizeof *words);
    count = 0;
    for (struct rp_json *item = json->child; words && item; item = item->next)
        if (item->kind == RP_JSON_STRING)
            words[count++] = strdup(item->string);
    rp_json_free(json);
    return words;
}

static char **allowed_functions(void)
{
    const char *list = rp_setting("REPRISE_ALLOW");
    char **words = calloc(256, sizeof *words);
    char *copy = strdup(list ? list : ""), *rest = copy, *word;
    size_t count = 0;

    while (words && copy && (word = strsep(&rest, ",")) && count < 255)
        if (*word)
            words[count++] = strdup(word);
    free(copy);
    return words;
}

/* The variables that the command names. */
static char **variables(void)
{
    const char *names = rp_setting("REPRISE_VARIABLES");
    char *copy = strdup(names ? names : ""), *rest = copy, *name;
    char **all = calloc(strlen(names ? names : "") / 2 + 2, sizeof *all);
    size_t count = 0;

    while (all && copy && (name = strsep(&rest, " "))) {
        const char *value = *name ? getenv(name) : NULL;
        if (value && asprintf(&all[count], "%s=%s", name, value) < 0)
            break;
        count += value != NULL;
    }
    if (all)
        all[count] = NULL;
    free(copy);
    return all;
}

static char *time_now(void)
{
    char text[32];
    time_t now = time(NULL);
    struct tm utc;

    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
    return strdup(text);
}

static void describe(struct rp_manifest *m, const struct rp_session *session, const char *program)
{
    const char *directory =
        rp_setting("REPRISE_DIRECTORY"); /* of the command; ranks may be started elsewhere */
    char host[256] = "";
    const char *launched = rp_setting("REPRISE_LAUNCHED");

    gethostname(host, sizeof host - 1);
    m->run = session->run;
    m->ranks = (uint32_t)session->ranks;
    m->launched_inside = *session->job || (launched && strcmp(launched, "inside") == 0);
    m->job = strdup(session->job);
    m->mpi = strdup(rp_session_mpi());
    m->mpi_version = rp_session_mpi_version();
    m->program = strdup(program);
    m->build_id = rp_session_build_id();
    m->directory = directory ? strdup(directory) : getcwd(NULL, 0);
    m->host = strdup(host);
    m->started = time_now();
    m->reprise = strdup(REPRISE_VERSION);
    m->command = *session->job ? own_command_line() : command_line();
    m->allowed = allowed_functions();
    m->environment = variables();
    m->codec = strdup(rp_setting("REPRISE_CODEC") ? rp_setting("REPRISE_CODEC") : "auto");
    m->clocks = strdup(rp_setting("REPRISE_CLOCKS") ? "lamport" : "");
    const char *ranks = rp_setting("REPRISE_RANKS");
    m->data = strdup(ranks && (!*session->job || strcmp(ranks, "all") == 0) ? ranks : "");
    m->wrappers = strdup(rp_wrappers_list());
    m->threads = strdup(rp_setting("REPRISE_THREADS") ? "all" : "");
    m->capture = strdup(rp_setting("REPRISE_CAPTURE") ? rp_setting("REPRISE_CAPTURE") : "");
}

static uint64_t random_run(void)
{
    uint64_t run = 0;

    if (getrandom(&run, sizeof run, GRND_NONBLOCK) != (ssize_t)sizeof run) {
        struct timespec now;
        clock_gettime(CLOCK_REALTIME, &now);
        run = ((uint64_t)now.tv_sec << 32 ^ (uint64_t)now.tv_nsec) * 0x9e3779b97f4a7c15u ^
              (uint64_t)getpid();
    }
    return run ? run : 1;
}

enum rp_status rp_record_found(struct rp_session *session, struct rp_problem *why)
{
    enum { TRIES = 10000 };
    char program[PATH_MAX];
    char *name = program_name(program);
    struct rp_manifest manifest = {0};
    enum rp_status status = RP_OK;

    session->run = random_run();
    describe(&manifest, session, program);
    for (int n = 1; n < TRIES; n++) {
        char *directory = NULL;
        status = try_directory(n, name, &directory, why);
        if (status != RP_OK) {
            free(directory);
            if (status == RP_USAGE && n > 1)
                continue;
            break;
        }
        snprintf(session->directory, sizeof session->directory, "%s", directory);
        free(directory);
        status = rp_manifest_write(session->directory, &manifest, why);
        if (status != RP_USAGE || !rp_setting("REPRISE_PARENT") || *session->job)
            break; /* RP_USAGE: another job has claimed it */
    }
    rp_manifest_free(&manifest);
    snprintf(session->record, sizeof session->record, "%s",
             *session->job ? rp_setting("REPRISE_RUN") : session->directory);
    if (status == RP_OK && !*session->job)
        rp_run_set_latest(session->directory);
    return status;
}
