/* SPDX-License-Identifier: MIT */
#include "job/job_progress.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static struct rp_process_progress *map(int fd, size_t lines)
{
    void *memory = mmap(NULL, lines * sizeof(struct rp_process_progress), PROT_READ | PROT_WRITE,
                        MAP_SHARED, fd, 0);

    return memory == MAP_FAILED ? NULL : memory;
}

static int open_in(const char *directory, int flags)
{
    char path[PATH_MAX];

    return snprintf(path, sizeof path, "%s/roll", directory) < PATH_MAX
               ? open(path, O_RDWR | O_CLOEXEC | flags, 0600)
               : -1;
}

enum gate { UNDECIDED, OPEN, CLOSED };

/* Line 0 of the file holds the state of the gate. */
struct rp_process_progress *rp_job_progress_make(const char *directory, size_t lines)
{
    int fd = open_in(directory, O_CREAT | O_EXCL);
    off_t bytes = (off_t)((lines + 1) * sizeof(struct rp_process_progress));
    struct rp_process_progress *all =
        fd >= 0 && ftruncate(fd, bytes) == 0 ? map(fd, lines + 1) : NULL;

    if (fd >= 0)
        close(fd);
    return all ? all + 1 : NULL;
}

static bool has_line(int fd, size_t line)
{
    struct stat is;

    return fstat(fd, &is) == 0 && (size_t)is.st_size / sizeof(struct rp_process_progress) > line;
}

struct rp_process_progress *rp_job_progress_open(const char *directory, size_t line)
{
    int fd = open_in(directory, 0);
    struct rp_process_progress *all = fd >= 0 && has_line(fd, line + 1) ? map(fd, line + 2) : NULL;

    if (fd >= 0)
        close(fd);
    return all ? all + 1 + line : NULL;
}

static struct rp_process_progress *own_line;

static void is_terminated(int signal)
{
    struct sigaction plain = {.sa_handler = SIG_DFL};

    if (own_line->process == (int32_t)getpid())
        own_line->left = RP_PROCESS_TERMINATED;
    sigaction(signal, &plain, NULL);
    raise(signal);
}

static bool is_handled_by(void (*handler)(int))
{
    struct sigaction now;

    return sigaction(SIGTERM, NULL, &now) == 0 && !(now.sa_flags & SA_SIGINFO) &&
           now.sa_handler == handler;
}

void rp_job_progress_note_term(struct rp_process_progress *line)
{
    struct sigaction ours = {.sa_handler = is_terminated};

    own_line = line;
    if (is_handled_by(SIG_DFL))
        sigaction(SIGTERM, &ours, NULL);
}

void rp_job_progress_let_term(void)
{
    struct sigaction plain = {.sa_handler = SIG_DFL};

    if (is_handled_by(is_terminated))
        sigaction(SIGTERM, &plain, NULL);
}

static bool decide(struct rp_process_progress *line, size_t number, int32_t wanted)
{
    int32_t is = UNDECIDED;

    return atomic_compare_exchange_strong(&(line - number - 1)->state, &is, wanted) || is == wanted;
}

bool rp_job_progress_open_gate(struct rp_process_progress *line, size_t number)
{
    return decide(line, number, OPEN);
}

bool rp_job_progress_close_gate(struct rp_process_progress *line, size_t number)
{
    return decide(line, number, CLOSED);
}

bool rp_job_progress_gate_is_open(const struct rp_process_progress *line, size_t number)
{
    return (line - number - 1)->state == OPEN;
}

const struct rp_process_progress *rp_job_progress_look(const char *directory, size_t *lines)
{
    int fd = open_in(directory, 0);
    struct stat is;
    size_t count = fd >= 0 && fstat(fd, &is) == 0
                       ? (size_t)is.st_size / sizeof(struct rp_process_progress)
                       : 0;
    const struct rp_process_progress *all = count > 1 ? map(fd, count) : NULL;

    if (fd >= 0)
        close(fd);
    *lines = all ? count - 1 : 0;
    return all ? all + 1 : NULL;
}
