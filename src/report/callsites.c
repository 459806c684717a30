/* SPDX-License-Identifier: MIT */
/* Lines are asked for once for each chain of calls, not for each rank: ranks of one program have the same chains. */
#include "report/callsites.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

void rp_call_sites_open(struct rp_call_sites *sites)
{
    memset(sites, 0, sizeof *sites);
    sites->lines = rp_lines_open();
}

static void free_texts(struct rp_call_site *row)
{
    free(row->function);
    free(row->in);
    free(row->file);
    free(row->module);
}

void rp_call_sites_free(struct rp_call_sites *sites)
{
    for (size_t i = 0; i < sites->count; i++)
        free_texts(&sites->rows[i]);
    free(sites->rows);
    rp_intern_free(&sites->chains);
    rp_intern_free(&sites->places);
    rp_buffer_free(&sites->rows_of_chains);
    rp_lines_close(sites->lines);
    memset(sites, 0, sizeof *sites);
}

static const struct rp_module *module_of(const struct rp_site_table *table, const struct rp_frame *frame)
{
    return frame->module ? &table->modules[frame->module - 1] : NULL;
}

/* A file that was built anew has another build id, one without a build id only its path. */
static void put_chain(struct rp_buffer *out, const struct rp_site_table *table, const struct rp_site *site)
{
    rp_buffer_string(out, site->function, strlen(site->function));
    for (uint32_t i = 0; i < site->frames; i++) {
        const struct rp_module *module = module_of(table, &site->frame[i]);
        rp_buffer_string(out, module ? module->build_id : NULL, module ? module->build_id_length : 0);
        rp_buffer_string(out, module ? module->path : "", module ? strlen(module->path) : 0);
        rp_buffer_varint(out, site->frame[i].offset);
    }
}

static bool copy(const char *text, char **out)
{
    *out = text ? strdup(text) : NULL;
    return !text || *out;
}

static bool describe(struct rp_call_sites *sites, const struct rp_site_table *table, uint32_t number, struct rp_call_site *row)
{
    const struct rp_site *site = &table->sites[number];
    const struct rp_module *module = site->frames ? module_of(table, &site->frame[0]) : NULL;
    struct rp_line line = {0};
    bool found = rp_lines_of_site(sites->lines, table, number, &line);

    memset(row, 0, sizeof *row);
    row->line = found ? line.line : 0;
    row->offset = site->frames ? site->frame[0].offset : 0;
    for (size_t i = 0; module && i < module->build_id_length; i++)
        snprintf(row->build_id + 2 * i, 3, "%02x", module->build_id[i]);
    return copy(site->function, &row->function) && copy(found ? line.function : NULL, &row->in) && copy(found ? line.file : NULL, &row->file) &&
           copy(module ? module->path : NULL, &row->module);
}

/* Rows are told apart by function and line, or by address where there is no line. */
static void put_place_key(struct rp_buffer *out, const struct rp_call_site *row)
{
    rp_buffer_string(out, row->function, strlen(row->function));
    if (row->file) {
        rp_buffer_string(out, row->file, strlen(row->file));
        rp_buffer_varint(out, (uint64_t)row->line);
        return;
    }
    rp_buffer_string(out, row->build_id, strlen(row->build_id));
    rp_buffer_string(out, row->module ? row->module : "", row->module ? strlen(row->module) : 0);
    rp_buffer_varint(out, row->offset);
}

static bool add_row(struct rp_call_sites *sites, const struct rp_call_site *row)
{
    if (sites->count == sites->room) {
        size_t room = sites->room ? 2 * sites->room : 64;
        struct rp_call_site *more = realloc(sites->rows, room * sizeof *more);
        if (!more)
            return false;
        sites->rows = more;
        sites->room = room;
    }
    sites->rows[sites->count++] = *row;
    return true;
}

/* A chain that was not there before. */
static bool find_row(struct rp_call_sites *sites, const struct rp_site_table *table, uint32_t site, uint32_t *number)
{
    struct rp_call_site row;
    struct rp_buffer key = {0};
    bool done = describe(sites, table, site, &row);

    if (done)
        put_place_key(&key, &row);
    done = done && !key.failed && rp_intern_add(&sites->places, key.bytes, key.length, number);
    rp_buffer_free(&key);
    if (done && *number == sites->count)
        done = add_row(sites, &row);
    else
        free_texts(&row);
    if (done)
        sites->rows[*number].chains++;
    return done;
}

static bool row_of(struct rp_call_sites *sites, const struct rp_site_table *table, uint32_t site, struct rp_buffer *key, uint32_t *row)
{
    uint32_t chain, known = sites->chains.count;

    rp_buffer_clear(key);
    put_chain(key, table, &table->sites[site]);
    if (key->failed || !rp_intern_add(&sites->chains, key->bytes, key->length, &chain))
        return false;
    if (chain < known) {
        *row = rp_load_u32(sites->rows_of_chains.bytes + 4 * (size_t)chain);
        return true;
    }
    if (!find_row(sites, table, site, row))
        return false;
    rp_buffer_u32(&sites->rows_of_chains, *row);
    return !sites->rows_of_chains.failed;
}

uint32_t *rp_call_sites_rows(struct rp_call_sites *sites, const struct rp_site_table *table)
{
    uint32_t *rows = calloc(table->site_count + 1, sizeof *rows);
    struct rp_buffer key = {0};
    bool done = rows != NULL;

    for (uint32_t i = 0; done && i < table->site_count; i++)
        done = row_of(sites, table, i, &key, &rows[i]);
    rp_buffer_free(&key);
    if (done)
        return rows;
    free(rows);
    return NULL;
}

double rp_call_site_entropy(const struct rp_call_site *site)
{
    return site->outcomes ? site->bits / (double)site->outcomes : 0.0;
}

bool rp_call_site_is_open(const struct rp_call_site *site)
{
    return site->bits > 0 || site->polls > 0 || site->out_of_order > 0;
}

void rp_call_site_put_place(struct rp_buffer *out, const struct rp_call_site *site)
{
    if (site->file)
        rp_buffer_printf(out, "%s at %s:%d", site->in ? rp_text_shown(site->in) : "?", rp_text_shown(site->file), site->line);
    else if (site->module)
        rp_buffer_printf(out, "%s(+0x%llx)", rp_text_shown(site->module), (unsigned long long)site->offset);
    else
        rp_buffer_printf(out, "?");
}
