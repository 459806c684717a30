/* SPDX-License-Identifier: MIT */
/*
 * Launchers start children with their own environment, which has no job of ours in it, and nothing
 * of reprise if it was started inside the launcher. So the command that is spawned is `env`, with
 * the settings and the program as its arguments: all launchers can do that. What is not found here
 * is spawned as it is, for MPI to say so.
 *
 * A child makes a file (the mark) before it initialises MPI. MPI_Comm_spawn does not return before
 * all children have begun that. So the root need not wait to know whether reprise is in them.
 */
#include "engine/spawn.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/diagnostics.h"
#include "entry/entry.h"
#include "entry/refuse.h"
#include "entry/threads.h"
#include "job/settings.h"
#include "peers/peer_reprise.h"
#include "preload/constants.h"
#include "reprise.h"

extern char **environ;

static unsigned long spawns; /* of this process as root; under the lock of threads */

bool rp_spawn_is_root(const struct rp_call *call, const struct rp_spawn *spawn,
                      const struct rp_session *session, char job[RP_JOB_NAME])
{
    int rank = -1;

    if (rp_pmpi.Comm_rank(spawn->comm, &rank) != MPI_SUCCESS || rank != spawn->root)
        return false;
    rp_turn_begin(call, false);
    unsigned long number = ++spawns;
    rp_turn_end(false);
    if (rp_job_of_spawn(session->name, number, job))
        return true;
    rp_error("%s: children of children, so deep that the name of their job is longer than %d "
             "characters",
             call->function, RP_JOB_NAME - 1);
    rp_end_job(REPRISE_EXIT_UNSUPPORTED);
}

int rp_spawn_plain(const struct rp_call *call, const struct rp_spawn *s)
{
    int rc;

    if (s->is_multiple)
        RP_INSIDE(rc, call->next->Comm_spawn_multiple(s->count, s->commands, s->argvs, s->maxprocs,
                                                      s->infos, s->root, s->comm, s->intercomm,
                                                      s->errcodes));
    else
        RP_INSIDE(rc,
                  call->next->Comm_spawn(s->commands[0], s->argvs[0], s->maxprocs[0], s->infos[0],
                                         s->root, s->comm, s->intercomm, s->errcodes));
    return rc;
}

int rp_spawn_children(const struct rp_spawn *spawn)
{
    int size = 0;

    rp_pmpi.Comm_remote_size(*spawn->intercomm, &size);
    return size;
}

/* The program that is meant */

static bool is_program(const char *path)
{
    struct stat about;

    return stat(path, &about) == 0 && S_ISREG(about.st_mode) && access(path, X_OK) == 0;
}

static bool find_in(const char *folders, const char *name, char path[PATH_MAX])
{
    for (const char *at = folders; at && *at; at += strspn(at, ":")) {
        int length = (int)strcspn(at, ":");
        if (snprintf(path, PATH_MAX, "%.*s/%s", length, at, name) < PATH_MAX && is_program(path))
            return true;
        at += length;
    }
    return false;
}

static bool get_info(MPI_Info info, const char *key, char value[PATH_MAX])
{
    int found = 0;

    return info != rp_constant.info_null &&
           rp_pmpi.Info_get(info, key, PATH_MAX - 1, value, &found) == MPI_SUCCESS && found;
}

/* Where the launcher would find it: below the directories of the info key `path`, in PATH, or in
 * the children's working directory. */
static bool find_program(const char *command, MPI_Info info, char path[PATH_MAX])
{
    char value[PATH_MAX] = "", beside[2 * PATH_MAX];

    if (get_info(info, "path", value) && find_in(value, command, path))
        return true;
    if (!strchr(command, '/') && find_in(getenv("PATH"), command, path))
        return true;
    bool elsewhere = *command != '/' && get_info(info, "wdir", value);
    snprintf(beside, sizeof beside, "%s%s%s", elsewhere ? value : "", elsewhere ? "/" : "",
             command);
    return is_program(beside) && realpath(beside, path);
}

/* The command */

struct words {
    char **word;
    size_t count, room;
};

/* Takes the text over. */
static void add_word(struct words *words, char *text)
{
    if (words->count + 1 >= words->room) {
        words->room = words->room ? words->room * 2 : 64;
        words->word = realloc(words->word, words->room * sizeof *words->word);
    }
    if (!text || !words->word)
        rp_bug(__FILE__, __LINE__, "out of memory for the command of a spawn");
    words->word[words->count++] = text;
    words->word[words->count] = NULL;
}

static void add_setting(struct words *words, const char *name, const char *value)
{
    char *text = NULL;

    if (asprintf(&text, "%s=%s", name, value) < 0)
        text = NULL;
    add_word(words, text);
}

