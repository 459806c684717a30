/* SPDX-License-Identifier: MIT */
/*
 * Where the program makes its calls. A place has a number in its rank (event/site.h); what the
 * number means is written beside MPI when it is first used, in the records of format.md, section 4.
 * So whoever speaks of another rank, which may wait inside MPI, can read its places. Lines of
 * source are looked for only then.
 */
#include <string.h>

#include "base/message.h"
#include "det/det.h"
#include "event/lines.h"
#include "event/site.h"

static struct rp_site_table own_sites;

static void announce(void *owner, const struct rp_buffer *records, uint32_t first)
{
    static bool is_full; /* records without those before them would have other numbers */

    (void)owner, (void)first;
    if (!is_full)
        is_full = !rp_side_put_sites(records->bytes, records->length);
}

void rp_det_sites_start(void)
{
    if (!rp_site_table_init(&own_sites))
        rp_bug(__FILE__, __LINE__, "out of memory for call sites");
    own_sites.announce = announce;
}

uint32_t rp_det_site(void)
{
    return rp_det.function ? rp_site_find(&own_sites, rp_det.function, rp_det.caller, rp_det.stack)
                           : UINT32_MAX;
}

/* To be freed. */
static void read_sites(uint32_t rank, struct rp_site_table *table)
{
    size_t length;
    const uint8_t *bytes = rp_side_sites_of(rank, &length);

    memset(table, 0, sizeof *table);
    rp_site_read(table, bytes, length, 0); /* as many as there are */
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* Without debug information, as addr2line takes it. */
static void put_address(struct rp_buffer *text, const struct rp_site_table *table, uint32_t site)
{
    const struct rp_frame *frame = table->sites[site].frames > 0 ? table->sites[site].frame : NULL;

    if (frame && frame->module)
        rp_buffer_printf(text, " (%s+0x%llx)", last_part(table->modules[frame->module - 1].path),
                         (unsigned long long)frame->offset);
}

void rp_det_put_place(struct rp_buffer *text, uint32_t rank, uint32_t site)
{
    struct rp_lines *lines = rp_lines_open();
    struct rp_site_table table;
    struct rp_line line;

    read_sites(rank, &table);
    if (rp_lines_of_site(lines, &table, site, &line))
        rp_buffer_printf(text, " (%s:%d)", last_part(line.file), line.line);
    else if (site < table.site_count)
        put_address(text, &table, site);
    rp_lines_close(lines);
    rp_site_table_free(&table);
}

void rp_det_put_function(struct rp_buffer *text, uint32_t rank, uint32_t site)
{
    struct rp_site_table table;

    read_sites(rank, &table);
    rp_buffer_printf(
        text, "%s", site < table.site_count ? table.sites[site].function : "a collective function");
    rp_site_table_free(&table);
}
