/* SPDX-License-Identifier: MIT */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Blocks SIGXFSZ. A write beyond the limit of file sizes (RLIMIT_FSIZE) is an error that we report;
 * the signal would end the program. */
static ssize_t write_quietly(int fd, const struct iovec *parts, int count, off_t offset)
{
    const struct timespec now = {0};
    sigset_t limit, before, waiting;

    sigemptyset(&limit);
    sigaddset(&limit, SIGXFSZ);
    sigpending(&waiting);
    pthread_sigmask(SIG_BLOCK, &limit, &before);
    ssize_t done = count == 1 ? pwrite(fd, parts->iov_base, parts->iov_len, offset)
                              : pwritev(fd, parts, count, offset);
    int error = errno;
    if (done < 0 && error == EFBIG && !sigismember(&waiting, SIGXFSZ))
        sigtimedwait(&limit, NULL, &now);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return done;
}

int rp_write_parts(int fd, struct iovec *parts, int count, off_t offset)
{
    while (count > 0) {
        ssize_t done = parts->iov_len == 0 ? 0 : write_quietly(fd, parts, count, offset);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return errno;
        if (done == 0 && parts->iov_len > 0)
            return ENOSPC;
        offset += done;
        for (; count > 0 && (size_t)done >= parts->iov_len; parts++, count--)
            done -= (ssize_t)parts->iov_len;
        if (count > 0)
            *parts = (struct iovec){(char *)parts->iov_base + done, parts->iov_len - (size_t)done};
    }
    return 0;
}

int rp_write_all(int fd, const void *bytes, size_t length, off_t offset)
{
    return rp_write_parts(fd, &(struct iovec){(void *)bytes, length}, 1, offset);
}

int rp_read_all(int fd, void *bytes, size_t length, off_t offset)
{
    char *at = bytes;

    while (length > 0) {
        ssize_t done = pread(fd, at, length, offset);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return errno;
        if (done == 0)
            return -1;
        at += done;
        offset += done;
        length -= (size_t)done;
    }
    return 0;
}

static const char *kind_of(mode_t mode)
{
    return S_ISREG(mode)    ? NULL
           : S_ISFIFO(mode) ? "a FIFO"
           : S_ISSOCK(mode) ? "a socket"
           : S_ISDIR(mode)  ? "a directory"
                            : "a device";
}

const char *rp_not_regular(const char *path)
{
    struct stat about;

    return stat(path, &about) == 0 ? kind_of(about.st_mode) : NULL;
}

/* Looks at the file before it opens it, since opening can have an effect on a device. O_NONBLOCK
 * covers a FIFO that replaces the file in between: it does not wait for the other end. */
int rp_open_regular(const char *path, int flags)
{
    struct stat about;

    if (rp_not_regular(path)) {
        errno = EMEDIUMTYPE;
        return -1;
    }
    int fd = open(path, flags | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, RP_PRIVATE_FILE);
    if (fd < 0 || (fstat(fd, &about) == 0 && S_ISREG(about.st_mode)))
        return fd;
    close(fd);
    errno = EMEDIUMTYPE;
    return -1;
}

enum rp_status rp_fail_open(struct rp_problem *why, const char *path, int error)
{
    const char *kind = rp_not_regular(path);

    if (kind)
        return rp_fail(why, RP_DAMAGED, "%s: it is %s, not a regular file", path, kind);
    return rp_fail(why, RP_SYSTEM, "%s: cannot open: %s", path, strerror(error));
}

static enum rp_status read_open_file(int fd, const char *path, size_t limit, struct rp_buffer *out,
                                     struct rp_problem *why)
{
    size_t before = out->length;

    for (;;) {
        if (!rp_buffer_reserve(out, 4096))
            return rp_fail(why, RP_MEMORY, "%s: out of memory", path);
        ssize_t done = read(fd, out->bytes + out->length, out->room - out->length - 1);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return rp_fail(why, RP_SYSTEM, "%s: cannot read: %s", path, strerror(errno));
        if (done == 0)
            break;
        out->length += (size_t)done;
        if (out->length - before > limit)
            return rp_fail(why, RP_DAMAGED, "%s: larger than %zu bytes", path, limit);
    }
    out->bytes[out->length] = 0;
    return RP_OK;
}

enum rp_status rp_read_file(const char *path, size_t limit, struct rp_buffer *out,
                            struct rp_problem *why)
{
    int fd = rp_open_regular(path, O_RDONLY);

    if (fd < 0)
        return rp_fail_open(why, path, errno);
    enum rp_status status = read_open_file(fd, path, limit, out, why);
    close(fd);
    return status;
}

enum rp_status rp_write_new_file(const char *path, const void *bytes, size_t length,
                                 struct rp_problem *why)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, RP_PRIVATE_FILE);

    if (fd < 0)
        return rp_fail(why, errno == EEXIST ? RP_USAGE : RP_SYSTEM, "%s: cannot create: %s", path,
                       strerror(errno));
    int error = rp_write_all(fd, bytes, length, 0);
    if (close(fd) != 0 && !error)
        error = errno;
    if (!error)
        return RP_OK;
    unlink(path);
    return rp_fail(why, RP_SYSTEM, "%s: cannot write: %s", path, strerror(error));
}

static enum rp_status make_parents(char *path, struct rp_problem *why)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        int error = mkdir(path, 0777) == 0 || errno == EEXIST ? 0 : errno;
        if (error)
            rp_fail(why, RP_SYSTEM, "%s: cannot create: %s", path, strerror(error));
        *slash = '/';
        if (error)
            return RP_SYSTEM;
    }
    return RP_OK;
}

enum rp_status rp_make_directory(const char *path, bool exist_ok, struct rp_problem *why)
{
    char *copy = strdup(path);

    if (!copy)
        return rp_fail(why, RP_MEMORY, "%s: out of memory", path);
    enum rp_status status = *copy ? make_parents(copy, why) : RP_OK;
    if (status == RP_OK && mkdir(path, RP_PRIVATE_DIRECTORY) != 0 &&
        !(errno == EEXIST && exist_ok)) {
        if (errno == EEXIST)
            status = rp_fail(why, RP_USAGE, "%s exists already: nothing is ever overwritten", path);
        else
            status = rp_fail(why, RP_SYSTEM, "%s: cannot create: %s", path, strerror(errno));
    }
    free(copy);
    return status;
}

static int remove_entry(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
    (void)st, (void)kind, (void)ftw;
    remove(path);
    return 0;
}

void rp_remove_directory(const char *path)
{
    enum { DESCRIPTORS = 8 };

    nftw(path, remove_entry, DESCRIPTORS, FTW_DEPTH | FTW_PHYS);
}

char *rp_path_join(const char *dir, const char *name)
{
    char *path;

    return asprintf(&path, "%s/%s", dir, name) < 0 ? NULL : path;
}

char *rp_path_absolute(const char *path)
{
    if (path[0] == '/')
        return strdup(path);
    char *here = getcwd(NULL, 0);
    if (!here)
        return strdup(path);
    char *whole = rp_path_join(here, path);
    free(here);
    return whole;
}