/* What the children's job says for itself, or does not need. */
static bool is_own(const char *variable)
{
    static const char *const names[] = {"REPRISE_JOB=",   "REPRISE_MARK=",    "REPRISE_RUN=",
                                        "REPRISE_STATE=", "REPRISE_COMMAND=", "REPRISE_VARIABLES=",
                                        "REPRISE_OUTPUT="};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(variable, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

/* Where reprise was started inside the launcher, that has no settings to pass on. */
static void add_all_settings(struct words *words)
{
    const char *launched = rp_setting("REPRISE_LAUNCHED");

    if (launched && strcmp(launched, "outside") == 0)
        return;
    for (char **at = environ; *at; at++)
        if ((strncmp(*at, "REPRISE_", 8) == 0 && !is_own(*at)) ||
            strncmp(*at, "LD_PRELOAD=", 11) == 0 || strncmp(*at, "ASAN_OPTIONS=", 13) == 0)
            add_word(words, strdup(*at));
}

struct spawning {
    const struct rp_session *session;
    const char *job, *state;
    char mark[PATH_MAX];
};

/* Takes a path with a `=` for a program, not for a variable. */
static void add_program(struct words *words, const char *path)
{
    if (strchr(path, '=')) {
        add_word(words, strdup("/bin/sh"));
        add_word(words, strdup("-c"));
        add_word(words, strdup("exec \"$0\" \"$@\""));
    }
    add_word(words, strdup(path));
}

static char **wrapped(const struct spawning *s, const char *path, char **argv)
{
    struct words words = {0};

    add_all_settings(&words);
    add_setting(&words, "REPRISE_JOB", s->job);
    add_setting(&words, "REPRISE_MARK", s->mark);
    add_setting(&words, "REPRISE_RUN", s->session->record);
    add_setting(&words, "REPRISE_STATE", s->state ? s->state : "");
    add_program(&words, path);
    for (char **word = argv; word && word != MPI_ARGV_NULL && *word; word++)
        add_word(&words, strdup(*word));
    return words.word;
}

static void free_words(char **words)
{
    for (char **word = words; word && *word; word++)
        free(*word);
    free(words);
}

/* The call */

/* On several hosts the file may be seen late. */
static bool has_come(const char *mark)
{
    enum { TRIES = 40, PAUSE_US = 50000 };

    for (int i = 0; i < TRIES; i++) {
        if (access(mark, F_OK) == 0)
            return true;
        usleep(PAUSE_US);
    }
    return false;
}

__attribute__((noreturn)) static void refuse_children(const struct rp_call *call,
                                                      const struct rp_spawn *spawn)
{
    rp_error("%s: the children run without reprise, so the program is stopped here rather than "
             "recorded or replayed wrongly: is '%s' statically linked, or does it clear LD_PRELOAD "
             "or its environment?",
             call->function, spawn->commands[0]);
    reprise_refused(call->function);
    rp_end_job(REPRISE_EXIT_UNSUPPORTED);
}

static int call_wrapped(const struct rp_call *call, const struct rp_spawn *spawn,
                        const struct spawning *s)
{
    static char env[] = "/usr/bin/env";
    char **commands = calloc((size_t)spawn->count, sizeof *commands);
    char ***argvs = calloc((size_t)spawn->count, sizeof *argvs);
    struct rp_spawn other = *spawn;

    if (!commands || !argvs)
        rp_bug(__FILE__, __LINE__, "out of memory for a spawn");
    other.commands = commands;
    other.argvs = argvs;
    for (int i = 0; i < spawn->count; i++) {
        char path[PATH_MAX];
        char **argv = spawn->argvs ? spawn->argvs[i] : NULL;
        bool found = find_program(spawn->commands[i], spawn->infos[i], path);
        argvs[i] = found ? wrapped(s, path, argv) : argv;
        commands[i] = found ? env : spawn->commands[i];
    }
    int rc = rp_spawn_plain(call, &other);
    for (int i = 0; i < spawn->count; i++)
        if (commands[i] == env)
            free_words(argvs[i]);
    free(argvs);
    free(commands);
    return rc;
}

/* The mark lies beside what the children write: in the record, or by the state of a replay. */
int rp_spawn_with(const struct rp_call *call, const struct rp_spawn *spawn,
                  const struct rp_session *session, const char *job, const char *state,
                  int *children)
{
    struct spawning s = {.session = session, .job = job, .state = state};

    if (snprintf(s.mark, sizeof s.mark, "%s%s%s.mark", state ? state : session->record,
                 state ? "." : "/", job) >= PATH_MAX)
        rp_bug(__FILE__, __LINE__, "the path of the record is too long");
    unlink(s.mark);
    int rc = call_wrapped(call, spawn, &s);
    *children = rc == MPI_SUCCESS ? rp_spawn_children(spawn) : 0;
    if (*children > 0 && !has_come(s.mark))
        refuse_children(call, spawn);
    unlink(s.mark);
    return rc;
}
