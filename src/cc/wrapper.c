/* SPDX-License-Identifier: MIT */
/* reprise-cc, reprise-c++ and reprise-fc: one program under three names. It takes a compiler's
 * command line, adds what makes the code count (ticks.h) or, with --track, report its loads and
 * stores (window/tracking.h), and becomes the compiler.
 *
 * Where the code is compiled, that is a plugin of ours if there is one for this compiler and
 * version, else calls: at every basic block (-fsanitize-coverage=trace-pc), or before every load
 * and store (-fsanitize=thread). Where a program or shared library is linked, it is the counter, or
 * what is called. Only the compiler proper gets -fsanitize=thread: at link time it would add a
 * library. Everything else passes unchanged, so that configure, CMake and their like find the
 * compiler that they know. */
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/diagnostics.h"
#include "base/installed.h"
#include "cc/commandline.h"
#include "reprise.h"

extern char **environ;

struct language {
    const char *name, *setting, *compiler, *mpi;
};

static const struct language languages[] = {{"reprise-cc", "REPRISE_CC", "cc", "mpicc"},
                                            {"reprise-c++", "REPRISE_CXX", "c++", "mpicxx"},
                                            {"reprise-fc", "REPRISE_FC", "gfortran", "mpif90"}};

enum how { AUTO, PLUGIN, CALLS, OFF };

struct job {
    const struct language *language;
    enum how how;      /* to count, or to track */
    bool track, ticks; /* --track; --ticks was given */
    bool calls;        /* there is no plugin, or it is not wanted */
    bool show;
    bool inside; /* another reprise-cc calls this one, through an MPI's wrapper: all is said already
                  */
    char **words; /* the command to be, room for all that can be added */
    int count;
    int own;               /* words of the compiler itself */
    char folder[PATH_MAX]; /* with our plugins and what is linked */
};

static const char within[] = "REPRISE_CC_WITHIN";

static const char help[] =
    "usage: reprise-cc [OPTION...] [COMPILER'S OPTIONS...]\n"
    "       reprise-c++, reprise-fc likewise\n"
    "\n"
    "Compiles and links like the compiler, so that the program counts what it executes.\n"
    "\n"
    "options:\n"
    "  --mpi              use the MPI's wrapper: mpicc, mpicxx, mpif90\n"
    "  --mpi=NAME         the one of this MPI: mpicc.NAME, as openmpi or mpich\n"
    "  --ticks=HOW        how to count: auto, plugin, calls, off\n"
    "  --track            the program does not count, but tells of its loads from window memory "
    "and its stores there\n"
    "  --track=HOW        how to: auto, plugin, calls\n"
    "  --reprise-show     print the command instead of running it\n"
    "  --reprise-help     print this help\n"
    "\n"
    "Settings, from the environment: REPRISE_CC, REPRISE_CXX, REPRISE_FC, the compilers; default: "
    "cc, c++, gfortran.\n";

static void __attribute__((noreturn)) die(int status)
{
    exit(status);
}

static void *must(void *memory)
{
    if (!memory) {
        rp_error("out of memory");
        die(REPRISE_EXIT_INTERNAL);
    }
    return memory;
}

static void push(struct job *job, const char *word)
{
    job->words[job->count++] = must(strdup(word));
}

static void push_joined(struct job *job, const char *option, const char *folder, const char *file)
{
    char *word;
    if (asprintf(&word, "%s%s/%s", option, folder, file) < 0)
        must(NULL);
    job->words[job->count++] = word;
}

/* Our own options, which come first or anywhere: no compiler knows these names. */

static const char *option_value(const char *word, const char *name)
{
    size_t length = strlen(name);
    return strncmp(word, name, length) == 0 && word[length] == '=' ? word + length + 1 : NULL;
}

static enum how parse_how(const char *option, const char *text, enum how last)
{
    static const char *const names[] = {"auto", "plugin", "calls", "off"};
    for (int i = 0; i <= (int)last; i++)
        if (strcmp(text, names[i]) == 0)
            return (enum how)i;
    rp_error("%s=%s: it is one of auto, plugin, calls%s", option, text, last == OFF ? ", off" : "");
    die(REPRISE_EXIT_USAGE);
}

