/* SPDX-License-Identifier: MIT */
#include "base/diagnostics.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/reopen_file.h"
#include "base/text.h"

static const char *process_kind;
static const char *process_job = "";
static int process_number = -1;
static struct rp_reopen listener = {.fd = -1};

/* Copies stderr early: programs redirect it as soon as a process knows its number. */
static void keep_listener(void)
{
    enum { LOWEST = 100 }; /* numbers below are the program's */
    int copy = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, LOWEST);

    if (copy >= 0 && rp_reopen_adopt(&listener, copy) != 0)
        close(copy);
}

void rp_diagnostics_process(const char *kind, int number)
{
    process_kind = kind;
    process_number = number;
    if (number >= 0 && listener.fd < 0)
        keep_listener();
}

void rp_diagnostics_job(const char *prefix)
{
    process_job = prefix;
}

/* Whether newlines stay. They are ours in a format that has some, and in a text that was put
 * together before (`%s` alone); elsewhere they belong to a name, and are escaped. */
static bool has_lines(const char *format)
{
    return strchr(format, '\n') || strcmp(format, "%s") == 0;
}

static void say(const char *kind, const char *format, va_list arguments)
{
    char made[4096] = "", text[sizeof made + 192];
    size_t room = sizeof text - 1; /* one byte stays for the newline */
    int used;

    if (process_number >= 0)
        used = snprintf(text, room, "reprise: %s %.100s%d: %s", process_kind, process_job,
                        process_number, kind);
    else
        used = snprintf(text, room, "reprise: %s", kind);
    vsnprintf(made, sizeof made, format, arguments);
    size_t length = (size_t)used + rp_text_escape(text + used, room - (size_t)used, made,
                                                  strlen(made), has_lines(format));
    text[length++] = '\n';
    int kept = rp_reopen_fd(&listener);
    if (write(kept >= 0 ? kept : STDERR_FILENO, text, length) < 0)
        return; /* stderr is closed */
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
