/* SPDX-License-Identifier: MIT */
/* What `reprise ft` does with and without --tasks: finds an MPI with ULFM, rewrites the command for
 * its launcher, and starts a job again that did not come out of MPI_Init. */
#include "cli/ft_launch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/file.h"
#include "base/diagnostics.h"
#include "job/settings.h"
#include "cli/stdin_feed.h"
#include "cli/launch.h"

/* An MPI with ULFM */

/* Asking the library is quicker than asking ompi_info, which loads every component; but
 * distributions put it elsewhere. */
static bool library_has_it(const char *prefix)
{
    static const char name[] = "PMPIX_Comm_shrink";
    char path[PATH_MAX + 64];
    struct rp_buffer library = {0};
    struct rp_problem why;

    snprintf(path, sizeof path, "%s/lib/libmpi.so", prefix);
    bool found = rp_read_file(path, SIZE_MAX / 2, &library, &why) == RP_OK &&
                 memmem(library.bytes, library.length, name, sizeof name);
    rp_buffer_free(&library);
    return found;
}

/* Where several MPIs share a prefix, as with Debian, the plain name may be another's. */
static bool find_launcher(const char *prefix, char path[PATH_MAX + 64])
{
    static const char *const names[] = {"mpirun.openmpi", "mpirun"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, PATH_MAX + 64, "%s/bin/%s", prefix, names[i]);
        if (access(path, X_OK) == 0)
            return true;
    }
    return false;
}

static bool is_capable(const char *prefix)
{
    char command[PATH_MAX + 64], line[512];
    bool found = false;

    if (!find_launcher(prefix, command))
        return false;
    if (library_has_it(prefix))
        return true;
    snprintf(command, sizeof command, "'%s/bin/ompi_info' 2>/dev/null", prefix);
    FILE *pipe = popen(command, "r");
    while (pipe && fgets(line, sizeof line, pipe))
        found |= strstr(line, "FT MPI support: yes") != NULL;
    if (pipe)
        pclose(pipe);
    return found;
}

/* The prefix of the first mpirun on the PATH; false: there is none. */
static bool prefix_on_path(char prefix[PATH_MAX])
{
    const char *path = getenv("PATH");

    for (const char *at = path; at && *at; at += strspn(at, ":")) {
        int length = (int)strcspn(at, ":");
        char candidate[PATH_MAX];
        if (snprintf(candidate, sizeof candidate, "%.*s/mpirun", length, at) < PATH_MAX &&
            access(candidate, X_OK) == 0) {
            snprintf(prefix, PATH_MAX, "%.*s/..", length, at);
            return true;
        }
        at += length;
    }
    return false;
}

/* What tools/ulfm built for this user. */
static bool prefix_in_cache(char prefix[PATH_MAX])
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    char pattern[PATH_MAX];
    glob_t found;
    bool any;

    if (cache && *cache)
        snprintf(pattern, sizeof pattern, "%s/reprise/openmpi-*", cache);
    else
        snprintf(pattern, sizeof pattern, "%s/.cache/reprise/openmpi-*", home ? home : "");
    any = glob(pattern, 0, NULL, &found) == 0 && found.gl_pathc > 0;
    if (any)
        snprintf(prefix, PATH_MAX, "%s", found.gl_pathv[found.gl_pathc - 1]);
    globfree(&found);
    return any;
}

/* Of a launcher that was named by its path; false: it was not. */
static bool prefix_of_launcher(const char *launcher, char prefix[PATH_MAX])
{
    const char *slash = strrchr(launcher, '/');

    return slash &&
           snprintf(prefix, PATH_MAX, "%.*s/..", (int)(slash - launcher), launcher) < PATH_MAX;
}

enum rp_status rp_ft_find_mpi(const char *launcher, char prefix[PATH_MAX], struct rp_problem *why)
{
    const char *set = rp_setting("REPRISE_ULFM");

    if (set) {
        snprintf(prefix, PATH_MAX, "%s", set);
        return is_capable(prefix)
                   ? RP_OK
                   : rp_fail(why, RP_USAGE,
                             "REPRISE_ULFM is %s, but there is no Open MPI with ULFM (bin/mpirun, "
                             "and bin/ompi_info that says 'FT MPI support: yes')",
                             set);
    }
    if (prefix_of_launcher(launcher, prefix) && is_capable(prefix))
        return RP_OK;
    if ((prefix_on_path(prefix) && is_capable(prefix)) ||
        (prefix_in_cache(prefix) && is_capable(prefix)))
        return RP_OK;
    return rp_fail(
        why, RP_UNSUPPORTED,
        "surviving dead ranks needs an MPI with ULFM, which neither the mpirun on the PATH belongs "
        "to nor is in the cache: load an Open MPI 5 that was configured with --with-ft=ulfm, set "
        "REPRISE_ULFM to its "
        "prefix, or make one once with tools/ulfm --build of reprise's source (some 15 minutes)");
}

/* The command line of the launcher */