/* Whether the word was ours. `mpi` gets the name of an MPI, or "". */
static bool read_own_option(struct job *job, const char *word, const char **mpi)
{
    const char *value;
    if (strcmp(word, "--reprise-help") == 0) {
        fputs(help, stdout);
        die(0);
    }
    if (strcmp(word, "--reprise-show") == 0)
        job->show = true;
    else if (strcmp(word, "--track") == 0)
        job->track = true;
    else if ((value = option_value(word, "--track"))) {
        job->how = parse_how("--track", value, CALLS);
        job->track = true;
    } else if (strcmp(word, "--mpi") == 0)
        *mpi = "";
    else if ((value = option_value(word, "--mpi")))
        *mpi = value;
    else if ((value = option_value(word, "--ticks"))) {
        job->how = parse_how("--ticks", value, OFF);
        job->ticks = job->how != OFF;
    } else
        return false;
    return true;
}

static bool is_on_path(const char *name)
{
    char *list = must(strdup(getenv("PATH") ? getenv("PATH") : "")), path[PATH_MAX];
    bool found = strchr(name, '/') && access(name, X_OK) == 0;

    for (char *rest = list, *folder; !found && (folder = strsep(&rest, ":"));)
        found =
            snprintf(path, sizeof path, "%s/%s", *folder ? folder : ".", name) < (int)sizeof path &&
            access(path, X_OK) == 0;
    free(list);
    return found;
}

/* Before it is asked what it is: a compiler that does not answer is taken for one that is not
 * known. */
static void check_wrapper(const char *option, const char *name)
{
    if (is_on_path(name))
        return;
    rp_error("%s%s: there is no %s on the PATH", *option ? "--mpi=" : "--mpi", option, name);
    die(REPRISE_EXIT_USAGE);
}

/* The compiler. A setting may have several words, as in "ccache gcc". Inside of another reprise-cc
 * it is the usual one: the setting may be what called us. */
static void push_compiler(struct job *job, const char *mpi)
{
    const char *setting = job->inside ? NULL : getenv(job->language->setting);
    char *name = NULL;
    if (mpi) {
        if (asprintf(&name, "%s%s%s", job->language->mpi, *mpi ? "." : "", mpi) < 0)
            must(NULL);
    } else {
        name = must(strdup(setting && *setting ? setting : job->language->compiler));
    }
    for (char *rest = name, *word; (word = strtok_r(rest, " ", &rest));)
        push(job, word);
    free(name);
    job->own = job->count;
}

/* What the compiler is: asked of itself, through whatever wraps it. */

struct compiler {
    int gcc, clang; /* the major version, or 0 */
};

static void read_macro(const char *line, const char *macro, int *value)
{
    size_t length = strlen(macro);
    if (strncmp(line, "#define ", 8) == 0 && strncmp(line + 8, macro, length) == 0 &&
        line[8 + length] == ' ')
        *value = atoi(line + 8 + length);
}

static pid_t start_question(struct job *job, int *out)
{
    char *words[job->own + 6];
    int ends[2];
    pid_t pid;
    posix_spawn_file_actions_t actions;
    memcpy(words, job->words, (size_t)job->own * sizeof *words);
    memcpy(words + job->own, (char *[]){"-dM", "-E", "-x", "c", "/dev/null", NULL},
           6 * sizeof *words);
    if (pipe(ends))
        return -1;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    posix_spawn_file_actions_addclose(&actions, ends[0]);
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", 1, 0);
    if (posix_spawnp(&pid, words[0], &actions, NULL, words, environ))
        pid = -1;
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    *out = ends[0];
    return pid;
}

static struct compiler ask_compiler(struct job *job)
{
    struct compiler found = {0};
    char line[4096];
    int out, status;
    pid_t pid = start_question(job, &out);
    FILE *answer = pid < 0 ? NULL : must(fdopen(out, "r"));
    while (answer && fgets(line, sizeof line, answer)) {
        read_macro(line, "__GNUC__", &found.gcc);
        read_macro(line, "__clang_major__", &found.clang);
    }
    if (answer) {
        fclose(answer);
        waitpid(pid, &status, 0);
    }
    if (found.clang)
        found.gcc = 0;
    return found;
}

/* What is added */

