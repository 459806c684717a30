/* SPDX-License-Identifier: MIT */
#include "log/rundir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

enum { NUMBER_LIMIT = 1000000 };

static char *base_directory(void)
{
    const char *set = getenv("REPRISE_DIR");

    return rp_path_absolute(set && *set ? set : ".reprise");
}

static enum rp_status first_free(const char *base, const char *name, char **out,
                                 struct rp_problem *why)
{
    for (int n = 1; n < NUMBER_LIMIT; n++) {
        char *path;
        if (asprintf(&path, "%s/%s-%d", base, name, n) < 0)
            return rp_fail(why, RP_MEMORY, "%s: out of memory", base);
        if (mkdir(path, RP_PRIVATE_DIRECTORY) == 0) {
            *out = path;
            return RP_OK;
        }
        int error = errno;
        if (error != EEXIST)
            rp_fail(why, RP_SYSTEM, "%s: cannot create: %s", path, strerror(error));
        free(path);
        if (error != EEXIST)
            return RP_SYSTEM;
    }
    return rp_fail(why, RP_SYSTEM, "%s: no free number for %s", base, name);
}

enum rp_status rp_run_new(const char *name, char **out, struct rp_problem *why)
{
    char *base = base_directory();

    if (!base)
        return rp_fail(why, RP_MEMORY, "out of memory");
    enum rp_status status = rp_make_directory(base, true, why);
    if (status == RP_OK)
        status = first_free(base, name, out, why);
    free(base);
    return status;
}

static bool is_empty_directory(const char *path)
{
    DIR *dir = opendir(path);
    int entries = 0;

    if (!dir)
        return false;
    while (readdir(dir))
        entries++;
    closedir(dir);
    return entries <= 2;
}

/* Takes the lock by which a process shows others that it uses an empty directory; -1: another has
 * it. On file systems without such locks, the first manifest that is written decides
 * (rp_manifest_write). */
static int hold(const char *directory)
{
    int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        close(fd);
        return -1;
    }
    return fd >= 0 ? fd : INT_MAX;
}

static bool is_held(const char *directory)
{
    int fd = hold(directory);

    if (fd >= 0 && fd < INT_MAX)
        close(fd);
    return fd < 0;
}

/* What is not ours stays as it is: the files in it are private all the same. */
static void make_private(const char *directory)
{
    struct stat about;

    if (stat(directory, &about) == 0 && (about.st_mode & (S_IRWXG | S_IRWXO)) != 0 &&
        chmod(directory, about.st_mode & RP_PRIVATE_DIRECTORY) != 0)
        errno = 0;
}

/* Absolute, and without slashes at its end: neighbours have longer names. To be freed. */
static char *whole_path(const char *path)
{
    char *whole = rp_path_absolute(path);
    size_t length = whole ? strlen(whole) : 0;

    while (length > 1 && whole[length - 1] == '/')
        whole[--length] = 0;
    return whole;
}

enum rp_status rp_run_new_at(const char *path, char **out, struct rp_problem *why)
{
    char *absolute = whole_path(path);

    if (!absolute)
        return rp_fail(why, RP_MEMORY, "%s: out of memory", path);
    enum rp_status status = rp_make_directory(absolute, false, why);
    if (status == RP_USAGE && is_empty_directory(absolute)) {
        make_private(absolute);
        status = RP_OK;
    }
    if (status == RP_OK && is_held(absolute))
        status = rp_fail(why, RP_BUSY,
                         "%s exists already: another recording is about to write there", absolute);
    if (status == RP_OK && access(absolute, W_OK | X_OK) != 0)
        status = rp_fail(why, RP_SYSTEM, "%s: cannot write there: %s", absolute, strerror(errno));
    if (status == RP_OK)
        *out = absolute;
    else
        free(absolute);
    return status;
}

static enum rp_status reserve_neighbour(const char *whole, char **out, struct rp_problem *why)
{
    for (int n = 2; n < NUMBER_LIMIT; n++) {
        char *neighbour;
        if (asprintf(&neighbour, "%s.%d", whole, n) < 0)
            return rp_fail(why, RP_MEMORY, "%s: out of memory", whole);
        enum rp_status status = rp_make_directory(neighbour, false, why);
        if (status == RP_OK && hold(neighbour) >= 0) {
            *out = neighbour;
            return RP_OK;
        }
        free(neighbour);
        if (status != RP_OK && status != RP_USAGE)
            return status;
    }
    return rp_fail(why, RP_SYSTEM, "%s: no free number", whole);
}

enum rp_status rp_run_reserve(const char *path, char **out, struct rp_problem *why)
{
    enum rp_status status = rp_run_new_at(path, out, why);

    if (status == RP_OK && hold(*out) < 0) {
        free(*out);
        status = RP_BUSY;
    }
    if (status != RP_BUSY)
        return status;
    char *whole = whole_path(path);
    status = whole ? reserve_neighbour(whole, out, why) : rp_fail(why, RP_MEMORY, "out of memory");
    free(whole);
    return status;
}

void rp_run_set_latest(const char *directory)
{
    struct rp_problem ignored;
    char *base = base_directory(), *latest = NULL, *temporary = NULL;

    if (!base || rp_make_directory(base, true, &ignored) != RP_OK)
        goto done;
    latest = rp_path_join(base, "latest");
    if (!latest || asprintf(&temporary, "%s/.latest.%d", base, (int)getpid()) < 0)
        goto done;
    unlink(temporary);
    if (symlink(directory, temporary) == 0 && rename(temporary, latest) != 0)
        unlink(temporary);
done:
    free(base);
    free(latest);
    free(temporary);
}

static bool is_directory(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static enum rp_status find_in_base(const char *name, char **out, struct rp_problem *why)
{
    char *base = base_directory();
    char *path = base ? rp_path_join(base, name) : NULL;
    enum rp_status status = RP_OK;

    if (!path)
        status = rp_fail(why, RP_MEMORY, "out of memory");
    else if (is_directory(path))
        *out = realpath(path, NULL);
    else if (strcmp(name, "latest") == 0)
        status = rp_fail(why, RP_USAGE,
                         "no record yet in %s: run 'reprise record' first, or name one", base);
    else
        status = rp_fail(why, RP_USAGE, "no record '%s', neither here nor in %s", name, base);
    if (status == RP_OK && !*out)
        status = rp_fail(why, RP_SYSTEM, "%s: %s", path, strerror(errno));
    free(base);
    free(path);
    return status;
}

enum rp_status rp_run_find(const char *name, char **out, struct rp_problem *why)
{
    *out = NULL;
    if (!name || strcmp(name, "latest") == 0)
        return find_in_base("latest", out, why);
    if (access(name, F_OK) == 0 && !is_directory(name))
        return rp_fail(why, RP_USAGE, "%s is not a record: it is not a directory", name);
    if (!is_directory(name))
        return find_in_base(name, out, why);
    *out = rp_path_absolute(name);
    return *out ? RP_OK : rp_fail(why, RP_MEMORY, "out of memory");
}
