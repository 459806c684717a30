/* SPDX-License-Identifier: MIT */
#include "cli/diffdecisions.h"

#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "log/det_digest.h"
#include "base/file.h"
#include "report/output.h"

struct kept {
    const char *directory;
    struct rp_det_digest *each;
    uint32_t *ranks;
    size_t count;
};

bool rp_det_digest_are_kept(const char *directory)
{
    char *path = rp_path_join(directory, RP_DECISIONS_NAME);
    bool are = path && access(path, F_OK) == 0;

    free(path);
    return are;
}

static enum rp_status open_kept(const char *directory, struct kept *kept, struct rp_problem *why)
{
    *kept = (struct kept){.directory = directory};
    if (!rp_det_digest_are_kept(directory))
        return rp_fail(why, RP_USAGE,
                       "%s has no digests of a deterministic run, and the other no record: what is "
                       "compared must be of one kind",
                       directory);
    char *path = rp_path_join(directory, RP_DECISIONS_NAME);
    enum rp_status status =
        path ? rp_det_digest_read(path, &kept->each, &kept->ranks, &kept->count, why)
             : rp_fail(why, RP_MEMORY, "out of memory");
    free(path);
    if (status == RP_OK && kept->count == 0)
        status = rp_fail(why, RP_USAGE, "%s: the run did not come to its end, and left no digests",
                         directory);
    return status;
}

static void close_kept(struct kept *kept)
{
    free(kept->each);
    free(kept->ranks);
}

static bool are_alike(const struct rp_det_digest *one, const struct rp_det_digest *other)
{
    return one->matches == other->matches && one->answers == other->answers &&
           one->digest == other->digest;
}

static void put_decisions(struct rp_buffer *text, const char *directory,
                          const struct rp_det_digest *decisions)
{
    rp_buffer_printf(text,
                     "  %s: %" PRIu64 " matches, %" PRIu64 " answers, digest %016" PRIx64 "\n",
                     directory, decisions->matches, decisions->answers, decisions->digest);
}

static size_t count_different(const struct kept *one, const struct kept *other)
{
    size_t different = 0;

    for (size_t i = 0; i < one->count; i++)
        different += !are_alike(&one->each[i], &other->each[i]);
    return different;
}

static void compare(struct rp_buffer *text, const struct kept *one, const struct kept *other,
                    size_t different)
{
    if (different == 0) {
        rp_buffer_printf(text, "no difference: the same decisions on %zu ranks\n", one->count);
        return;
    }
    rp_buffer_printf(text, "%zu of %zu ranks decided differently:\n", different, one->count);
    for (size_t i = 0; i < one->count; i++) {
        if (are_alike(&one->each[i], &other->each[i]))
            continue;
        rp_buffer_printf(text, "rank %" PRIu32 "\n", one->ranks[i]);
        put_decisions(text, one->directory, &one->each[i]);
        put_decisions(text, other->directory, &other->each[i]);
    }
    rp_buffer_printf(text,
                     "records of both ('reprise det --record -o DIR') show where they part\n");
}

static enum rp_status check_shape(const struct kept *one, const struct kept *other,
                                  struct rp_problem *why)
{
    bool alike = one->count == other->count;

    for (size_t i = 0; alike && i < one->count; i++)
        alike = one->ranks[i] == other->ranks[i];
    return alike ? RP_OK
                 : rp_fail(why, RP_USAGE, "%s is of another number of ranks than %s",
                           one->directory, other->directory);
}

static enum rp_status put(const struct kept *one, const struct kept *other, const char *output,
                          bool *differ, struct rp_problem *why)
{
    struct rp_output out;
    size_t different = count_different(one, other);
    enum rp_status status = rp_output_open(output, &out, why);

    if (status != RP_OK)
        return status;
    compare(&out.text, one, other, different);
    *differ = different > 0;
    return rp_output_close(&out, RP_OK, why);
}

enum rp_status rp_det_digest_diff(const char *one, const char *other, const char *output,
                                  bool *differ, struct rp_problem *why)
{
    struct kept first = {0}, second = {0};
    enum rp_status status = open_kept(one, &first, why);

    if (status == RP_OK)
        status = open_kept(other, &second, why);
    if (status == RP_OK)
        status = check_shape(&first, &second, why);
    if (status == RP_OK)
        status = put(&first, &second, output, differ, why);
    close_kept(&first);
    close_kept(&second);
    return status;
}
