/* SPDX-License-Identifier: MIT */
#include "log/manifest.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/crc32c.h"
#include "base/file.h"
#include "base/json.h"
#include "log/format.h"
#include "log/taskrecord.h"

static const char incomplete_name[] = "incomplete";
static const char complete_name[] = "manifest.json";
static const char sum_key[] = ",\n  \"crc32c\": \""; /* the last member */

enum { MANIFEST_LIMIT = 16 << 20, RANKS_LIMIT = 1 << 24, SUM_ROOM = sizeof sum_key + 16 };

/* The end of the file: the checksum of all before. Returns its length. */
static size_t format_sum(char end[SUM_ROOM], uint32_t sum)
{
    return (size_t)snprintf(end, SUM_ROOM, "%s%08x\"\n}\n", sum_key, sum);
}

static void free_strings(char **strings)
{
    for (char **s = strings; s && *s; s++)
        free(*s);
    free(strings);
}

void rp_manifest_free(struct rp_manifest *m)
{
    free(m->job);
    free(m->mpi);
    free(m->mpi_version);
    free(m->program);
    free(m->build_id);
    free(m->directory);
    free(m->host);
    free(m->started);
    free(m->reprise);
    free_strings(m->command);
    free_strings(m->allowed);
    free_strings(m->environment);
    free(m->codec);
    free(m->clocks);
    free(m->capture);
    free(m->threads);
    free(m->data);
    free(m->wrappers);
    memset(m, 0, sizeof *m);
}

/* Reading */

static bool take_string(const struct rp_json *json, const char *key, char **out)
{
    const struct rp_json *member = rp_json_member(json, key, RP_JSON_STRING);

    *out = strdup(member ? member->string : "");
    return *out != NULL;
}

static bool take_strings(const struct rp_json *json, const char *key, char ***out)
{
    const struct rp_json *array = rp_json_member(json, key, RP_JSON_ARRAY);
    size_t count = 0;

    for (const struct rp_json *item = array ? array->child : NULL; item; item = item->next)
        count++;
    *out = calloc(count + 1, sizeof **out);
    if (!*out)
        return false;
    count = 0;
    for (const struct rp_json *item = array ? array->child : NULL; item; item = item->next)
        if (item->kind == RP_JSON_STRING && !((*out)[count++] = strdup(item->string)))
            return false;
    return true;
}

static int64_t number_of(const struct rp_json *json, const char *key)
{
    const struct rp_json *member = rp_json_member(json, key, RP_JSON_NUMBER);

    return member ? member->number : -1;
}

static enum rp_status check_version(const struct rp_json *json, const char *path,
                                    struct rp_problem *why)
{
    const struct rp_json *format = rp_json_member(json, "format", RP_JSON_STRING);

    if (!format || strcmp(format->string, "reprise-run") != 0)
        return rp_fail(why, RP_DAMAGED, "%s: not the description of a reprise run", path);
    if (number_of(json, "major") > RP_LOG_MAJOR)
        return rp_fail(
            why, RP_DAMAGED,
            "%s: format %lld.%lld is newer than this reprise reads (%d.x): use a newer reprise",
            path, (long long)number_of(json, "major"), (long long)number_of(json, "minor"),
            RP_LOG_MAJOR);
    return RP_OK;
}

static enum rp_status take_members(const struct rp_json *json, const char *path,
                                   struct rp_manifest *out, struct rp_problem *why)
{
    const struct rp_json *run = rp_json_member(json, "run", RP_JSON_STRING);
    const struct rp_json *launched = rp_json_member(json, "launched", RP_JSON_STRING);
    int64_t ranks = number_of(json, "ranks");
    char *end = NULL;

