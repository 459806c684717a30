/* SPDX-License-Identifier: MIT */
/* Any text is evaluated or refused; what is evaluated has no more given than dependencies, and
 * means the same in brackets. */
#include "fuzz.h"
#include "match/algebra.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct rp_algebra set, same;
    struct rp_problem why = {""};
    struct rp_buffer steps = {0}, text = {0};
    char *expression = strndup((const char *)bytes, length);
    enum rp_status status = rp_algebra_evaluate(expression, &steps, &set, &why);

    fuzz_check_status(status, &why);
    if (status == RP_OK) {
        FUZZ_CHECK(set.given <= set.dependencies && set.logical <= set.events);
        rp_buffer_printf(&text, "(%s)", expression);
        rp_buffer_byte(&text, 0);
        if (rp_algebra_evaluate((char *)text.bytes, NULL, &same, &why) ==
            RP_OK) /* it may be nested too deep */
            FUZZ_CHECK(memcmp(&set, &same, sizeof set) == 0);
    }
    rp_buffer_free(&steps);
    rp_buffer_free(&text);
    free(expression);
    return 0;
}
