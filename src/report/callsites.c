/* SPDX-License-Identifier: MIT */
/* Lines are asked for once for each chain of calls, not for each rank: ranks of one program have
 * the same chains. */
#include "report/callsites.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "log/logreader.h"

void rp_learn_callers(struct rp_naming *naming, const char *directory, const struct rp_manifest *m)
{
    struct rp_problem why;
    struct rp_log *log;

    for (uint32_t rank = 0; rank < m->ranks; rank++)
        if (rp_log_open(directory, m->run, rank, m->ranks, &log, &why) == RP_OK) {
            rp_naming_learn(naming, rp_log_site_table(log));
            rp_log_free(log);
        }
}

void rp_call_sites_open(struct rp_call_sites *sites, const char *directory,
                        const struct rp_manifest *manifest)
{
    memset(sites, 0, sizeof *sites);
    sites->naming = rp_naming_open(manifest->wrappers);
    rp_learn_callers(sites->naming, directory, manifest);
}

static void free_texts(struct rp_call_site *row)
{
    free(row->function);
    free(row->in);
    free(row->file);
    free(row->module);
    free(row->through);
    free(row->wrapper_in);
    free(row->wrapper_file);
}

void rp_call_sites_free(struct rp_call_sites *sites)
{
    for (size_t i = 0; i < sites->count; i++)
        free_texts(&sites->rows[i]);
    free(sites->rows);
    rp_intern_free(&sites->chains);
    rp_intern_free(&sites->places);
    rp_intern_free(&sites->folds);
    rp_buffer_free(&sites->rows_of_chains);
    rp_buffer_free(&sites->rows_of_folds);
    rp_naming_close(sites->naming);
    memset(sites, 0, sizeof *sites);
}

static const struct rp_module *module_of(const struct rp_site_table *table,
                                         const struct rp_frame *frame)
{
    return frame->module ? &table->modules[frame->module - 1] : NULL;
}

/* A file that was built anew has another build id, one without a build id only its path. */
static void put_chain(struct rp_buffer *out, const struct rp_site_table *table,
                      const struct rp_site *site)
{
    rp_buffer_string(out, site->function, strlen(site->function));
    for (uint32_t i = 0; i < site->frames; i++) {
        const struct rp_module *module = module_of(table, &site->frame[i]);
        rp_buffer_string(out, module ? module->build_id : NULL,
                         module ? module->build_id_length : 0);
        rp_buffer_string(out, module ? module->path : "", module ? strlen(module->path) : 0);
        rp_buffer_varint(out, site->frame[i].offset);
    }
}

static bool copy(const char *text, char **out)
{
    *out = text ? strdup(text) : NULL;
    return !text || *out;
}

static bool describe_wrapper(const struct rp_site_place *place, struct rp_call_site *row)
{
    const struct rp_source_line *line = &place->wrapper[0].line;
    struct rp_buffer text = {0};

    if (place->wrappers == 0)
        return true;
    rp_site_place_put_wrappers(&text, place);
    rp_buffer_byte(&text, 0);
    row->wrapper_line = line->file ? line->line : 0;
    bool done = !text.failed && copy((char *)text.bytes, &row->through) &&
                copy(line->function, &row->wrapper_in) && copy(line->file, &row->wrapper_file);
    rp_buffer_free(&text);
    return done;
}

static bool describe(struct rp_call_sites *sites, const struct rp_site_table *table,
                     uint32_t number, struct rp_call_site *row)
{
    struct rp_site_place place;
    const struct rp_spot *spot = &place.spot;

    memset(row, 0, sizeof *row);
    rp_naming_find(sites->naming, table, number, &place);
    row->line = spot->line.line;
    row->offset = spot->offset;
    for (size_t i = 0; spot->module && i < spot->module->build_id_length; i++)
        snprintf(row->build_id + 2 * i, 3, "%02x", spot->module->build_id[i]);
    return copy(table->sites[number].function, &row->function) &&
           copy(spot->line.function, &row->in) && copy(spot->line.file, &row->file) &&
           copy(spot->module ? spot->module->path : NULL, &row->module) &&
           describe_wrapper(&place, row);
}

