/* SPDX-License-Identifier: MIT */
/*
 * Settings and preload travel in the environment: every launcher passes it to the ranks on its own
 * host, and options of launchers need not be understood. The first word of the command line that is
 * a program linked with an MPI decides which MPI's library to preload. If there is none (scripts,
 * Python), the launcher decides.
 */
#include "cli/launch.h"

#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "base/diagnostics.h"
#include "job/settings.h"
#include "cli/binary.h"
#include "cli/flavours.h"
#include "cli/window_data.h"
#include "cdc/codec/row_codec.h"
#include "reprise.h"

bool rp_launch_is_inside(void)
{
    return getenv("OMPI_COMM_WORLD_RANK") || getenv("PMI_RANK") || getenv("PMIX_RANK");
}

/* Returns the MPI of the launcher that started us, since a script does not show what it will run.
 * NULL: it may be either MPI, or there is no launcher. */
static const char *mpi_around(void)
{
    if (getenv("OMPI_COMM_WORLD_RANK"))
        return "openmpi";
    return getenv("MPI_LOCALRANKID") && getenv("PMI_RANK")
               ? "mpich"
               : NULL; /* Hydra's; a resource manager sets but the second */
}

/* The file of a flavour's library; "." is the folder of all. */
static char *library_of(const char *flavour, const char *name)
{
    char *folder = rp_flavours_folder(), *path = NULL;

    if (folder && asprintf(&path, "%s/%s/%s", folder, flavour, name) < 0)
        path = NULL;
    free(folder);
    return path;
}

char *rp_launch_gdb_script(void)
{
    char *path = library_of(".", "reprise.gdb"), *real = path ? realpath(path, NULL) : NULL;

    free(path);
    return real;
}

static bool is_openmpi, is_abi; /* what was preloaded for */

void rp_launch_for_openmpi(void)
{
    is_openmpi = true;
}

/* No program calls a function that libreprise-compound.so makes of others. False also if none was
 * looked at, or a script runs it. */
static bool has_no_compounds;

/* AddressSanitizer wants to be the first library. We replace no memory function, so it need not be;
 * and its own library must not be preloaded, since that would put the launcher under it too. */
static enum rp_status stand_before_asan(struct rp_problem *why)
{
    const char *before = getenv("ASAN_OPTIONS");
    char *options = NULL;

    if (asprintf(&options, "%s%sverify_asan_link_order=0", before ? before : "",
                 before && *before ? ":" : "") < 0)
        return rp_fail(why, RP_MEMORY, "out of memory");
    setenv("ASAN_OPTIONS", options, 1);
    free(options);
    return RP_OK;
}

/* In front of what is preloaded already. */
static enum rp_status preload(const char *mpi, const char *name, struct rp_problem *why)
{
    const char *before = getenv("LD_PRELOAD");
    char *list = NULL, *library = library_of(mpi, name),
         *real = library ? realpath(library, NULL) : NULL;
    enum rp_status status = RP_OK;

    if (!real)
        status = rp_fail(why, RP_USAGE, "no library for %s at %s: was reprise built with it?", mpi,
                         library ? library : "?");
    else if (strchr(real, ' ') || strchr(real, ':'))
        status = rp_fail(why, RP_USAGE,
                         "%s: the loader cannot preload from a path with spaces or colons", real);
    else if (asprintf(&list, "%s%s%s", real, before && *before ? ":" : "", before ? before : "") <
             0)
        status = rp_fail(why, RP_MEMORY, "out of memory");
    else
        setenv("LD_PRELOAD", list, 1);
    free(list);
    free(library);
    free(real);
    return status;
}

void rp_launch_as_recorded(const struct rp_manifest *manifest)
{
    setenv("REPRISE_CAPTURE", manifest->capture, 1);
    setenv("REPRISE_THREADS", *manifest->threads ? "1" : "", 1);
    if (!rp_row_codec_by_name(manifest->codec))
        return;
    setenv("REPRISE_MODE", "clocked", 1);
    /* Such a replay hands messages out by messages of a rank to itself. With memory of a GPU, Open
     * MPI 5.0 must not take these the shortest way: it crashes, also without reprise. */
    setenv("OMPI_MCA_btl_self_flags", "1", 0);
}

