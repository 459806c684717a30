/* SPDX-License-Identifier: MIT */
/*
 * Any log of regions is read or refused; what was read does not go back, is found again by
 * position, and is the same when it is written and read once more. The first byte says how the rest
 * is taken: 0 a file as it is, 1 entries of a journal behind the head of one, each a length of one
 * byte and so many bytes.
 */
#include "fuzz.h"

#include "base/journal.h"
#include "log/journalfile.h"
#include "log/regionlog.h"

enum { RUN = 7, RANK = 1, WRITTEN = 2, LOOKS = 64 };

static void remove_of(uint32_t rank)
{
    char *path = rp_region_path(fuzz_directory(), rank);

    FUZZ_CHECK(path);
    unlink(path);
    free(path);
}

static void make_journal(const uint8_t *bytes, size_t length)
{
    static const struct rp_journal_kind kind = {'R', 1, "a log of regions"};
    struct rp_journal *journal;
    struct rp_problem why;
    char *path = rp_region_path(fuzz_directory(), RANK);

    FUZZ_CHECK(path && rp_journal_file_create(path, &kind, RUN, RANK, &journal, &why) == RP_OK);
    for (size_t at = 0; at < length && bytes[at] > 0 && bytes[at] < length - at;
         at += 1 + bytes[at])
        rp_journal_put(journal, bytes + at + 1, bytes[at]);
    rp_journal_close(journal, false);
    free(path);
}

static void check(const struct rp_regions *r)
{
    FUZZ_CHECK(rp_regions_after(r, UINT64_MAX) == UINT64_MAX);
    for (size_t i = 0; i < r->ends; i++) {
        FUZZ_CHECK(i == 0 || r->end[i - 1] <= r->end[i]);
        if (i < LOOKS && r->end[i] > 0)
            FUZZ_CHECK(rp_regions_after(r, r->end[i] - 1) == r->end[i]);
        if (i < LOOKS)
            FUZZ_CHECK(rp_regions_after(r, r->end[i]) > r->end[i] || r->end[i] == UINT64_MAX);
    }
}

static void write_again(const struct rp_regions *r)
{
    struct rp_region_writer *writer;
    struct rp_regions again;
    struct rp_problem why;

    remove_of(WRITTEN);
    FUZZ_CHECK(rp_region_create(fuzz_directory(), RUN, WRITTEN, &writer, &why) == RP_OK);
    for (size_t i = 0; i < r->ends; i++)
        rp_region_closed(writer, r->end[i]);
    rp_region_close(writer);
    FUZZ_CHECK(rp_regions_read(fuzz_directory(), RUN, WRITTEN, &again, &why) == RP_OK &&
               again.ends == r->ends);
    FUZZ_CHECK(r->ends == 0 || memcmp(again.end, r->end, r->ends * sizeof *r->end) == 0);
    rp_regions_free(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct rp_regions regions;
    struct rp_problem why = {""};

    if (length == 0)
        return 0;
    remove_of(RANK);
    if (*bytes == 1)
        make_journal(bytes + 1, length - 1);
    else
        fuzz_write("rank-00001.regions", bytes + 1, length - 1);
    enum rp_status status = rp_regions_read(fuzz_directory(), RUN, RANK, &regions, &why);
    fuzz_check_status(status, &why);
    if (status == RP_OK) {
        check(&regions);
        write_again(&regions);
        rp_regions_free(&regions);
    }
    return 0;
}