static bool push_plugin(struct job *job, struct compiler compiler, const char *what)
{
    char name[64], path[PATH_MAX + 64];
    snprintf(name, sizeof name, "reprise-%s-%s-%d.so", what, compiler.clang ? "llvm" : "gcc",
             compiler.clang ? compiler.clang : compiler.gcc);
    snprintf(path, sizeof path, "%s/%s", job->folder, name);
    if (access(path, R_OK))
        return false;
    push_joined(job, compiler.clang ? "-fpass-plugin=" : "-fplugin=", job->folder, name);
    return true;
}

static void __attribute__((noreturn))
refuse_calls(struct job *job, struct compiler compiler, const char *why)
{
    rp_error("%s: no plugin of reprise for %s %d in %s; build reprise where its plugin headers are "
             "installed, or use %s",
             job->words[0],
             compiler.clang ? "clang"
             : compiler.gcc ? "gcc"
                            : "a compiler that is neither gcc nor clang, version",
             compiler.clang ? compiler.clang : compiler.gcc, job->folder, why);
    die(REPRISE_EXIT_UNSUPPORTED);
}

/* Older ones of clang do not call before a load if there is a store to the same place behind it. It
 * does not call before accesses of more than 16 bytes, which it makes of smaller ones in loops. */
static void push_track_calls(struct job *job, struct compiler compiler)
{
    enum { CLANG_CALLS = 12 };
    static const char *const by_clang[] = {"-Xclang",        "-fsanitize=thread",
                                           "-mllvm",         "-tsan-instrument-read-before-write",
                                           "-fno-vectorize", "-fno-slp-vectorize"};

    if (compiler.clang && compiler.clang < CLANG_CALLS)
        refuse_calls(job, compiler, "another compiler: --track=calls needs clang 12, or gcc");
    if (compiler.gcc) {
        push_joined(job, "-specs=", job->folder, "reprise-track-calls.specs");
        return;
    }
    for (size_t i = 0; i < sizeof by_clang / sizeof *by_clang; i++)
        push(job, by_clang[i]);
}

static void push_compiling(struct job *job, const struct rp_commandline *line)
{
    struct compiler compiler = ask_compiler(job);
    bool gcc_links =
        compiler.gcc && line->links; /* then code may be made by the linker, of what -flto left */
    int count = job->count;
    bool plugged = job->how != CALLS && push_plugin(job, compiler, job->track ? "track" : "ticks");
    job->calls = !plugged && job->how != PLUGIN;
    if (!line->compiles && !gcc_links)
        job->count = count;
    if (job->track && job->calls && line->sanitizes) {
        rp_error("-fsanitize: code that is tracked by calls cannot have it, since the compiler's "
                 "own is used; a plugin would do without (--track=plugin)");
        die(REPRISE_EXIT_UNSUPPORTED);
    }
    if (plugged || (!line->compiles && !(job->track && job->calls && gcc_links)))
        return;
    if (job->how == PLUGIN)
        refuse_calls(job, compiler, job->track ? "--track=calls" : "--ticks=calls");
    if (!compiler.gcc && !compiler.clang)
        refuse_calls(job, compiler, job->track ? "gcc or clang" : "--ticks=calls");
    if (job->track)
        push_track_calls(job, compiler);
    else
        push(job, "-fsanitize-coverage=trace-pc");
}

/* By -Xlinker, so that neither -x nor a comma in the path changes its meaning. */
static void push_for_linker(struct job *job, const char *word)
{
    push(job, "-Xlinker");
    push(job, word);
}

/* Functions of the C library that cc/track_calls.c has, too. */
static void push_wrapped(struct job *job)
{
    static const char *const names[] = {"memcpy",
                                        "memmove",
                                        "memset",
                                        "__memcpy_chk",
                                        "__memmove_chk",
                                        "__memset_chk",
                                        "sched_yield",
                                        "sleep",
                                        "usleep",
                                        "nanosleep",
                                        "clock_nanosleep",
                                        "poll",
                                        "select",
                                        "pthread_mutex_init",
                                        "pthread_rwlock_init",
                                        "pthread_cond_init",
                                        "pthread_barrier_init",
                                        "pthread_spin_init",
                                        "sem_init"};
    char word[64];

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(word, sizeof word, "--wrap=%s", names[i]);
        push_for_linker(job, word);
    }
}

/* The version script of a library would make what it exports local, a second one: such a library
 * gets none, and takes the program's. */