/* Messages carry clocks: where they are recorded, and in a replay by them. */
static bool has_envelopes(void)
{
    const char *mode = rp_setting("REPRISE_MODE"), *codec = rp_setting("REPRISE_CODEC");

    if (!mode || strcmp(mode, "record") != 0)
        return mode && strcmp(mode, "clocked") == 0;
    if (codec && rp_row_codec_by_name(codec))
        setenv("REPRISE_CLOCKS", "1", 1);
    return rp_setting("REPRISE_CLOCKS") != NULL;
}

static bool is_replay(void)
{
    const char *mode = rp_setting("REPRISE_MODE");

    return mode && (strcmp(mode, "replay") == 0 || strcmp(mode, "clocked") == 0);
}

/* Who does not call such functions does not pay for them. */
static enum rp_status preload_compound(const char *mpi, struct rp_problem *why)
{
    return has_no_compounds ? RP_OK : preload(mpi, "libreprise-compound.so", why);
}

static enum rp_status preload_ft(const char *mpi, struct rp_problem *why)
{
    enum rp_status status = preload(mpi, "libreprise-ft.so", why);

    return status == RP_OK ? preload_compound(mpi, why) : status;
}

/* Each library goes in front of those before: PMPI layers stack so; PnMPI is not needed. */
static enum rp_status preload_flavour(const char *mpi, struct rp_problem *why)
{
    if (rp_setting("REPRISE_FT_RANKS"))
        return preload_ft(mpi, why);
    enum rp_status status =
        rp_setting("REPRISE_STRESS") ? preload(mpi, "libreprise-stress.so", why) : RP_OK;

    if (status == RP_OK && is_replay())
        status = preload(mpi, "libreprise-blocking.so", why);
    if (status == RP_OK && (rp_setting("REPRISE_RANKS") || rp_setting("REPRISE_SOLO")))
        status = preload(mpi, "libreprise-partial.so", why);
    if (status == RP_OK && has_envelopes())
        status = preload(mpi, "libreprise-piggyback.so", why);
    if (status == RP_OK && rp_setting("REPRISE_DET"))
        status = preload(mpi, "libreprise-det.so", why);
    if (status == RP_OK && (rp_setting("REPRISE_MODE") || !rp_setting("REPRISE_DET")))
        status = preload(mpi, "libreprise.so", why);
    if (status == RP_OK)
        status = preload_compound(mpi, why);
    if (status == RP_OK && rp_setting("REPRISE_GIVEN"))
        status = preload(mpi, "libreprise-outputs.so", why);
    return status;
}

enum rp_status rp_launch_preload_for(const char *mpi, const char *library, const char *asan,
                                     struct rp_problem *why)
{
    struct rp_flavour flavour;
    enum rp_status status = rp_flavour_choose(mpi, library, &flavour, why);

    if (status == RP_OK) {
        is_openmpi = strcmp(flavour.family, "openmpi") == 0;
        is_abi = strcmp(flavour.family, "abi") == 0;
        status = preload_flavour(flavour.name, why);
    }
    if (status == RP_OK && asan)
        status = stand_before_asan(why);
    return status;
}

struct found {
    const char *mpi;
    char *library; /* of that MPI */
    char *asan;
    char *static_program;
    char *shmem_program;
    bool script; /* it does not show what it will run */
    struct rp_window_data windows;
    bool compounds; /* a program calls a function that is made of others */
};

bool rp_launch_is_interpreter(const char *path)
{
    static const char *const names[] = {"python", "perl",    "ruby", "julia", "octave", "lua",
                                        "tclsh",  "Rscript", "R",    "sh",    "bash",   "dash",
                                        "ksh",    "zsh",     "csh",  "tcsh"};
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t length = strlen(names[i]);
        if (strncmp(name, names[i], length) == 0 &&
            name[length + strspn(name + length, "0123456789.")] == 0)
            return true;
    }
    return false;
}

