/* SPDX-License-Identifier: MIT */
/* The page of src/report/page, with its style and scripts inside: what stands before the data, and
 * what stands behind. The build makes it. */
#ifndef RP_PAGE_H
#define RP_PAGE_H

#include <stddef.h>

struct rp_page_part {
    const unsigned char *bytes;
    size_t length;
};

extern const struct rp_page_part rp_page_before, rp_page_behind;

#endif