static void push_linking(struct job *job, const struct rp_commandline *line)
{
    push(job, "-Xlinker");
    push_joined(job, "", job->folder,
                !job->track  ? "reprise-ticks-calls.o"
                : job->calls ? "reprise-track-calls.o"
                             : "reprise-track-hooks.o");
    if (job->track && job->calls)
        push_wrapped(job);
    if (line->scripted && line->strict) {
        push_for_linker(job, "-z");
        push_for_linker(job, "undefs");
    }
    if (line->scripted)
        return;
    push_for_linker(job, job->track ? "--export-dynamic-symbol=reprise_track"
                                    : "--export-dynamic-symbol=reprise_ticks");
    if (job->track) {
        push_for_linker(job, "--export-dynamic-symbol=reprise_track_off");
        push_for_linker(job, "--export-dynamic-symbol=reprise_track_size");
    }
    push(job, "-Xlinker");
    push_joined(job, "", job->folder, job->track ? "reprise-track.o" : "reprise-ticks.o");
}

static void find_folder(struct job *job)
{
    char *folder = must(rp_installed_folder());

    if (snprintf(job->folder, sizeof job->folder, "%s/cc", folder) >= (int)sizeof job->folder)
        job->folder[0] = 0;
    free(folder);
}

static const struct language *language_of(const char *program)
{
    const char *slash = strrchr(program, '/'), *name = slash ? slash + 1 : program;
    for (size_t i = 0; i < sizeof languages / sizeof *languages; i++)
        if (strcmp(name, languages[i].name) == 0)
            return &languages[i];
    return &languages[0];
}

/* 'reprise-cc mpicc a.c' would take mpicc for a file to link, and not find mpi.h. */
static void refuse_wrapper(const char *word)
{
    static const char *const wrappers[] = {"mpicc",  "mpicxx", "mpic++", "mpiCC",
                                           "mpif77", "mpif90", "mpifort"};
    const char *slash = strrchr(word, '/'), *name = slash ? slash + 1 : word;

    for (size_t i = 0; i < sizeof wrappers / sizeof *wrappers; i++) {
        size_t length = strlen(wrappers[i]);
        if (strncmp(name, wrappers[i], length) != 0 ||
            (name[length] && strcmp(name + length, ".openmpi") != 0 &&
             strcmp(name + length, ".mpich") != 0))
            continue;
        rp_error("'%s' is not given to the compiler: 'reprise-cc --mpi', or '--mpi=openmpi', uses "
                 "the MPI's wrapper; REPRISE_CC, REPRISE_CXX or REPRISE_FC names another compiler",
                 word);
        die(REPRISE_EXIT_USAGE);
    }
}

static void build(struct job *job, int argc, char **argv)
{
    const char *mpi = NULL;
    char **rest = must(calloc((size_t)argc + 1, sizeof *rest));
    int count = 0;
    struct rp_commandline line;

    for (int i = 1; i < argc; i++)
        if (!read_own_option(job, argv[i], &mpi))
            rest[count++] = argv[i];
    if (job->track && job->ticks) {
        rp_error("--track and --ticks: code either counts or is tracked");
        die(REPRISE_EXIT_USAGE);
    }
    if (count > 0 && !job->inside)
        refuse_wrapper(rest[0]);
    push_compiler(job, mpi);
    rp_commandline_read(count, rest, &line);
    bool adds = (job->track || job->how != OFF) && !line.asks && !line.adds && !job->inside;
    for (int i = 0; i < count; i++)
        push(job, rest[i]);
    if (mpi && (adds || !job->show))
        check_wrapper(mpi, job->words[0]);
    if (adds)
        push_compiling(job, &line);
    if (adds && line.links)
        push_linking(job, &line);
    free(rest);
}

static void show(const struct job *job)
{
    for (int i = 0; i < job->count; i++)
        printf("%s%s", i ? " " : "", job->words[i]);
    putchar('\n');
}

int main(int argc, char **argv)
{
    const char *setting;
    struct job job = {.language = language_of(argv[0]), .inside = getenv(within)};
    setting = getenv(job.language->setting);
    job.words =
        must(calloc((size_t)argc + 96 + (setting ? strlen(setting) : 0), sizeof *job.words));
    setenv(within, "1", 1);
    find_folder(&job);
    build(&job, argc, argv);
    if (job.show) {
        show(&job);
        return 0;
    }
    execvp(job.words[0], job.words);
    rp_error("%s: %m", job.words[0]);
    return REPRISE_EXIT_USAGE;
}
