/* SPDX-License-Identifier: MIT */
#include "log/task_header.h"

#include <string.h>

#include "base/crc32c.h"

static const char magic[8] = {'R', 'P', 'T', 'A', 'S', 'K', 'S', '\n'};
enum { VERSION = 1, HEAD = 4 * 4, CHECKSUM = 4 };

void rp_task_header_put(struct rp_buffer *out, const struct rp_task_header *head)
{
    rp_buffer_u32(out, VERSION);
    rp_buffer_u32(out, head->process);
    rp_buffer_u32(out, head->processes);
    rp_buffer_u32(out, head->tasks);
}

void rp_task_header_begin(struct rp_buffer *out, const struct rp_task_header *head)
{
    rp_buffer_put(out, magic, sizeof magic);
    rp_task_header_put(out, head);
}

static enum rp_status get(const uint8_t *bytes, struct rp_task_header *head, struct rp_problem *why)
{
    uint32_t version = rp_load_u32(bytes);

    if (version != VERSION)
        return rp_fail(why, RP_UNSUPPORTED, "it is of version %u, not %u", version, VERSION);
    *head = (struct rp_task_header){rp_load_u32(bytes + 4), rp_load_u32(bytes + 8),
                                    rp_load_u32(bytes + 12)};
    return RP_OK;
}

enum rp_status rp_task_header_of_file(const uint8_t *bytes, size_t length,
                                      struct rp_task_header *head, struct rp_view *rest,
                                      struct rp_problem *why)
{
    if (length <= sizeof magic + HEAD + CHECKSUM || memcmp(bytes, magic, sizeof magic) != 0)
        return rp_fail(why, RP_DAMAGED, "it is no record of tasks");
    if (rp_load_u32(bytes + length - CHECKSUM) != rp_crc32c(bytes, length - CHECKSUM))
        return rp_fail(why, RP_DAMAGED, "its checksum is wrong");
    enum rp_status status = get(bytes + sizeof magic, head, why);
    if (status == RP_OK)
        *rest = rp_view_of(bytes + sizeof magic + HEAD, length - sizeof magic - HEAD - CHECKSUM);
    return status;
}

enum rp_status rp_task_header_of_journal(struct rp_journal_view *journal,
                                         struct rp_task_header *head, struct rp_problem *why)
{
    const uint8_t *entry;
    size_t length;

    if (!rp_journal_next(journal, &entry, &length) || length != HEAD)
        return rp_fail(why, RP_DAMAGED, "it does not say of what it is a record");
    return get(entry, head, why);
}
