/* SPDX-License-Identifier: MIT */
#include "base/message.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int message_rank = -1;

void rp_message_rank(int rank)
{
    message_rank = rank;
}

static void say(const char *kind, const char *format, va_list arguments)
{
    char text[4096];
    size_t room = sizeof text - 1; /* one byte stays for the newline */
    int used;

    if (message_rank >= 0)
        used = snprintf(text, room, "reprise: rank %d: %s", message_rank, kind);
    else
        used = snprintf(text, room, "reprise: %s", kind);
    int more = vsnprintf(text + used, room - (size_t)used, format, arguments);
    size_t length = (size_t)used + (more < 0 ? 0 : (size_t)more);

    if (length > room - 1)
        length = room - 1;
    text[length++] = '\n';
    if (write(STDERR_FILENO, text, length) < 0)
        return; /* nowhere left to say it */
}

void rp_error(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    say("error: ", format, arguments);
    va_end(arguments);
}

void rp_note(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    say("", format, arguments);
    va_end(arguments);
}

void rp_bug(const char *file, int line, const char *what)
{
    rp_error("internal fault at %s:%d: %s", file, line, what);
    abort();
}