    if (run && strlen(run->string) == 16 && strspn(run->string, "0123456789abcdefABCDEF") == 16)
        out->run = strtoull(run->string, &end, 16);
    if (!end || *end || ranks < 1 || ranks > RANKS_LIMIT)
        return rp_fail(why, RP_DAMAGED, "%s: 'run' or 'ranks' is missing or wrong", path);
    out->ranks = (uint32_t)ranks;
    out->launched_inside = launched && strcmp(launched->string, "inside") == 0;
    if (take_string(json, "job", &out->job) && take_string(json, "mpi", &out->mpi) &&
        take_string(json, "mpi_version", &out->mpi_version) &&
        take_string(json, "program", &out->program) &&
        take_string(json, "build_id", &out->build_id) &&
        take_string(json, "directory", &out->directory) && take_string(json, "host", &out->host) &&
        take_string(json, "started", &out->started) &&
        take_string(json, "reprise", &out->reprise) &&
        take_strings(json, "command", &out->command) &&
        take_strings(json, "allowed", &out->allowed) &&
        take_strings(json, "environment", &out->environment) &&
        take_string(json, "capture", &out->capture) &&
        take_string(json, "threads", &out->threads) && take_string(json, "codec", &out->codec) &&
        take_string(json, "clocks", &out->clocks) && take_string(json, "data", &out->data) &&
        take_string(json, "wrappers", &out->wrappers))
        return RP_OK;
    return rp_fail(why, RP_MEMORY, "%s: out of memory", path);
}

/* The sum is the last member, as it was written: nothing can stand behind it, or in front of it
 * under its name. */
static enum rp_status check_sum(const struct rp_buffer *text, const char *path,
                                struct rp_problem *why)
{
    char expected[SUM_ROOM];
    const char *bytes = (const char *)text->bytes;
    size_t length = format_sum(expected, 0);
    size_t before = text->length > length ? text->length - length : 0;

    if (before == 0 || memcmp(bytes + before, sum_key, strlen(sum_key)) != 0)
        return rp_fail(why, RP_DAMAGED,
                       "%s: it does not end with its checksum: it was changed, or an early version "
                       "of reprise wrote it; record the run again",
                       path);
    format_sum(expected, rp_crc32c(bytes, before));
    if (memcmp(bytes + before, expected, length) != 0)
        return rp_fail(why, RP_DAMAGED,
                       "%s: its checksum is wrong: it was changed after it was written; "
                       "record the run again",
                       path);
    return RP_OK;
}

/* Which of two counts is a matter of the reader. */
static enum rp_status check_keys(const struct rp_json *json, const char *path,
                                 struct rp_problem *why)
{
    for (const struct rp_json *one = json->child; one; one = one->next)
        for (const struct rp_json *other = one->next; other; other = other->next)
            if (strcmp(one->key, other->key) == 0)
                return rp_fail(why, RP_DAMAGED, "%s: '%s' is there twice", path, one->key);
    return RP_OK;
}

static enum rp_status parse(const struct rp_buffer *text, const char *path, struct rp_manifest *out,
                            struct rp_problem *why)
{
    struct rp_problem inner;
    struct rp_json *json;
    enum rp_status status = rp_json_parse((const char *)text->bytes, text->length, &json, &inner);

    if (status != RP_OK)
        return rp_fail(why, status, "%s: %s", path, inner.text);
    status = check_version(json, path, why);
    if (status == RP_OK)
        status = check_sum(text, path, why);
    if (status == RP_OK)
        status = check_keys(json, path, why);
    if (status == RP_OK)
        status = take_members(json, path, out, why);
    rp_json_free(json);
    return status;
}

static enum rp_status read_and_parse(const char *path, struct rp_manifest *out,
                                     struct rp_problem *why)
{
    struct rp_buffer text = {0};
    enum rp_status status = rp_read_file(path, MANIFEST_LIMIT, &text, why);

    if (status == RP_OK)
        status = parse(&text, path, out, why);
    rp_buffer_free(&text);
    if (status != RP_OK)
        rp_manifest_free(out);
    return status;
}

enum rp_status rp_manifest_read(const char *directory, struct rp_manifest *out,
                                struct rp_problem *why)
{
    char *complete = rp_path_join(directory, complete_name);
    char *incomplete = rp_path_join(directory, incomplete_name);
    enum rp_status status;

