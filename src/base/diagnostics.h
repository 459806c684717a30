/* SPDX-License-Identifier: MIT */
/* Messages to the user on stderr. Each is written by one call of write, so that messages of several
 * processes do not mix. */
#ifndef RP_DIAGNOSTICS_H
#define RP_DIAGNOSTICS_H

/* From now on messages begin `reprise: rank N: `. Before, and after -1, `reprise: `. Since the
 * first N they go to what stderr was then, wherever the program puts it, unless the program has
 * closed our copy. */
void rp_diagnostics_rank(int rank);

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

/* Behind the verdict on a run without events. */
#define RP_NOTHING_OPEN                                                                            \
    "there are no events: MPI left nothing open in this run, so there was nothing to choose and "  \
    "nothing to compare"

#endif