/* Rows differ by function and line, or by address where there is no line. */
static void put_place_key(struct rp_buffer *out, const struct rp_call_site *row)
{
    rp_buffer_string(out, row->function, strlen(row->function));
    rp_buffer_string(out, row->through ? row->through : "",
                     row->through ? strlen(row->through) : 0);
    if (row->file) {
        rp_buffer_string(out, row->file, strlen(row->file));
        rp_buffer_varint(out, (uint64_t)row->line);
        return;
    }
    rp_buffer_string(out, row->build_id, strlen(row->build_id));
    rp_buffer_string(out, row->module ? row->module : "", row->module ? strlen(row->module) : 0);
    rp_buffer_varint(out, row->offset);
}

static void put_fold_key(struct rp_buffer *out, const struct rp_call_site *row)
{
    rp_buffer_string(out, row->function, strlen(row->function));
    rp_buffer_string(out, row->wrapper_in ? row->wrapper_in : "",
                     row->wrapper_in ? strlen(row->wrapper_in) : 0);
    rp_buffer_string(out, row->wrapper_file ? row->wrapper_file : "",
                     row->wrapper_file ? strlen(row->wrapper_file) : 0);
    rp_buffer_varint(out, (uint64_t)row->wrapper_line);
}

/* The first row of its wrapper. */
static bool fold(struct rp_call_sites *sites, uint32_t number)
{
    struct rp_call_site *row = &sites->rows[number];
    struct rp_buffer key = {0};
    uint32_t known = sites->folds.count, folded = 0;

    row->fold = number;
    if (!row->through)
        return true;
    put_fold_key(&key, row);
    bool done = !key.failed && rp_intern_add(&sites->folds, key.bytes, key.length, &folded);
    rp_buffer_free(&key);
    if (done && folded == known)
        rp_buffer_u32(&sites->rows_of_folds, number);
    else if (done)
        row->fold = rp_load_u32(sites->rows_of_folds.bytes + 4 * (size_t)folded);
    return done && !sites->rows_of_folds.failed;
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
static bool find_row(struct rp_call_sites *sites, const struct rp_site_table *table, uint32_t site,
                     uint32_t *number)
{
    struct rp_call_site row;
    struct rp_buffer key = {0};
    bool done = describe(sites, table, site, &row);

    if (done)
        put_place_key(&key, &row);
    done = done && !key.failed && rp_intern_add(&sites->places, key.bytes, key.length, number);
    rp_buffer_free(&key);
    if (done && *number == sites->count)
        done = add_row(sites, &row) && fold(sites, *number);
    else
        free_texts(&row);
    if (done)
        sites->rows[*number].chains++;
    return done;
}

static bool row_of(struct rp_call_sites *sites, const struct rp_site_table *table, uint32_t site,
                   struct rp_buffer *key, uint32_t *row)
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

bool rp_call_site_is_folded(const struct rp_call_sites *sites, size_t row)
{
    for (size_t i = 0; i < sites->count; i++)
        if (i != row && sites->rows[i].events > 0 && sites->rows[i].fold == sites->rows[row].fold)
            return true;
    return false;
}

void rp_call_site_put_wrapper(struct rp_buffer *out, const struct rp_call_site *site)
{
    rp_buffer_printf(out, "%s", site->wrapper_in ? site->wrapper_in : "?");
    if (site->wrapper_file)
        rp_buffer_printf(out, " at %s:%d", site->wrapper_file, site->wrapper_line);
}

void rp_call_site_put_place(struct rp_buffer *out, const struct rp_call_site *site)
{
    if (site->file)
        rp_buffer_printf(out, "%s at %s:%d", site->in ? rp_text_shown(site->in) : "?",
                         rp_text_shown(site->file), site->line);
    else if (site->module)
        rp_buffer_printf(out, "%s%s%s(+0x%llx)", site->in ? rp_text_shown(site->in) : "",
                         site->in ? " in " : "", rp_text_shown(site->module),
                         (unsigned long long)site->offset);
    else
        rp_buffer_printf(out, "?");
    if (site->through)
        rp_buffer_printf(out, " (through %s)", rp_text_shown(site->through));
}