static bool is_launcher(const char *word)
{
    const char *slash = strrchr(word, '/'), *name = slash ? slash + 1 : word;

    return strncmp(name, "mpirun", 6) == 0 || strncmp(name, "mpiexec", 7) == 0 ||
           strcmp(name, "prterun") == 0;
}

static bool says_number(const char *word)
{
    static const char *const names[] = {"-n", "-np", "--np", "--n", "-c"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(word, names[i]) == 0)
            return true;
    return false;
}

enum rp_status rp_ft_number(const char *name, const char *text, long least, long most, long *value,
                            struct rp_problem *why)
{
    char *rest;

    errno = 0;
    long number = strtol(text, &rest, 10);
    if (errno || rest == text || *rest || number < least || number > most)
        return rp_fail(why, RP_USAGE, "%s %s: a whole number from %ld to %ld is expected", name,
                       text, least, most);
    *value = number;
    return RP_OK;
}

/* The words, with the other launcher and the spares counted in; to be freed with its [0] and
 * number. */
enum rp_status rp_ft_rewrite(char **words, const char *prefix, long spares, char ***out,
                             struct rp_problem *why)
{
    size_t count = 0, at = 0;
    long ranks = 0;
    char *number = NULL, *launcher = NULL;

    while (words[count])
        count++;
    if (!is_launcher(words[0]))
        return rp_fail(why, RP_USAGE, "%s: a launcher is expected, such as mpirun -n 4 ./program",
                       words[0]);
    for (size_t i = 1; i + 1 < count && !ranks; i++)
        if (says_number(words[i])) {
            enum rp_status status =
                rp_ft_number(words[i], words[i + 1], 1, INT_MAX - RP_FT_MOST_SPARES, &ranks, why);
            if (status != RP_OK)
                return status;
            if (asprintf(&number, "%ld", ranks + spares) < 0)
                return rp_fail(why, RP_MEMORY, "out of memory");
            words[i + 1] = number;
        }
    if (!ranks)
        return rp_fail(why, RP_USAGE,
                       "the number of ranks is not seen in the command: mpirun -n RANKS");
    for (size_t i = 1; i < count; i++)
        if (strcmp(words[i], ":") == 0)
            return rp_fail(why, RP_UNSUPPORTED,
                           "several programs in one command (':') cannot be run so");
    *out = calloc(count + 8, sizeof **out);
    char path[PATH_MAX + 64];
    if (!*out || !find_launcher(prefix, path) || !(launcher = strdup(path)))
        return rp_fail(why, RP_MEMORY, "out of memory");
    (*out)[at++] = launcher;
    (*out)[at++] = "--with-ft";
    (*out)[at++] = "ulfm";
    (*out)[at++] = "--map-by";
    (*out)[at++] = ":OVERSUBSCRIBE";
    memcpy(*out + at, words + 1, (count - 1) * sizeof *words);
    char text[16];
    snprintf(text, sizeof text, "%ld", ranks);
    setenv("REPRISE_FT_RANKS", text, 1);
    return RP_OK;
}

/* Libraries of Open MPI 4, such as its Fortran, bring its inner library along; that of the MPI that
 * runs must be found before it. */
static void preload_inner_library(const char *prefix)
{
    const char *before = getenv("LD_PRELOAD");
    char path[PATH_MAX + 32], *real, *list = NULL;

    snprintf(path, sizeof path, "%s/lib/libopen-pal.so", prefix);
    real = realpath(path, NULL);
    if (real && !strpbrk(real, " :") && asprintf(&list, "%s:%s", before ? before : "", real) > 0)
        setenv("LD_PRELOAD", list, 1);
    free(list);
    free(real);
}

bool rp_ft_is_on_one_host(char **words)
{
    const char *nodes = getenv("SLURM_NNODES");
    bool one_host = !nodes || strcmp(nodes, "1") == 0;

    for (char **word = words; *word; word++)
        one_host &= strncmp(*word, "--host", 6) != 0 && strncmp(*word, "-host", 5) != 0 &&
                    strcmp(*word, "-H") != 0 && strncmp(*word, "-machinefile", 12) != 0;
    return one_host;
}

/* Sets for any Open MPI 5 what tools/ulfm sets in its own build. A job with other values, from a
 * file or meant for jobs without failures, would not survive a failure. */
static void set_as_built(void)
{
    const char *pml = getenv("OMPI_MCA_pml");

    if (pml && strcmp(pml, "ob1") != 0)
        rp_note("OMPI_MCA_pml=%s does not learn of failures: ob1 is taken instead", pml);
    setenv("OMPI_MCA_pml", "ob1", 1);
    setenv("OMPI_MCA_async_mpi_finalize", "1",
           1); /* without it survivors may wait for the dead in MPI_Finalize */
    setenv("OMPI_MCA_coll", "^han,adapt,hcoll,ucc,sync,monitoring", 0);
    setenv("OMPI_MCA_osc", "^monitoring", 0);
    setenv("OMPI_MCA_topo", "^treematch", 0);
}

