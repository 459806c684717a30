/* SPDX-License-Identifier: MIT */
#include "cli/progressline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"

static time_t begun, last;
static bool shown;

bool rp_progress_line_wanted(void)
{
    const char *terminal = getenv("TERM");

    return isatty(STDERR_FILENO) && terminal && *terminal && strcmp(terminal, "dumb") != 0;
}

bool rp_progress_line_due(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    if (begun == 0)
        begun = last = now.tv_sec;
    if (now.tv_sec == last)
        return false;
    last = now.tv_sec;
    return true;
}

static void put(const char *text, int length)
{
    if (write(STDERR_FILENO, text, (size_t)length) < 0)
        shown = false; /* nobody reads it any more */
}

void rp_progress_line_show(const char *text)
{
    struct winsize size = {0};
    char line[512];
    int room =
        ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 20 ? size.ws_col - 1 : 79;

    shown = true;
    put(line, snprintf(line, sizeof line, "\r\033[K%.*s\r", room < 400 ? room : 400,
                       rp_text_shown(text)));
}

void rp_progress_line_clear(void)
{
    if (shown)
        put("\r\033[K", 4);
    shown = false;
}
