/* SPDX-License-Identifier: MIT */
/* Any file of decisions is read or refused; what was read is by rank in each job, and is all that
 * the file says: written again, it is the same text, but for heads that several jobs wrote. */
#include "fuzz.h"

#include "log/det_digest.h"

static const char head[] = "reprise decisions 1\n";

static void check_text(const uint8_t *bytes, size_t length, const struct rp_det_digest *each,
                       const uint32_t *ranks, size_t count)
{
    struct rp_buffer text = {0}, seen = {0};

    for (size_t i = 0; i < count; i++)
        rp_buffer_printf(&text, "%u %llu %llu %016llx\n", ranks[i],
                         (unsigned long long)each[i].matches, (unsigned long long)each[i].answers,
                         (unsigned long long)each[i].digest);
    for (size_t at = 0; at < length;)
        if (length - at >= sizeof head - 1 && memcmp(bytes + at, head, sizeof head - 1) == 0)
            at += sizeof head - 1;
        else
            rp_buffer_byte(&seen, bytes[at++]);
    FUZZ_CHECK(text.length == seen.length &&
               (text.length == 0 || memcmp(text.bytes, seen.bytes, text.length) == 0));
    rp_buffer_free(&text);
    rp_buffer_free(&seen);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct rp_det_digest *each;
    struct rp_problem why = {""};
    char path[8192];
    uint32_t *ranks;
    size_t count;

    fuzz_write("decisions", bytes, length);
    snprintf(path, sizeof path, "%s/decisions", fuzz_directory());
    enum rp_status status = rp_det_digest_read(path, &each, &ranks, &count, &why);
    fuzz_check_status(status, &why);
    if (status != RP_OK)
        return 0;
    for (size_t i = 0; i < count; i++)
        FUZZ_CHECK(ranks[i] == 0 || (i > 0 && ranks[i] == ranks[i - 1] + 1));
    check_text(bytes, length, each, ranks, count);
    free(each);
    free(ranks);
    return 0;
}
