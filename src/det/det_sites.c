/* SPDX-License-Identifier: MIT */
/*
 * A place has a number in its rank (event/site.h). When a number is first used, the rank publishes
 * what it means in the shared state, in the records of format.md, section 4. So who reports what
 * another rank does, which may wait inside MPI, can read its places. Lines of source are looked for
 * only then.
 */
#include "det/det_sites.h"

#include <string.h>

#include "base/diagnostics.h"
#include "event/naming.h"
#include "event/wrappers.h"

static struct rp_site_table own_sites;

static void announce(void *owner, const struct rp_buffer *records, uint32_t first)
{
    static bool is_full; /* records without those before them would have other numbers */

    (void)owner, (void)first;
    if (!is_full)
        is_full = !rp_shared_put_sites(records->bytes, records->length);
}

void rp_det_sites_start(void)
{
    if (!rp_site_table_init(&own_sites))
        rp_bug(__FILE__, __LINE__, "out of memory for call sites");
    own_sites.announce = announce;
    own_sites.wrappers = rp_wrappers_list();
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
    const uint8_t *bytes = rp_shared_sites_of(rank, &length);

    memset(table, 0, sizeof *table);
    rp_site_read(table, bytes, length, 0); /* as many as there are */
}

void rp_det_put_place(struct rp_buffer *text, uint32_t rank, uint32_t site)
{
    struct rp_naming *naming = rp_naming_open(NULL);
    struct rp_site_table table;
    struct rp_site_place place;

    read_sites(rank, &table);
    rp_naming_learn(naming, &table);
    if (site < table.site_count) {
        rp_naming_find(naming, &table, site, &place);
        rp_buffer_printf(text, " (");
        rp_site_place_put_short(text, &place);
        rp_buffer_byte(text, ')');
    }
    rp_naming_close(naming);
    rp_site_table_free(&table);
}

void rp_det_put_function(struct rp_buffer *text, uint32_t rank, uint32_t site)
{
    struct rp_site_table table;

    read_sites(rank, &table);
    rp_buffer_printf(text, "%s",
                     site < table.site_count ? table.sites[site].function
                                             : "a collective function");
    rp_site_table_free(&table);
}
