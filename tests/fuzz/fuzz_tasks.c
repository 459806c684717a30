/* SPDX-License-Identifier: MIT */
/*
 * Any record of tasks, and any journal of one, is read or refused; what was read keeps its
 * determinants by place, and can be read a second time. The first byte says how the rest is taken:
 * 0 a file as it is, 1 what stands between the head of a file and its checksum, 2 entries of a
 * journal, each a length of one byte and so many bytes.
 */
#include "fuzz.h"

#include "base/crc32c.h"
#include "base/file.h"
#include "base/journal.h"
#include "task/task_file.h"
#include "task/tasks.h"

static void run(void *state, const struct reprise_message *message)
{
    (void)state, (void)message;
}

static size_t one(const void *state)
{
    (void)state;
    return 1;
}

static const struct reprise_entry entries[] = {{"asked", REPRISE_ORDER_DEPENDENT, run, NULL, NULL,
                                                NULL},
                                               {"told", REPRISE_COMMUTATIVE, run, NULL, one, NULL},
                                               {0}};

static void none(void *data, int process, struct rp_parcel *parcel)
{
    (void)data, (void)process;
    rp_parcel_drop(parcel);
}

static void fail(void *data, const char *why)
{
    (void)data, (void)why;
    abort();
}

static void begin(struct rp_tasks *tasks)
{
    static const struct rp_transport transport = {.send = none, .fail = fail};

    rp_tasks_init(tasks, RP_TASKS_REPLAY, 0, 2, &transport);
    rp_tasks_now = tasks;
    reprise_collection(&(struct reprise_collection_spec){
        .name = "node", .size = {4, 0, 0}, .state_bytes = 8, .entries = entries});
}

static void check(const struct rp_tasks *tasks)
{
    for (uint32_t i = 0; i < tasks->task_count; i++) {
        const struct rp_determinants *known = &tasks->tasks[i].known;
        for (size_t k = 0; k < known->count; k++)
            FUZZ_CHECK(known->list[k].task == i &&
                       (k == 0 || known->list[k - 1].place < known->list[k].place));
        for (size_t k = 0; k < tasks->tasks[i].digest_count; k++)
            FUZZ_CHECK(tasks->tasks[i].digests[k].entry < 2);
    }
}

static void put_head(struct rp_buffer *out)
{
    rp_buffer_u32(out, 1);
    rp_buffer_u32(out, 0);
    rp_buffer_u32(out, 2);
    rp_buffer_u32(out, 4);
}

static void make_file(const uint8_t *bytes, size_t length, struct rp_buffer *out)
{
    rp_buffer_put(out, "RPTASKS\n", 8);
    put_head(out);
    rp_buffer_put(out, bytes, length);
    rp_buffer_u32(out, rp_crc32c(out->bytes, out->length));
}

static void make_journal(const uint8_t *bytes, size_t length, struct rp_buffer *out)
{
    struct rp_journal *journal;
    struct rp_problem why;
    struct rp_buffer head = {0};
    char path[8192];

    snprintf(path, sizeof path, "%s/manifest.json",
             fuzz_directory()); /* one of the names that it removes */
    unlink(path);
    FUZZ_CHECK(rp_journal_create(path, &journal, &why) == RP_OK);
    put_head(&head);
    rp_journal_put(journal, head.bytes, head.length);
    for (size_t at = 0; at < length && bytes[at] > 0 && bytes[at] < length - at;
         at += 1 + bytes[at])
        rp_journal_put(journal, bytes + at + 1, bytes[at]);
    rp_journal_close(journal, false);
    FUZZ_CHECK(rp_read_file(path, 1 << 24, out, &why) == RP_OK);
    rp_buffer_free(&head);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct rp_tasks tasks;
    struct rp_buffer file = {0};
    struct rp_problem why = {""};

    if (length == 0)
        return 0;
    if (*bytes == 1)
        make_file(bytes + 1, length - 1, &file);
    else if (*bytes == 2)
        make_journal(bytes + 1, length - 1, &file);
    else
        rp_buffer_put(&file, bytes + 1, length - 1);
    begin(&tasks);
    enum rp_status status = rp_task_file_parse(&tasks, file.bytes, file.length, &why);
    fuzz_check_status(status, &why);
    check(&tasks);
    if (status == RP_OK)
        FUZZ_CHECK(rp_task_file_parse(&tasks, file.bytes, file.length, &why) == RP_OK);
    check(&tasks);
    rp_tasks_free(&tasks);
    rp_buffer_free(&file);
    return 0;
}
