/* SPDX-License-Identifier: MIT */
/* Any log of what was handed to MPI is read or refused; what was read has a place for every call,
 * and does not differ from itself. The first byte says how the rest is taken: 0 a file as it is, 1
 * entries of a journal behind the head of one, each a length of one byte and so many bytes. */
#include "fuzz.h"

#include "log/output_log.h"
#include "log/journalfile.h"
#include "report/outputs_diff.h"

enum { RANK = 1 };

static void make(const uint8_t *bytes, size_t length)
{
    static const struct rp_journal_kind kind = {'G', 1, "a log of what was given"};
    struct rp_journal *journal;
    struct rp_problem why;
    char path[8192];

    snprintf(path, sizeof path, "%s/rank-00001.given", fuzz_directory());
    unlink(path);
    if (*bytes != 1) {
        fuzz_write("rank-00001.given", bytes + 1, length - 1);
        return;
    }
    FUZZ_CHECK(rp_journal_file_create(path, &kind, 0, RANK, &journal, &why) == RP_OK);
    for (size_t at = 1; at < length && bytes[at] > 0 && bytes[at] < length - at;
         at += 1 + bytes[at])
        rp_journal_put(journal, bytes + at + 1, bytes[at]);
    rp_journal_close(journal, false);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct rp_outputs given;
    struct rp_outputs_difference difference;
    struct rp_problem why = {""};
    const char *place = fuzz_directory();

    if (length == 0)
        return 0;
    make(bytes, length);
    enum rp_status status = rp_outputs_read(place, RANK, &given, &why);
    fuzz_check_status(status, &why);
    if (status != RP_OK)
        return 0;
    for (size_t i = 0; i < given.items; i++)
        FUZZ_CHECK(given.item[i].site < given.sites.site_count &&
                   given.item[i].region < given.regions &&
                   (i == 0 || given.item[i - 1].region <= given.item[i].region));
    FUZZ_CHECK(rp_outputs_compare(place, place, place, RANK, true, &difference, &why) == RP_OK &&
               !difference.is_found && difference.noise == 0 &&
               (given.is_cut || difference.compared == given.items));
    rp_outputs_free(&given);
    return 0;
}
