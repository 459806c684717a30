/* SPDX-License-Identifier: MIT */
#include "base/reopen_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

static bool is_ours(const struct rp_reopen *file, int fd)
{
    struct stat about;

    return fd >= 0 && fstat(fd, &about) == 0 && about.st_dev == file->device &&
           about.st_ino == file->inode;
}

int rp_reopen_open(struct rp_reopen *file, const char *path, int flags)
{
    int fd = rp_open_regular(path, flags), error = errno;

    if (fd >= 0)
        error = rp_reopen_adopt(file, fd);
    else
        *file = (struct rp_reopen){.fd = -1};
    if (fd >= 0 && error)
        close(fd);
    file->path = path;
    file->flags = flags & ~(O_CREAT | O_EXCL);
    return error;
}

int rp_reopen_adopt(struct rp_reopen *file, int fd)
{
    struct stat about;

    *file = (struct rp_reopen){.fd = -1};
    if (fstat(fd, &about) != 0)
        return errno;
    file->fd = fd;
    file->device = about.st_dev;
    file->inode = about.st_ino;
    return 0;
}

void rp_reopen_lock(struct rp_reopen *file)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

    file->locked = true;
    fcntl(file->fd, F_SETLK, &lock);
}

int rp_reopen_fd(struct rp_reopen *file)
{
    if (is_ours(file, file->fd))
        return file->fd;
    if (!file->path) {
        errno = EBADF;
        return -1;
    }
    int fd = rp_open_regular(file->path, file->flags);
    if (fd < 0)
        return -1;
    if (!is_ours(file, fd)) {
        close(fd);
        errno = ESTALE; /* another file has replaced ours at this path */
        return -1;
    }
    file->fd = fd; /* the program uses the old number now */
    if (file->locked)
        rp_reopen_lock(file);
    return fd;
}

int rp_reopen_write(struct rp_reopen *file, const void *bytes, size_t length, off_t offset)
{
    int fd = rp_reopen_fd(file);

    return fd < 0 ? errno : rp_write_all(fd, bytes, length, offset);
}

int rp_reopen_write_parts(struct rp_reopen *file, struct iovec *parts, int count, off_t offset)
{
    int fd = rp_reopen_fd(file);

    return fd < 0 ? errno : rp_write_parts(fd, parts, count, offset);
}

int rp_reopen_read(struct rp_reopen *file, void *bytes, size_t length, off_t offset)
{
    int fd = rp_reopen_fd(file);

    return fd < 0 ? errno : rp_read_all(fd, bytes, length, offset);
}

int rp_reopen_truncate(struct rp_reopen *file, off_t length)
{
    int fd = rp_reopen_fd(file);

    return fd < 0 || ftruncate(fd, length) != 0 ? errno : 0;
}

void rp_reopen_close(struct rp_reopen *file)
{
    if (is_ours(file, file->fd))
        close(file->fd);
    file->fd = -1;
}
