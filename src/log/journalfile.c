/* SPDX-License-Identifier: MIT */
#include "log/journalfile.h"

#include <errno.h>

#include "base/file.h"

enum rp_status rp_journal_file_create(const char *path, const struct rp_journal_kind *kind,
                                      uint64_t run, uint32_t rank, struct rp_journal **out,
                                      struct rp_problem *why)
{
    struct rp_buffer head = {0};
    enum rp_status status = rp_buffer_reserve(&head, 32) ? rp_journal_create(path, out, why)
                                                         : rp_fail(why, RP_MEMORY, "out of memory");

    if (status == RP_OK) {
        rp_buffer_byte(&head, kind->mark);
        rp_buffer_varint(&head, kind->version);
        rp_buffer_u64(&head, run);
        rp_buffer_varint(&head, rank);
        rp_journal_put(*out, head.bytes, head.length);
    }
    rp_buffer_free(&head);
    return status;
}

static bool take_head(struct rp_view *in, const struct rp_journal_kind *kind, uint64_t run,
                      uint32_t rank, uint64_t *version, bool *newer)
{
    uint8_t mark = rp_view_byte(in);

    *version = rp_view_varint(in);
    *newer = mark == kind->mark && *version > kind->version;
    return mark == kind->mark && !*newer && rp_view_u64(in) == run && rp_view_varint(in) == rank &&
           !in->failed;
}

enum rp_status rp_journal_file_read(const char *path, const struct rp_journal_kind *kind,
                                    uint64_t run, uint32_t rank, size_t limit,
                                    bool (*take)(void *data, struct rp_view *entry), void *data,
                                    uint64_t *version, struct rp_problem *why)
{
    struct rp_buffer file = {0};
    enum rp_status status = rp_read_file(path, limit, &file, why);
    struct rp_journal_view view = {0};
    const uint8_t *bytes;
    size_t length;
    bool good = true, newer = false;
    uint64_t found = 0;

    if (status != RP_OK || rp_journal_is_blank(file.bytes, file.length))
        goto out;
    if (!rp_journal_is(file.bytes, file.length)) {
        status = rp_fail(why, RP_DAMAGED, "rank %u: %s: not %s", rank, path, kind->name);
        goto out;
    }
    view = rp_journal_view_of(file.bytes, file.length);
    errno = 0;
    while (good && rp_journal_next(&view, &bytes, &length)) {
        struct rp_view in = rp_view_of(bytes, length);
        good = view.number == 1 ? take_head(&in, kind, run, rank, &found, &newer) : take(data, &in);
    }
    if (newer)
        status = rp_fail(why, RP_UNSUPPORTED,
                         "rank %u: %s: of a version that this reprise cannot read", rank, path);
    else if (!good && errno == ENOMEM)
        status = rp_fail(why, RP_MEMORY, "rank %u: %s: out of memory", rank, path);
    else if (!good || view.damaged || view.number == 0)
        status =
            rp_fail(why, RP_DAMAGED, "rank %u: %s: damaged, or not of this record (entry %llu)",
                    rank, path, (unsigned long long)view.number);
    if (version)
        *version = found;
out:
    rp_buffer_free(&file);
    return status;
}
