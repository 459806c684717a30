/* SPDX-License-Identifier: MIT */
/* fcntl's locks belong to the process: a mutex keeps its threads apart. */
#include "base/shared_counter.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"

static pthread_mutex_t threads = PTHREAD_MUTEX_INITIALIZER;

bool rp_shared_counter_create(struct rp_shared_counter *counter, char *path)
{
    int64_t zero = 0;

    counter->fd = mkostemp(path, O_CLOEXEC);
    if (counter->fd >= 0 && rp_write_all(counter->fd, &zero, sizeof zero, 0) != 0) {
        rp_shared_counter_close(counter);
        unlink(path);
    }
    return counter->fd >= 0;
}

bool rp_shared_counter_open(struct rp_shared_counter *counter, const char *path)
{
    counter->fd = rp_open_regular(path, O_RDWR);
    return counter->fd >= 0;
}

void rp_shared_counter_close(struct rp_shared_counter *counter)
{
    if (counter->fd >= 0)
        close(counter->fd);
    *counter = (struct rp_shared_counter)RP_SHARED_COUNTER_OWN;
}

static bool set_lock(int fd, short type)
{
    struct flock whole = {.l_type = type, .l_whence = SEEK_SET};
    int rc;

    do
        rc = fcntl(fd, F_SETLKW, &whole);
    while (rc != 0 && errno == EINTR);
    return rc == 0;
}

enum change { ADD, SET, RAISE };

static int64_t changed(int64_t value, enum change how, int64_t operand)
{
    if (how == ADD)
        return value + operand;
    return how == RAISE && value > operand ? value : operand;
}

static int64_t change_file(int fd, enum change how, int64_t operand)
{
    int64_t before, after;

    if (!set_lock(fd, F_WRLCK))
        return -1;
    if (rp_read_all(fd, &before, sizeof before, 0) != 0)
        before = -1;
    after = changed(before, how, operand);
    if (before >= 0 && after != before && rp_write_all(fd, &after, sizeof after, 0) != 0)
        before = -1;
    set_lock(fd, F_UNLCK);
    return before;
}

static int64_t change(struct rp_shared_counter *counter, enum change how, int64_t operand)
{
    pthread_mutex_lock(&threads);
    int64_t before = counter->value;
    if (counter->fd >= 0)
        before = change_file(counter->fd, how, operand);
    else
        counter->value = changed(before, how, operand);
    pthread_mutex_unlock(&threads);
    return before;
}

int64_t rp_shared_counter_get(struct rp_shared_counter *counter)
{
    return change(counter, ADD, 0);
}

int64_t rp_shared_counter_add(struct rp_shared_counter *counter, int64_t amount)
{
    return change(counter, ADD, amount);
}

int64_t rp_shared_counter_set(struct rp_shared_counter *counter, int64_t value)
{
    return change(counter, SET, value);
}

int64_t rp_shared_counter_raise(struct rp_shared_counter *counter, int64_t value)
{
    return change(counter, RAISE, value);
}