static void note_program(struct found *found, const struct rp_binary *binary)
{
    rp_window_data_note(&found->windows, binary);
    found->compounds |= binary->mpi && binary->compounds;
    if (!found->mpi && binary->mpi) {
        found->mpi = binary->mpi;
        found->library = binary->mpi_library ? strdup(binary->mpi_library) : NULL;
        found->asan = binary->asan ? strdup(binary->asan) : NULL;
    }
    if (binary->kind == RP_BINARY_STATIC && binary->executable && !found->static_program)
        found->static_program = strdup(binary->path);
    if (binary->executable &&
        (binary->kind == RP_BINARY_SCRIPT || rp_launch_is_interpreter(binary->path)))
        found->script = true;
    if (binary->shmem && !found->shmem_program)
        found->shmem_program = strdup(binary->path);
}

/* The words behind a program are its own, up to the colon that leads to the next program. */
static void look_at_words(char **command, struct found *found)
{
    struct rp_problem ignored;
    bool skips = false;

    for (char **word = command; *word; word++) {
        struct rp_binary binary;
        skips &= strcmp(*word, ":") != 0;
        if (skips || (*word)[0] == '-' || rp_binary_look(*word, &binary, &ignored) != RP_OK)
            continue;
        note_program(found, &binary);
        skips = binary.mpi != NULL;
        rp_binary_free(&binary);
    }
}

static enum rp_status check_mpi_name(const char *mpi, struct rp_problem *why)
{
    if (!mpi || rp_flavour_is_name(mpi))
        return RP_OK;
    return rp_fail(why, RP_USAGE,
                   "'%s' is no MPI that reprise knows: openmpi, mpich or abi, or the name of one "
                   "that it was built for",
                   mpi);
}

const char *rp_launch_program(char **command)
{
    struct rp_problem ignored;
    struct rp_binary binary;
    const char *runs = NULL;

    for (char **word = command; *word; word++) {
        if ((*word)[0] == '-' || rp_binary_look(*word, &binary, &ignored) != RP_OK)
            continue;
        bool linked = binary.mpi != NULL;
        if (binary.executable && word > command && !runs)
            runs = *word;
        rp_binary_free(&binary);
        if (linked)
            return *word;
    }
    return runs ? runs : command[0];
}

enum rp_status rp_launch_preload(const char *mpi, const char *usual, char **command,
                                 struct rp_problem *why)
{
    struct found found = {0};
    struct rp_binary first;
    enum rp_status status = check_mpi_name(mpi, why);

    if (status == RP_OK)
        status = rp_binary_look(command[0], &first, why);
    if (status != RP_OK)
        return status;
    rp_binary_free(&first);
    look_at_words(command, &found);
    has_no_compounds = found.mpi && !found.script && !found.compounds;
    if (!mpi)
        mpi = found.mpi;
    if (!mpi && found.static_program)
        status = rp_fail(why, RP_UNSUPPORTED,
                         "%s is statically linked: there is no way into it; link it dynamically",
                         found.static_program);
    if (!mpi && usual && strcmp(usual, "abi") == 0)
        mpi = usual; /* the launcher may be that of any MPI */
    if (!mpi && status == RP_OK)
        mpi = rp_binary_launcher_mpi(command[0]);
    if (!mpi && status == RP_OK && found.script)
        mpi = mpi_around();
    if (!mpi && status == RP_OK)
        mpi = usual;
    if (!mpi && status == RP_OK)
        status =
            rp_fail(why, RP_USAGE,
                    "cannot see which MPI '%s' uses: say it by --mpi, as openmpi, mpich or abi",
                    command[0]);
    if (status == RP_OK && found.shmem_program && rp_setting("REPRISE_DET"))
        status = rp_fail(why, RP_UNSUPPORTED,
                         "%s is an OpenSHMEM program, which cannot be made deterministic; 'reprise "
                         "record --ranks all' records it",
                         found.shmem_program);
    if (status == RP_OK)
        rp_window_data_choose(&found.windows);
    if (status == RP_OK)
        status = rp_launch_preload_for(mpi, found.library, found.asan, why);
    rp_window_data_free(&found.windows);
    free(found.shmem_program);
    free(found.asan);
    free(found.library);
    free(found.static_program);
    return status;
}

