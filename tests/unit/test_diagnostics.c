/* SPDX-License-Identifier: MIT */
/* Messages reach who started the program, wherever that sends its own. */
#include "base/diagnostics.h"

#include <fcntl.h>
#include <unistd.h>

#include "unit.h"

static int make_file(void)
{
    char name[] = "/tmp/reprise-message-XXXXXX";
    int fd = mkstemp(name);

    unlink(name);
    return fd;
}

static const char *content(int fd)
{
    static char text[200];
    ssize_t length = pread(fd, text, sizeof text - 1, 0);

    text[length > 0 ? length : 0] = 0;
    return text;
}

TEST(messages_stay_where_stderr_was_when_the_rank_was_known)
{
    int before = make_file(), after = make_file(), real = dup(STDERR_FILENO);

    dup2(before, STDERR_FILENO);
    rp_diagnostics_process("rank", 3);
    dup2(after, STDERR_FILENO);
    rp_note("first");
    CHECK_STR(content(before), "reprise: rank 3: first\n");
    CHECK_STR(content(after), "");
    for (int fd = 100; fd < 1024; fd++) /* as daemons do */
        close(fd);
    rp_diagnostics_process("rank", -1);
    rp_note("second");
    CHECK_STR(content(after), "reprise: second\n");
    dup2(real, STDERR_FILENO);
}

TEST(messages_can_be_shown)
{
    int before = make_file(), real = dup(STDERR_FILENO);

    rp_diagnostics_process("rank", -1);
    dup2(before, STDERR_FILENO);
    rp_note("'%s' is what it is", "a\nb\x1b[2J\xff caf\xc3\xa9");
    rp_error("%s", "two\nlines\x1b");
    dup2(real, STDERR_FILENO);
    close(real);
    CHECK_STR(content(before), "reprise: 'a\\nb\\x1b[2J\\xff caf\xc3\xa9' is what it is\nreprise: "
                               "error: two\nlines\\x1b\n");
    close(before);
}
