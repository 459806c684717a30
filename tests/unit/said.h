/* SPDX-License-Identifier: MIT */
/* What a module writes to standard error, where that is expected: caught, and kept in `said`. */
#ifndef SAID_H
#define SAID_H

#include <fcntl.h>
#include <unistd.h>

#include "unit.h"

static char said[4096];
static int saved_stderr, said_file;

static void catch_messages(void)
{
    said_file = open(unit_temporary(), O_RDWR | O_TMPFILE, 0600);
    saved_stderr = dup(STDERR_FILENO);
    dup2(said_file, STDERR_FILENO);
}

static void stop_catching(void)
{
    dup2(saved_stderr, STDERR_FILENO);
    close(saved_stderr);
    ssize_t length = pread(said_file, said, sizeof said - 1, 0);
    said[length > 0 ? length : 0] = 0;
    close(said_file);
}

#endif