void rp_launch_note_place(void)
{
    const char *set = rp_setting("REPRISE_DIR");
    char *base = rp_path_absolute(set ? set : ".reprise"), *here = getcwd(NULL, 0);

    if (base)
        setenv("REPRISE_DIR", base, 1);
    if (here)
        setenv("REPRISE_DIRECTORY", here, 1);
    free(base);
    free(here);
}

enum rp_status rp_launch_note_command(char **command, bool inside, struct rp_problem *why)
{
    struct rp_buffer text = {0};

    rp_buffer_byte(&text, '[');
    for (char **word = command; *word; word++) {
        if (word != command)
            rp_buffer_byte(&text, ',');
        rp_json_put_string(&text, *word);
    }
    rp_buffer_put(&text, "]", 2);
    if (text.failed)
        return rp_fail(why, RP_MEMORY, "out of memory");
    setenv("REPRISE_COMMAND", (char *)text.bytes, 1);
    setenv("REPRISE_LAUNCHED", inside ? "inside" : "outside", 1);
    rp_buffer_free(&text);
    return RP_OK;
}

static char *called;

void rp_launch_call_it(char *name)
{
    called = name;
}

int rp_launch_become(char **command)
{
    char *file = command[0];

    if (called)
        command[0] = called;
    execvp(file, command);
    rp_error("%s: cannot start: %s", file, strerror(errno));
    return REPRISE_EXIT_USAGE;
}

static pid_t child;
static int ended_by;
static int into[2] = {-1, -1}, from = -1;

static volatile sig_atomic_t insisted, stopped;

enum { INSIST_SECONDS = 10 };

static void note_stop(int signal)
{
    stopped = signal;
}

static void pass_on(int signal)
{
    stopped = signal;
    if (child > 0)
        kill(child, signal);
    alarm(INSIST_SECONDS);
}

/* A launcher that is caught in its own clean-up does not mind being asked. */
static void insist(int signal)
{
    (void)signal;
    insisted = 1;
    if (child > 0)
        kill(child, SIGKILL);
}

void rp_launch_signal(int signal)
{
    if (child > 0)
        kill(child, signal);
}

pid_t rp_launch_process(void)
{
    return child;
}

int rp_launch_ended_by(void)
{
    return ended_by;
}

int rp_launch_was_stopped(void)
{
    return stopped;
}

/* Ctrl-C reaches the launcher by itself; other signals that mean "end" are passed on, so that we
 * live to say what was recorded. */
static void handle_signals(void)
{
    struct sigaction pass = {.sa_handler = pass_on}, late = {.sa_handler = insist},
                     note = {.sa_handler = note_stop};

    sigaction(SIGTERM, &pass, NULL);
    sigaction(SIGHUP, &pass, NULL);
    sigaction(SIGALRM, &late, NULL);
    sigaction(SIGINT, &note, NULL);
    sigaction(SIGQUIT, &note, NULL);
}

static int wait_for_child(void (*watch)(void *), void *data)
{
    struct timespec pause = {0, 2000000};
    int status;

    for (;;) {
        pid_t done = waitpid(child, &status, watch ? WNOHANG : 0);
        if (done == child)
            break;
        if (done < 0 && errno != EINTR)
            return REPRISE_EXIT_INTERNAL;
        if (!watch)
            continue;
        watch(data);
        nanosleep(&pause, NULL);
        if (pause.tv_nsec < 10000000)
            pause.tv_nsec += pause.tv_nsec / 4;
    }
    alarm(0);
    ended_by = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    if (insisted)
        rp_error("the launcher did not end within %d seconds when it was told to: it was killed",
                 INSIST_SECONDS);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/*
 * Open MPI's launcher passes a variable to ranks on other hosts only with -x; the other launchers
 * pass all. The variables that the user passes keep their way: Open MPI has two, which must not be
 * mixed.
 */

static bool is_given(const char *name)
{
    return strcmp(name, "LD_PRELOAD") == 0 || strcmp(name, "ASAN_OPTIONS") == 0 ||
           strncmp(name, "REPRISE_", 8) == 0;
}

/* All names that ranks need, each followed by NULL or the next; to be freed. */
static char **names_to_give(size_t *count)
{
    extern char **environ;
    size_t variables = 0;
    char **names;

    while (environ[variables])
        variables++;
    names = calloc(variables + 1, sizeof *names);
    *count = 0;
    for (size_t i = 0; names && i < variables; i++) {
        char *name = strndup(environ[i], strcspn(environ[i], "="));
        if (name && is_given(name))
            names[(*count)++] = name;
        else
            free(name);
    }
    return names;
}

/* With the standard ABI, the launcher says which MPI it is. */
static bool is_openmpi_launcher(const char *word)
{
    const char *mpi = is_openmpi ? "openmpi" : is_abi ? rp_binary_launcher_mpi(word) : NULL;
    static const char *const launchers[] = {"mpirun",         "mpiexec",         "orterun",
                                            "mpirun.openmpi", "mpiexec.openmpi", "oshrun",
                                            "shmemrun",       "prterun"};
    const char *slash = strrchr(word, '/'), *name = slash ? slash + 1 : word;

    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++)
        if (strcmp(name, launchers[i]) == 0)
            return mpi && strcmp(mpi, "openmpi") == 0;
    return false;
}