/* On one host nothing but shared memory is needed, and it says least when a process dies. */
void rp_ft_set_up_mpi(char **words, const char *prefix, const char *directory)
{
    const char *before = getenv("LD_LIBRARY_PATH");
    bool one_host = rp_ft_is_on_one_host(words), respawn = getenv("REPRISE_FT_RESPAWN");
    char *list = NULL;

    if (one_host)
        setenv("OMPI_MCA_btl", respawn ? "sm,tcp,self" : "sm,self",
               0); /* processes that were started later have no shared memory with others */
    else
        setenv("OMPI_MCA_btl", "^ofi,uct,usnic,portals4", 0);
    if (one_host && respawn)
        setenv("OMPI_MCA_btl_tcp_if_include", "lo", 0);
    if (one_host && strncmp(directory, "/dev/shm/", 9) == 0)
        setenv("OMPI_MCA_btl_sm_backing_directory", directory,
               0); /* what the dead leave there goes with it */
    set_as_built();
    setenv("OMPI_MCA_btl_sm_free_list_max", "-1",
           0); /* buffers of messages to the dead do not come back */
    setenv("OMPI_MCA_btl_sm_segment_size", "134217728", 0);
    /* Spares sleep: they are no reason to give cores away. */
    setenv("OMPI_MCA_mpi_yield_when_idle",
           one_host && strtol(getenv("REPRISE_FT_RANKS"), NULL, 10) <= sysconf(_SC_NPROCESSORS_ONLN)
               ? "0"
               : "1",
           0);
    if (asprintf(&list, "%s/lib%s%s", prefix, before && *before ? ":" : "", before ? before : "") >
        0)
        setenv("LD_LIBRARY_PATH", list, 1);
    free(list);
    preload_inner_library(prefix);
}

/* The directory of the run */

/* This process and the launcher hold the lock as long as they live: so what killed ones left behind
 * differs from what is in use. */
static bool lock(const char *path, int flags)
{
    int fd = open(path, O_RDWR | flags, RP_PRIVATE_FILE);
    bool locked = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0;

    if (fd >= 0 && !locked)
        close(fd);
    return locked;
}

/* Under its name there is never a file that is not locked yet: another command would take what is
 * here for left behind. */
static bool make_lock(const char *directory)
{
    char path[PATH_MAX + 16], first[PATH_MAX + 16];

    snprintf(path, sizeof path, "%s/lock", directory);
    snprintf(first, sizeof first, "%s/lock-to-be", directory);
    return lock(first, O_CREAT) && rename(first, path) == 0;
}

static void remove_stale(const char *base)
{
    char pattern[PATH_MAX], path[2 * PATH_MAX];
    glob_t found;

    snprintf(pattern, sizeof pattern, "%s/reprise-ft-??????", base);
    if (glob(pattern, 0, NULL, &found) == 0)
        for (size_t i = 0; i < found.gl_pathc; i++) {
            snprintf(path, sizeof path, "%s/lock", found.gl_pathv[i]);
            if (lock(path, O_CLOEXEC))
                rp_remove_directory(found.gl_pathv[i]);
        }
    globfree(&found);
}

enum rp_status rp_ft_make_directory(char path[PATH_MAX], struct rp_problem *why)
{
    const char *base = access("/dev/shm", W_OK) == 0 ? "/dev/shm"
                       : getenv("TMPDIR")            ? getenv("TMPDIR")
                                                     : "/tmp";

    remove_stale(base);
    snprintf(path, PATH_MAX, "%s/reprise-ft-XXXXXX", base);
    if (!mkdtemp(path) || !make_lock(path))
        return rp_fail(why, RP_SYSTEM, "%s: %s", path, strerror(errno));
    setenv("REPRISE_FT_DIR", path, 1);
    return RP_OK;
}

/* What the launch before left, but for what happened and which of the trials' kills are done. */
static void clear_directory(const char *directory)
{
    static const char *const kept[] = {"lock", "events.jsonl", "kill-"};
    DIR *all = opendir(directory);

    for (struct dirent *entry; all && (entry = readdir(all));) {
        bool stays = entry->d_name[0] == '.';
        for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
            stays |= strncmp(entry->d_name, kept[i], strlen(kept[i])) == 0;
        if (!stays && unlinkat(dirfd(all), entry->d_name, 0) != 0) {
            char *path = rp_path_join(directory, entry->d_name);
            if (path)
                rp_remove_directory(path);
            free(path);
        }
    }
    if (all)
        closedir(all);
}

bool rp_ft_begins_again(const char *directory, struct rp_job *job, const char *what, long launches,
                        long retries)
{
    if (rp_launch_was_stopped() || !rp_job_can_begin_again(job) || launches > retries)
        return false;
    clear_directory(directory);
    if (!rp_stdin_begin()) {
        rp_error("the job is not started again: some of its standard input is gone");
        return false;
    }
    rp_note("%s: the job starts again (%ld of %ld, --retries)", what, launches, retries);
    return true;
}
