/* SPDX-License-Identifier: MIT */
/*
 * The end of the job. Whoever creates the file `ending` in the directory of the run is the one that
 * ends it. The file holds the status; behind it, if the job ends in MPI_Init, who died there.
 */
#include "ft/ft_abort.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/diagnostics.h"
#include "base/file.h"
#include "ft/ft_state.h"
#include "job/settings.h"
#include "reprise.h"

static void path_of_ending(char path[4096])
{
    snprintf(path, 4096, "%s/ending",
             rp_setting("REPRISE_FT_DIR") ? rp_setting("REPRISE_FT_DIR") : "/nowhere");
}

void rp_ft_end_if_ending(void)
{
    char path[4096];
    int status = 1;

    path_of_ending(path);
    FILE *file = fopen(path, "r");
    if (!file)
        return;
    if (fscanf(file, "%d", &status) != 1)
        status = 1;
    rp_ft.on = false;
    _exit(status);
}

/* The command ends the launcher, which may wait for the dead. */
static _Noreturn void end(int status, const char *why, bool calls_mpi)
{
    enum { PATIENCE = 8 };
    char path[4096];

    rp_ft.on = false;
    path_of_ending(path);
    int fd = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, RP_PRIVATE_FILE);
    bool is_other = fd < 0 && errno == EEXIST;
    if (fd >= 0)
        dprintf(fd, "%d\n", status);
    if (why && !is_other)
        rp_error("%s", why);
    if (is_other)
        sleep(PATIENCE);
    else if (calls_mpi && rp_real.Abort && MPI_COMM_WORLD) /* not of another MPI */
        rp_real.Abort(MPI_COMM_WORLD, status);
    _exit(status);
}

void rp_ft_end(int status)
{
    end(status, NULL, true);
}

static _Noreturn void end_saying(int status, bool calls_mpi, const char *format, va_list arguments)
{
    char text[1024];

    vsnprintf(text, sizeof text, format, arguments);
    end(status, text, calls_mpi);
}

void rp_ft_die(int status, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    end_saying(status, true, format, arguments);
}

void rp_ft_give_up(int status, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    end_saying(status, false, format, arguments);
}

void rp_ft_end_in_init(const char *died)
{
    enum { PATIENCE = 60 };
    char path[4096];

    path_of_ending(path);
    int fd = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
    if (fd >= 0)
        dprintf(fd, "%d init %s\n", REPRISE_EXIT_INTERNAL, died);
    sleep(PATIENCE);
    _exit(REPRISE_EXIT_INTERNAL);
}

void rp_ft_refuse(const char *name)
{
    rp_ft_die(REPRISE_EXIT_UNSUPPORTED,
              "%s is not supported by 'reprise ft': what it does could not be recovered", name);
}

void *rp_ft_alloc(size_t bytes)
{
    void *memory = calloc(1, bytes ? bytes : 1);

    if (!memory)
        rp_ft_die(REPRISE_EXIT_INTERNAL, "out of memory for %zu bytes in %s", bytes,
                  rp_ft.call ? rp_ft.call : "MPI");
    return memory;
}
