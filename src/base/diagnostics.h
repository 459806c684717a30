/* SPDX-License-Identifier: MIT */
/* Messages to the user on stderr. Each is written by one call of write, so that messages of several
 * processes do not mix. */
#ifndef RP_DIAGNOSTICS_H
#define RP_DIAGNOSTICS_H

/* Names this process in its messages: from now on they begin with `reprise: KIND NUMBER: `. Before,
 * and if `number` is negative, they begin with `reprise: `. `kind` must stay valid. The first call
 * with a number copies stderr: messages go to that copy, even if the program redirects stderr,
 * until the program closes the copy. */
void rp_diagnostics_process(const char *kind, int number);

/* Puts `prefix` in front of the number of this process: of a process that was spawned, the name of
 * its job and a dot. It must stay valid; "" by default. */
void rp_diagnostics_job(const char *prefix);

/* Prints an error, or a note, from a printf format. The format has no newline at its end. */
void rp_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
void rp_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Reports a broken invariant of our own code with its place, and aborts. It stays on in release
 * builds. */
void rp_bug(const char *file, int line, const char *what) __attribute__((noreturn));
#define RP_BUG_ON(condition)                                                                       \
    do {                                                                                           \
        if (__builtin_expect(!!(condition), 0))                                                    \
            rp_bug(__FILE__, __LINE__, #condition);                                                \
    } while (0)

#endif
