/* SPDX-License-Identifier: MIT */
/* SITES records. First byte: the number of sites that they are said to hold. */
#include "event/source_lines.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct rp_site_table table;
    struct rp_buffer out = {0};

    if (length == 0 || !rp_site_table_init(&table))
        return 0;
    bool good = rp_site_read(&table, bytes + 1, length - 1, bytes[0]);
    FUZZ_CHECK(!good || table.site_count == bytes[0]);
    for (uint32_t i = 0; i <= table.site_count; i++) {
        rp_source_lines_print_site(NULL, &table, i, "", &out);
        rp_site_same(&table, i, &table, i / 2);
        FUZZ_CHECK(rp_site_same(&table, i, &table, i) == (i < table.site_count));
    }
    rp_buffer_free(&out);
    rp_site_table_free(&table);
    return 0;
}
