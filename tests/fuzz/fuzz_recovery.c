/* SPDX-License-Identifier: MIT */
/* The events of a run of reprise ft, and what report says of them. */
#include "fuzz.h"
#include "report/recovery.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct rp_recovery recovery;
    struct rp_problem why = {""};

    fuzz_write("events.jsonl", bytes, length);
    FUZZ_CHECK(rp_recovery_is_here(fuzz_directory()));
    enum rp_status status = rp_recovery_collect(fuzz_directory(), &recovery, &why);
    fuzz_check_status(status, &why);
    if (status != RP_OK)
        return 0;
    void (*const put[])(struct rp_output *, const struct rp_recovery *) = {rp_recovery_put_text,
                                                                           rp_recovery_put_json,
                                                                           rp_recovery_put_html};
    for (size_t i = 0; i < sizeof put / sizeof *put; i++) {
        struct rp_output out = {0};
        put[i](&out, &recovery);
        FUZZ_CHECK(!out.text.failed && out.text.length > 0);
        rp_buffer_free(&out.text);
    }
    rp_recovery_free(&recovery);
    return 0;
}
