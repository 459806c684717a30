/* SPDX-License-Identifier: MIT */
#include "log/det_digest.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

static const char head[] = "reprise decisions 1\n";
#define LINE_FORMAT "%" PRIu32 " %" PRIu64 " %" PRIu64 " %016" PRIx64 "\n"
static const char ended[] = "ended ";
enum { LINE = 96, MOST = 1 << 28 };

/* Jobs of one command may end at the same time. */
static enum rp_status append(const char *path, const void *bytes, size_t length,
                             struct rp_problem *why)
{
    int fd = rp_open_regular(path, O_WRONLY | O_APPEND);

    if (fd < 0)
        return rp_fail_open(why, path, errno);
    ssize_t written = write(fd, bytes, length);
    int error = errno;
    if (close(fd) != 0 && written >= 0) {
        error = errno;
        written = -1;
    }
    return written == (ssize_t)length ? RP_OK
                                      : rp_fail(why, RP_SYSTEM, "%s: cannot write: %s", path,
                                                written < 0 ? strerror(error) : "too little room");
}

enum rp_status rp_det_digest_open(const char *path, struct rp_problem *why)
{
    struct stat about;

    if (stat(path, &about) == 0 && about.st_size > 0)
        return RP_OK;
    return append(path, head, sizeof head - 1, why);
}

enum rp_status rp_det_digest_add(const char *path, const struct rp_det_digest *each, uint32_t ranks,
                                 struct rp_problem *why)
{
    struct rp_buffer text = {0};

    for (uint32_t i = 0; i < ranks; i++)
        rp_buffer_printf(&text, LINE_FORMAT, i, each[i].matches, each[i].answers, each[i].digest);
    enum rp_status status = text.failed ? rp_fail(why, RP_MEMORY, "out of memory")
                                        : append(path, text.bytes, text.length, why);
    rp_buffer_free(&text);
    return status;
}

enum rp_status rp_det_digest_end(const char *path, int exit_status, struct rp_problem *why)
{
    char line[LINE];
    int length = snprintf(line, sizeof line, "%s%d\n", ended, exit_status);

    return append(path, line, (size_t)length, why);
}

static size_t count_lines(const char *text)
{
    size_t lines = 0;

    for (; (text = strchr(text, '\n')); text++)
        lines++;
    return lines;
}

static bool is_head(const char *line)
{
    return strncmp(line, head, sizeof head - 1) == 0;
}

/* "ended STATUS\n", just as it is written; the next line, or NULL. */
static const char *behind_end(const char *line, int *status)
{
    char written[LINE];

    if (strncmp(line, ended, sizeof ended - 1) != 0 ||
        sscanf(line + sizeof ended - 1, "%d", status) != 1)
        return NULL;
    int length = snprintf(written, sizeof written, "%s%d\n", ended, *status);
    return strncmp(line, written, (size_t)length) == 0 ? line + length : NULL;
}

/* Jobs that began at the same time may all have written a head. */
static const char *behind_heads(const char *text)
{
    const char *next;
    int status;

    while ((next = is_head(text) ? text + sizeof head - 1 : behind_end(text, &status)))
        text = next;
    return text;
}

int rp_det_digest_ended(const char *path)
{
    struct rp_buffer text = {0};
    struct rp_problem why;
    int status = 0;
    const char *line =
        rp_read_file(path, MOST, &text, &why) == RP_OK ? (const char *)text.bytes : NULL;

    while (line && !behind_end(line, &status)) {
        line = strchr(line, '\n');
        line = line ? line + 1 : NULL;
    }
    rp_buffer_free(&text);
    return line ? status : 0;
}

/* "RANK MATCHES ANSWERS DIGEST\n", of the expected rank or the first of the next job, just as it is
 * written: numbers of any other form, or over several lines, are none of ours. */
static const char *read_line(const char *line, uint32_t expected, uint32_t *rank,
                             struct rp_det_digest *out)
{
    char written[LINE];

    if (sscanf(line, "%" SCNu32 " %" SCNu64 " %" SCNu64 " %" SCNx64, rank, &out->matches,
               &out->answers, &out->digest) != 4 ||
        (*rank != expected && *rank != 0))
        return NULL;
    int length = snprintf(written, sizeof written, LINE_FORMAT, *rank, out->matches, out->answers,
                          out->digest);
    return strncmp(line, written, (size_t)length) == 0 ? line + length : NULL;
}

static enum rp_status parse(const char *path, const char *text, size_t length,
                            struct rp_det_digest *each, uint32_t *ranks, size_t *count,
                            struct rp_problem *why)
{
    const char *end = text + length;
    uint32_t rank, expected = 0;

    if (!is_head(text))
        return rp_fail(why, RP_DAMAGED, "%s: it does not begin with 'reprise decisions 1'", path);
    for (*count = 0; (text = behind_heads(text)) < end; (*count)++, expected = rank + 1) {
        text = read_line(text, expected, &rank, &each[*count]);
        if (!text)
            return rp_fail(why, RP_DAMAGED, "%s: line %zu is not what the format says", path,
                           *count + 2);
        ranks[*count] = rank;
    }
    return RP_OK;
}

enum rp_status rp_det_digest_read(const char *path, struct rp_det_digest **each, uint32_t **ranks,
                                  size_t *count, struct rp_problem *why)
{
    struct rp_buffer text = {0};
    enum rp_status status = rp_read_file(path, MOST, &text, why);

    if (status != RP_OK)
        return status;
    size_t lines = count_lines((char *)text.bytes);
    *each = calloc(lines + 1, sizeof **each);
    *ranks = calloc(lines + 1, sizeof **ranks);
    status = *each && *ranks
                 ? parse(path, (char *)text.bytes, text.length, *each, *ranks, count, why)
                 : rp_fail(why, RP_MEMORY, "out of memory");
    if (status != RP_OK) {
        free(*each);
        free(*ranks);
    }
    rp_buffer_free(&text);
    return status;
}