    memset(out, 0, sizeof *out);
    if (!complete || !incomplete)
        status = rp_fail(why, RP_MEMORY, "%s: out of memory", directory);
    else if (access(directory, F_OK) != 0)
        status = rp_fail(why, RP_USAGE, "%s: %s", directory, strerror(errno));
    else if (access(complete, F_OK) == 0)
        status = read_and_parse(complete, out, why);
    else if (access(incomplete, F_OK) == 0)
        status = read_and_parse(incomplete, out, why);
    else if (access(directory, R_OK | X_OK) != 0)
        status = rp_fail(why, RP_USAGE, "%s: cannot read: %s", directory, strerror(errno));
    else if (rp_task_record_is(directory))
        status = rp_fail(why, RP_USAGE,
                         "%s is a record of a program of tasks ('record --tasks'), which has no "
                         "events of MPI: 'reprise info', 'verify' and 'replay' are for it, too",
                         directory);
    else
        status = rp_fail(why, RP_USAGE, "%s is not a record: it has neither %s nor %s", directory,
                         complete_name, incomplete_name);
    if (status == RP_OK)
        out->complete = access(complete, F_OK) == 0;
    free(complete);
    free(incomplete);
    return status;
}

/* Writing */

static void put_member(struct rp_buffer *out, const char *key, const char *value)
{
    rp_buffer_printf(out, ",\n  \"%s\": ", key);
    rp_json_put_string(out, value ? value : "");
}

static void put_array(struct rp_buffer *out, const char *key, char *const *values)
{
    rp_buffer_printf(out, ",\n  \"%s\": [", key);
    for (char *const *value = values; value && *value; value++) {
        if (value != values)
            rp_buffer_printf(out, ", ");
        rp_json_put_string(out, *value);
    }
    rp_buffer_printf(out, "]");
}

enum rp_status rp_manifest_write(const char *directory, const struct rp_manifest *m,
                                 struct rp_problem *why)
{
    struct rp_buffer out = {0};
    char end[SUM_ROOM];
    char *path = rp_path_join(directory, incomplete_name),
         *done = rp_path_join(directory, complete_name);

    rp_buffer_printf(&out, "{\n  \"format\": \"reprise-run\",\n  \"major\": %d,\n  \"minor\": %d",
                     RP_LOG_MAJOR, RP_LOG_MINOR);
    rp_buffer_printf(&out, ",\n  \"run\": \"%016llx\",\n  \"ranks\": %u",
                     (unsigned long long)m->run, m->ranks);
    if (m->job && *m->job)
        put_member(&out, "job", m->job);
    put_member(&out, "mpi", m->mpi);
    put_member(&out, "mpi_version", m->mpi_version);
    put_member(&out, "program", m->program);
    put_member(&out, "build_id", m->build_id);
    put_array(&out, "command", m->command);
    put_member(&out, "launched", m->launched_inside ? "inside" : "outside");
    put_member(&out, "directory", m->directory);
    put_member(&out, "host", m->host);
    put_member(&out, "started", m->started);
    put_member(&out, "reprise", m->reprise);
    put_array(&out, "allowed", m->allowed);
    put_member(&out, "capture", m->capture ? m->capture : "");
    put_member(&out, "codec", m->codec);
    put_member(&out, "clocks", m->clocks);
    if (m->threads && *m->threads)
        put_member(&out, "threads", m->threads);
    if (m->wrappers && *m->wrappers)
        put_member(&out, "wrappers", m->wrappers);
    if (m->data && *m->data)
        put_member(&out, "data", m->data);
    if (m->environment && *m->environment)
        put_array(&out, "environment", m->environment);
    rp_buffer_put(&out, end, format_sum(end, rp_crc32c(out.bytes, out.length)));
    enum rp_status status;
    if (out.failed || !path || !done)
        status = rp_fail(why, RP_MEMORY, "%s: out of memory", directory);
    else if (access(done, F_OK) == 0)
        status = rp_fail(why, RP_USAGE, "%s: there is a record already", directory);
    else
        status = rp_write_new_file(path, out.bytes, out.length, why);
    rp_buffer_free(&out);
    free(path);
    free(done);
    return status;
}

enum rp_status rp_manifest_complete(const char *directory, struct rp_problem *why)
{
    char *complete = rp_path_join(directory, complete_name);
    char *incomplete = rp_path_join(directory, incomplete_name);
    enum rp_status status = RP_OK;

    if (!complete || !incomplete)
        status = rp_fail(why, RP_MEMORY, "%s: out of memory", directory);
    else if (rename(incomplete, complete) != 0)
        status = rp_fail(why, RP_SYSTEM, "%s: cannot rename: %s", incomplete, strerror(errno));
    free(complete);
    free(incomplete);
    return status;
}
