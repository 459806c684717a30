/* SPDX-License-Identifier: MIT */
/* Where a page of HTML is written, and how to open it. */
#ifndef RP_HTML_PATH_H
#define RP_HTML_PATH_H

#include <stdbool.h>

bool rp_ends_with(const char *text, const char *end);

/* `wanted`, or without it RUN.html after the name of the record; ONE-OTHER.html of two. To be
 * freed; NULL without memory. */
char *rp_html_path(const char *wanted, const char *record);
char *rp_html_path_of_two(const char *wanted, const char *one, const char *other);

/* Says on the standard output that it was written. */
void rp_page_tell(const char *path);

#endif
