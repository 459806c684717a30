/* SPDX-License-Identifier: MIT */
/* What happened, a line of JSON each, in the directory of the run: written in one piece by whoever saw it. */
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/settings.h"
#include "ft/ft.h"

void rp_ft_event(const char *what, const char *format, ...)
{
    char path[4096], line[1024];
    const char *directory = rp_setting("REPRISE_FT_DIR");
    struct timespec now;
    va_list arguments;

    if (!directory)
        return;
    clock_gettime(CLOCK_REALTIME, &now);
    int length = snprintf(line, sizeof line, "{\"time\": %lld.%06ld, \"rank\": %d, \"event\": \"%s\", ", (long long)now.tv_sec, now.tv_nsec / 1000, rp_ft.rank, what);
    va_start(arguments, format);
    length += vsnprintf(line + length, sizeof line - (size_t)length - 3, format, arguments);
    va_end(arguments);
    if (length > (int)sizeof line - 3)
        return;
    line[length++] = '}';
    line[length++] = '\n';
    snprintf(path, sizeof path, "%s/events.jsonl", directory);
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (fd < 0)
        return;
    if (write(fd, line, (size_t)length) < 0)
        line[0] = 0;
    close(fd);
}