static void give_by_list(char **names, size_t count)
{
    struct rp_buffer list = {0};

    rp_buffer_printf(&list, "%s", getenv("OMPI_MCA_mca_base_env_list"));
    for (size_t i = 0; i < count; i++)
        rp_buffer_printf(&list, ";%s", names[i]);
    rp_buffer_byte(&list, 0);
    if (!list.failed)
        setenv("OMPI_MCA_mca_base_env_list", (char *)list.bytes, 1);
    rp_buffer_free(&list);
}

/* `-x NAME` for each, behind the launcher and behind every ':' that begins another program. */
static char **give_by_option(char **command, char **names, size_t count)
{
    size_t words = 0, programs = 1, at = 0;

    for (; command[words]; words++)
        programs += strcmp(command[words], ":") == 0;
    char **longer = calloc(words + programs * 2 * count + 1, sizeof *longer);
    for (size_t i = 0; longer && i < words; i++) {
        longer[at++] = command[i];
        for (size_t k = 0; (i == 0 || strcmp(command[i], ":") == 0) && k < count; k++) {
            longer[at++] = "-x";
            longer[at++] = names[k];
        }
    }
    return longer;
}

static char **give_environment(char **command)
{
    size_t count = 0;
    char **names = is_openmpi_launcher(command[0]) ? names_to_give(&count) : NULL, **longer = NULL;

    if (names && getenv("OMPI_MCA_mca_base_env_list"))
        give_by_list(names, count);
    else if (names)
        longer = give_by_option(command, names, count);
    return longer ? longer : command; /* until we exit */
}

void rp_launch_from(int in)
{
    from = in;
}

void rp_launch_into(int out, int err)
{
    into[0] = out;
    into[1] = err;
}

int rp_launch_run(char **command, void (*watch)(void *), void *data)
{
    command = give_environment(command);
    fflush(NULL);
    child = fork();
    if (child < 0) {
        rp_error("cannot fork: %s", strerror(errno));
        return REPRISE_EXIT_INTERNAL;
    }
    if (child == 0) {
        if (from >= 0)
            dup2(from, STDIN_FILENO);
        for (int i = 0; i < 2; i++)
            if (into[i] >= 0)
                dup2(into[i], i + 1);
        _exit(rp_launch_become(command));
    }
    handle_signals();
    return wait_for_child(watch, data);
}

int rp_launch_say_untouched(const char *done, char **command, int status)
{
    if (status)
        rp_error("nothing was %s: no process of '%s', which ended with status %d, came out of "
                 "MPI_Init under reprise. Did it end before, or did MPI_Init fail? Else 'reprise "
                 "doctor PROGRAM' checks whether it can be entered",
                 done, command[0], status);
    else
        rp_error("nothing was %s: no process of '%s' called MPI_Init under reprise. Is it an MPI "
                 "program, and dynamically linked? "
                 "'reprise doctor PROGRAM' tells. Ranks on other hosts need the environment: see "
                 "'reprise env --help'",
                 done, command[0]);
    return status ? status : REPRISE_EXIT_UNSUPPORTED;
}
