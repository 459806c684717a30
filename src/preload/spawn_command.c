/* SPDX-License-Identifier: MIT */
#include "preload/spawn_command.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/diagnostics.h"
#include "job/settings.h"
#include "preload/constants.h"
#include "next.h"

extern char **environ;
static char env[] = "/usr/bin/env";

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
    static const char *const names[] = {"REPRISE_JOB=",    "REPRISE_MARK=",    "REPRISE_RUN=",
                                        "REPRISE_STATE=",  "REPRISE_COMMAND=", "REPRISE_VARIABLES=",
                                        "REPRISE_OUTPUT=", "REPRISE_DET_JOIN="};

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

static char **wrapped(const struct rp_spawn_setting *settings, const char *path, char **argv)
{
    struct words words = {0};

    add_all_settings(&words);
    for (; settings->name; settings++)
        add_setting(&words, settings->name, settings->value);
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

void rp_spawn_with_settings(const struct rp_spawn *spawn, const struct rp_spawn_setting *settings,
                            struct rp_spawn *out)
{
    *out = *spawn;
    out->commands = calloc((size_t)spawn->count, sizeof *out->commands);
    out->argvs = calloc((size_t)spawn->count, sizeof *out->argvs);
    if (!out->commands || !out->argvs)
        rp_bug(__FILE__, __LINE__, "out of memory for a spawn");
    for (int i = 0; i < spawn->count; i++) {
        char path[PATH_MAX];
        char **argv = spawn->argvs ? spawn->argvs[i] : NULL;
        bool found = find_program(spawn->commands[i], spawn->infos[i], path);
        out->argvs[i] = found ? wrapped(settings, path, argv) : argv;
        out->commands[i] = found ? env : spawn->commands[i];
    }
}

void rp_spawn_free(struct rp_spawn *out)
{
    for (int i = 0; i < out->count; i++)
        if (out->commands[i] == env)
            free_words(out->argvs[i]);
    free(out->argvs);
    free(out->commands);
}

bool rp_spawn_has_mark(const char *mark)
{
    enum { TRIES = 40, PAUSE_US = 50000 };

    for (int i = 0; i < TRIES; i++) {
        if (access(mark, F_OK) == 0)
            return true;
        usleep(PAUSE_US);
    }
    return false;
}
