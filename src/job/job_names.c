/* SPDX-License-Identifier: MIT */
#include "job/job_names.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "job/settings.h"

const char *rp_job_own(void)
{
    const char *job = rp_setting("REPRISE_JOB");

    return job && rp_job_is_name(job) ? job : "";
}

/* Pairs of numbers, separated by dots. */
bool rp_job_is_name(const char *name)
{
    unsigned numbers = 0;
    const char *at = name;

    for (;;) {
        size_t digits = strspn(at, "0123456789");
        if (digits == 0 || digits > 9)
            return false;
        numbers++;
        at += digits;
        if (*at == 0)
            return numbers % 2 == 0 && strlen(name) < RP_JOB_NAME;
        if (*at++ != '.')
            return false;
    }
}

const char *rp_process_name(const char *job, long rank, char name[RP_PROCESS_NAME])
{
    snprintf(name, RP_PROCESS_NAME, "%.*s%s%ld", RP_JOB_NAME, job, *job ? "." : "", rank);
    return name;
}

bool rp_job_of_spawn(const char *process, unsigned long n, char name[RP_JOB_NAME])
{
    return snprintf(name, RP_JOB_NAME, "%s.%lu", process, n) < RP_JOB_NAME;
}

const char *rp_ranks_words(unsigned ranks, unsigned children, char text[RP_RANKS_WORDS])
{
    int length = snprintf(text, RP_RANKS_WORDS, "%u ranks", ranks);

    if (children > 0)
        snprintf(text + length, RP_RANKS_WORDS - (size_t)length, " and %u child%s", children,
                 children == 1 ? "" : "ren");
    return text;
}

int rp_job_compare(const char *one, const char *other)
{
    while (*one && *other) {
        char *end, *other_end;
        long a = strtol(one, &end, 10), b = strtol(other, &other_end, 10);
        if (a != b)
            return a < b ? -1 : 1;
        if (end == one || other_end == other)
            break;
        one = end + (*end == '.');
        other = other_end + (*other_end == '.');
    }
    return (*one != 0) - (*other != 0);
}

void rp_job_enter(void)
{
    const char *mark = rp_setting("REPRISE_MARK");
    int fd = mark ? open(mark, O_WRONLY | O_CREAT | O_CLOEXEC, 0600) : -1;

    if (fd >= 0)
        close(fd);
}
