/* SPDX-License-Identifier: MIT */
/*
 * The order logs and the accesses of two ranks, read and brought together, and what dump --who says
 * of them. First byte: 0 the rest is the order log of rank 1 as it is; 1 the accesses of rank 1;
 * else entries of all four files: a byte for the file, two for the length, and so many bytes. The
 * first entry of each file is there already.
 */
#include <zstd.h>

#include "base/crc32c.h"
#include "base/journal.h"
#include "fuzz.h"
#include "log/accesslog.h"
#include "log/datareader.h"
#include "log/order_log.h"
#include "report/attribution.h"

enum { RUN = 7, RANKS = 2, FILES = 4 };

static const char *const names[FILES] = {"rank-00000.order", "rank-00000.accesses",
                                         "rank-00001.order", "rank-00001.accesses"};

static void add_chunk(struct rp_buffer *file, enum rp_data_chunk_kind kind,
                      const struct rp_buffer *content)
{
    uint8_t frame[4096];
    size_t stored = ZSTD_compress(frame, sizeof frame, content->bytes, content->length, 1);

    FUZZ_CHECK(!ZSTD_isError(stored));
    rp_data_put_chunk(file, &(struct rp_data_chunk){.kind = (uint8_t)kind,
                                                    .length = (uint32_t)content->length,
                                                    .stored = (uint32_t)stored,
                                                    .crc = rp_crc32c(frame, stored)});
    rp_buffer_put(file, frame, stored);
}

/* A data log without entries: it says on which host the rank was. */
static void write_data_log(uint32_t rank)
{
    static char *words[] = {"./app", NULL}, *none[] = {NULL};
    struct rp_data_place place = {"/app", "/", "host", words, none};
    struct rp_buffer file = {0}, text = {0}, end = {0};
    char name[32];

    rp_data_put_header(&file, RUN, rank, RANKS);
    rp_data_put_place(&text, &place);
    add_chunk(&file, RP_DATA_PLACE, &text);
    rp_buffer_u64(&end, 0);
    rp_buffer_u64(&end, 0);
    add_chunk(&file, RP_DATA_END, &end);
    snprintf(name, sizeof name, "rank-%05u.data", rank);
    fuzz_write(name, file.bytes, file.length);
    rp_buffer_free(&file);
    rp_buffer_free(&text);
    rp_buffer_free(&end);
}

/* Written as in memory: making files grow would take most of the time. */
static void add_entry(struct rp_buffer *file, uint64_t *number, const void *bytes, size_t length)
{
    rp_buffer_u32(file, (uint32_t)length);
    rp_buffer_u32(file, rp_crc32c(bytes, length) ^
                            (uint32_t)(*number * UINT64_C(0x9e3779b97f4a7c15) >> 32));
    rp_buffer_put(file, bytes, length);
    while (file->length % 4)
        rp_buffer_byte(file, 0);
    ++*number;
}

static void write_entries(const uint8_t *bytes, size_t length)
{
    struct rp_buffer file[FILES] = {0}, head = {0};
    uint64_t number[FILES] = {0};

    for (int i = 0; i < FILES; i++) {
        rp_buffer_put(&file[i], "\x89RPRJNL\n", 8);
        rp_buffer_clear(&head);
        rp_buffer_byte(&head, i % 2 ? 'A' : 'O');
        rp_buffer_varint(&head, 2);
        rp_buffer_u64(&head, RUN);
        rp_buffer_varint(&head, (uint32_t)i / 2);
        add_entry(&file[i], &number[i], head.bytes, head.length);
    }
    while (length > 3) {
        size_t count = bytes[1] | (size_t)bytes[2] << 8;
        if (count == 0 || count > length - 3)
            break;
        add_entry(&file[*bytes % FILES], &number[*bytes % FILES], bytes + 3, count);
        bytes += 3 + count;
        length -= 3 + count;
    }
    for (int i = 0; i < FILES; i++) {
        fuzz_write(names[i], file[i].bytes, file[i].length);
        rp_buffer_free(&file[i]);
    }
    rp_buffer_free(&head);
}

static void check_order(void)
{
    struct rp_order_log order;
    struct rp_problem why = {""};
    enum rp_status status = rp_order_log_read(fuzz_directory(), RUN, 1, &order, &why);

    fuzz_check_status(status, &why);
    if (status != RP_OK)
        return;
    for (size_t i = 1; i < order.marks; i++)
        FUZZ_CHECK(order.mark[i].entries >= order.mark[i - 1].entries &&
                   order.mark[i].time >= order.mark[i - 1].time);
    for (size_t i = 1; i < order.loads; i++)
        FUZZ_CHECK(order.load[i].entries >= order.load[i - 1].entries &&
                   rp_order_log_before_load(&order, order.load[i].entries) <=
                       rp_order_log_after_load(&order, order.load[i].entries));
    for (size_t i = 0; i < order.marks; i++)
        FUZZ_CHECK(rp_order_log_before(&order, order.mark[i].entries) <=
                   rp_order_log_after(&order, order.mark[i].entries));
    rp_order_log_free(&order);
}

static void check_accesses(void)
{
    struct rp_access_log log;
    struct rp_problem why = {""};
    enum rp_status status = rp_access_read(fuzz_directory(), RUN, 1, &log, &why);
    static volatile uint8_t last; /* values are read: the sanitizer looks */

    fuzz_check_status(status, &why);
    if (status != RP_OK)
        return;
    for (size_t i = 0; i < log.count; i++) {
        const struct rp_access *a = &log.access[i];
        FUZZ_CHECK(a->site <= log.sites.site_count && a->function);
        for (uint64_t k = 0; a->known && k < a->length; k++)
            last = a->value[k];
    }
    (void)last;
    rp_access_free(&log);
}

static void check_who(bool json)
{
    struct rp_manifest manifest = {.run = RUN, .ranks = RANKS};
    struct rp_who *who;
    struct rp_attribution_counts counts;
    struct rp_problem why = {""};
    static FILE *nowhere;
    enum rp_status status = rp_attribution_open(fuzz_directory(), &manifest, &who, &why);

    fuzz_check_status(status, &why);
    if (status != RP_OK)
        return;
    FUZZ_CHECK(nowhere || (nowhere = fopen("/dev/null", "w")));
    FUZZ_CHECK(rp_attribution_print(who, NULL, json, nowhere, &counts, &why) == RP_OK);
    FUZZ_CHECK(counts.inside + counts.outside + counts.several + counts.untold == counts.parts);
    rp_attribution_free(who);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    static bool prepared;

    if (length == 0 || length > 60000)
        return 0;
    if (!prepared) {
        write_data_log(0);
        write_data_log(1);
        prepared = true;
    }
    write_entries(bytes + 1, *bytes < 2 ? 0 : length - 1);
    if (*bytes < 2)
        fuzz_write(names[2 + *bytes], bytes + 1, length - 1);
    check_order();
    check_accesses();
    check_who(*bytes % 2);
    return 0;
}
