/* SPDX-License-Identifier: MIT */
#include "event/naming.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "event/wrappers.h"

enum { LEVELS = 40 };

/* What is known of a return address: the functions that were inlined there, innermost first, and
 * then the function that contains them. */
struct known {
    uint64_t key; /* 0: free */
    struct rp_code *code;
    size_t count;
    char *plain; /* the name of the last one, if the compiler changed it */
};

/* The callers of a small function, as far as they were learned. */
struct called {
    uint64_t function; /* 0: free */
    uint64_t caller;   /* the first caller that was seen */
    bool by_others;
};

struct rp_naming {
    struct rp_source_lines *lines;
    char *list;
    struct known *known;
    struct called *called;
    size_t known_count, known_room, called_count, called_room; /* rooms are powers of two */
};

/* One function of a chain of calls. */
struct level {
    const struct rp_code *code;
    const char *holder; /* the function that it is in, if it was inlined */
    const struct rp_module *module;
    uint64_t offset;
};

struct rp_naming *rp_naming_open(const char *list)
{
    struct rp_naming *naming = calloc(1, sizeof *naming);
    struct rp_buffer all = {0};

    if (!naming)
        return NULL;
    rp_buffer_printf(&all, "%s,%s", rp_wrappers_list(), list ? list : "");
    rp_buffer_byte(&all, 0);
    naming->list = all.failed ? NULL : strdup((char *)all.bytes);
    rp_buffer_free(&all);
    naming->lines = rp_source_lines_open();
    return naming;
}

void rp_naming_close(struct rp_naming *naming)
{
    if (!naming)
        return;
    for (size_t i = 0; i < naming->known_room; i++) {
        free(naming->known[i].code);
        free(naming->known[i].plain);
    }
    free(naming->known);
    free(naming->called);
    free(naming->list);
    rp_source_lines_close(naming->lines);
    free(naming);
}

struct rp_source_lines *rp_naming_lines(const struct rp_naming *naming)
{
    return naming ? naming->lines : NULL;
}

/* Hashes. Their origins are not compared, since among thousands of them no two are equal. */

static uint64_t mix(uint64_t hash, const void *bytes, size_t length)
{
    const uint8_t *at = bytes;

    for (size_t i = 0; i < length; i++)
        hash = (hash ^ at[i]) * 0x100000001b3u;
    return hash;
}

static uint64_t hash_of_module(const struct rp_module *module)
{
    uint64_t hash = mix(0xcbf29ce484222325u, module->path, strlen(module->path));

    return mix(hash, module->build_id, module->build_id_length);
}

static uint64_t hash_of_address(const struct rp_module *module, uint64_t offset)
{
    return mix(hash_of_module(module), &offset, sizeof offset) | 1;
}

/* A copy that the compiler made of a function (take.isra.0) counts as the function. */
static size_t name_length(const char *name)
{
    return name ? strcspn(name, ".") : 0;
}

static uint64_t hash_of_function(const struct level *level)
{
    const char *name = level->code->line.function;

    return mix(hash_of_module(level->module), name, name_length(name)) | 1;
}

/* Hashes the line, if it is known: an unrolled loop has several addresses for one line. */
static uint64_t hash_of_place(const struct level *level)
{
    const struct rp_source_line *line = &level->code->line;
    uint64_t hash = hash_of_function(level);

    if (!line->file)
        return mix(hash, &level->offset, sizeof level->offset) | 1;
    return mix(mix(hash, line->file, strlen(line->file)), &line->line, sizeof line->line) | 1;
}

/* The functions at an address */

static bool grow_known(struct rp_naming *naming)
{
    size_t room = naming->known_room ? 2 * naming->known_room : 256;
    struct known *more;

    if (2 * naming->known_count < naming->known_room)
        return true;
    more = calloc(room, sizeof *more);
    if (!more)
        return false;
    for (size_t i = 0; i < naming->known_room; i++) {
        size_t slot = naming->known[i].key & (room - 1);
        while (naming->known[i].key && more[slot].key)
            slot = (slot + 1) & (room - 1);
        if (naming->known[i].key)
            more[slot] = naming->known[i];
    }
    free(naming->known);
    naming->known = more;
    naming->known_room = room;
    return true;
}

static void use_plain_name(struct known *known, struct rp_code *code)
{
    if (!code->symbol || !code->symbol[name_length(code->symbol)])
        return;
    known->plain = strndup(code->symbol, name_length(code->symbol));
    if (known->plain)
        code->line.function = known->plain;
}

static const struct known *functions_at(struct rp_naming *naming, const struct rp_module *module,
                                        uint64_t offset)
{
    uint64_t key = hash_of_address(module, offset);

    if (!grow_known(naming))
        return NULL;
    size_t slot = key & (naming->known_room - 1);
    while (naming->known[slot].key && naming->known[slot].key != key)
        slot = (slot + 1) & (naming->known_room - 1);
    struct known *known = &naming->known[slot];
    if (known->key)
        return known;
    known->key = key;
    naming->known_count++;
    known->count = rp_source_lines_expand(naming->lines, module, offset, &known->code);
    if (known->count > 0)
        use_plain_name(known, &known->code[known->count - 1]);
    return known;
}

static bool is_module(const struct rp_module *module, const char *name)
{
    const char *slash = strrchr(module->path, '/');

    return slash && strncmp(slash + 1, name, strlen(name)) == 0;
}

static bool is_listed(const struct rp_naming *naming, const struct rp_code *code)
{
    const char *name = code->symbol ? code->symbol : code->line.function;
    char *plain = name ? strndup(name, name_length(name)) : NULL;
    bool listed = plain && rp_wrappers_name(naming->list, plain);

    free(plain);
    return listed;
}

static bool is_small(const struct rp_code *code)
{
    return code->size > 0 && code->size <= RP_WRAPPER_BYTES;
}

/* Lists the functions of a chain, innermost first, up to the first one with a known line that
 * cannot be a wrapper. */
static size_t expand(struct rp_naming *naming, const struct rp_site_table *table,
                     const struct rp_site *site, struct level out[LEVELS])
{
    size_t count = 0, small = 0;

    for (uint32_t i = 0; i < site->frames; i++) {
        const struct rp_module *module =
            site->frame[i].module ? &table->modules[site->frame[i].module - 1] : NULL;
        if (module && is_module(module, "libc.so")) /* it calls main */
            break;
        const struct known *known =
            module ? functions_at(naming, module, site->frame[i].offset) : NULL;
        for (size_t k = 0; known && k < known->count; k++) {
            const struct rp_code *code = &known->code[k];
            if (count == LEVELS)
                return count;
            out[count++] = (struct level){code, known->code[known->count - 1].symbol, module,
                                          site->frame[i].offset};
            bool may_be =
                (small < RP_WRAPPERS_SMALL && is_small(code) && ++small) || is_listed(naming, code);
            if (!may_be && code->line.file)
                return count;
        }
    }
    return count;
}

/* Callers */

static struct called *slot_of(const struct rp_naming *naming, uint64_t function)
{
    size_t slot = function & (naming->called_room - 1);

    while (naming->called[slot].function && naming->called[slot].function != function)
        slot = (slot + 1) & (naming->called_room - 1);
    return &naming->called[slot];
}

static bool grow_called(struct rp_naming *naming)
{
    struct rp_naming larger = {.called_room = naming->called_room ? 2 * naming->called_room : 256};

    if (2 * naming->called_count < naming->called_room)
        return true;
    larger.called = calloc(larger.called_room, sizeof *larger.called);
    if (!larger.called)
        return false;
    for (size_t i = 0; i < naming->called_room; i++)
        if (naming->called[i].function)
            *slot_of(&larger, naming->called[i].function) = naming->called[i];
    free(naming->called);
    naming->called = larger.called;
    naming->called_room = larger.called_room;
    return true;
}

static void note_caller(struct rp_naming *naming, const struct level *level,
                        const struct level *caller)
{
    uint64_t function = hash_of_function(level), place = hash_of_place(caller);

    if (function == hash_of_function(caller) || !grow_called(naming)) /* it may call itself */
        return;
    struct called *called = slot_of(naming, function);
    if (called->function == 0) {
        *called = (struct called){function, place, false};
        naming->called_count++;
    }
    called->by_others = called->by_others || called->caller != place;
}

void rp_naming_learn(struct rp_naming *naming, const struct rp_site_table *table)
{
    struct level level[LEVELS];

    for (size_t i = 0; naming && i < table->site_count; i++) {
        size_t count = expand(naming, table, &table->sites[i], level);
        for (size_t k = 0; k + 1 < count; k++)
            if (is_small(level[k].code))
                note_caller(naming, &level[k], &level[k + 1]);
    }
}

static bool is_thin(const struct rp_naming *naming, const struct level *level)
{
    if (is_listed(naming, level->code))
        return true;
    return is_small(level->code) && naming->called_room > 0 &&
           slot_of(naming, hash_of_function(level))->by_others;
}

/* Finding */

static struct rp_spot spot_of(const struct level *level)
{
    return (struct rp_spot){level->code->line, level->module, level->offset};
}

/* An interpreter whose lines are unknown is no better place than what it calls. */
static bool can_be_place(const struct level *level, bool has_lines)
{
    if (has_lines)
        return level->code->line.file != NULL;
    return level->code->line.function && !is_module(level->module, "python") &&
           !is_module(level->module, "libpython");
}

/* Returns the next level outwards that can be named, or `count` if there is none. */
static size_t next_place(const struct level *level, size_t count, size_t from, bool has_lines)
{
    while (from < count && !can_be_place(&level[from], has_lines))
        from++;
    return from;
}

static void choose(const struct rp_naming *naming, const struct level *level, size_t count,
                   struct rp_site_place *out)
{
    bool has_lines = false;

    for (size_t i = 0; i < count; i++)
        has_lines = has_lines || level[i].code->line.file;
    size_t at = has_lines ? next_place(level, count, 0, true) : 0, next;
    while (is_thin(naming, &level[at]) &&
           (next = next_place(level, count, at + 1, has_lines)) < count)
        at = next;
    for (size_t i = 0; i < at && out->wrappers < RP_SITE_WRAPPERS; i++)
        if (is_thin(naming, &level[i]))
            out->wrapper[out->wrappers++] = spot_of(&level[i]);
    if (!has_lines && at == 0)
        return;
    if (out->wrappers > 0)
        out->spot = spot_of(&level[at]);
    out->spot.line = level[at].code->line;
    out->spot.line.function = level[at].holder;
}

bool rp_naming_find(struct rp_naming *naming, const struct rp_site_table *table, uint32_t site,
                    struct rp_site_place *out)
{
    struct level level[LEVELS];

    memset(out, 0, sizeof *out);
    if (site >= table->site_count)
        return false;
    const struct rp_site *s = &table->sites[site];
    if (s->frames > 0) {
        out->spot.module = s->frame[0].module ? &table->modules[s->frame[0].module - 1] : NULL;
        out->spot.offset = s->frame[0].offset;
    }
    size_t count = naming ? expand(naming, table, s, level) : 0;
    if (count > 0)
        choose(naming, level, count, out);
    return out->spot.line.file != NULL;
}

/* Printing */

static void put_address(struct rp_buffer *out, const struct rp_spot *spot)
{
    if (spot->module)
        rp_buffer_printf(out, "%s(+0x%llx)", rp_text_shown(spot->module->path),
                         (unsigned long long)spot->offset);
    else
        rp_buffer_printf(out, "?");
}

static void put_spot(struct rp_buffer *out, const struct rp_spot *spot)
{
    if (spot->line.file)
        rp_buffer_printf(out, "%s at %s:%d",
                         spot->line.function ? rp_text_shown(spot->line.function) : "?",
                         rp_text_shown(spot->line.file), spot->line.line);
    else if (spot->line.function)
        rp_buffer_printf(out, "%s", rp_text_shown(spot->line.function));
    else
        put_address(out, spot);
}

void rp_site_place_put_wrappers(struct rp_buffer *out, const struct rp_site_place *place)
{
    for (size_t i = place->wrappers; i-- > 0;) {
        put_spot(out, &place->wrapper[i]);
        rp_buffer_printf(out, i > 0 ? ", " : "");
    }
}

void rp_site_place_put(struct rp_buffer *out, const struct rp_site_place *place)
{
    if (!place->spot.line.file && place->spot.line.function && place->spot.module) {
        rp_buffer_printf(out, "%s in ", rp_text_shown(place->spot.line.function));
        put_address(out, &place->spot);
    } else {
        put_spot(out, &place->spot);
    }
    if (place->wrappers == 0)
        return;
    rp_buffer_printf(out, " (through ");
    rp_site_place_put_wrappers(out, place);
    rp_buffer_byte(out, ')');
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

void rp_site_place_put_short(struct rp_buffer *out, const struct rp_site_place *place)
{
    const struct rp_spot *spot = &place->spot;

    if (spot->line.file)
        rp_buffer_printf(out, "%s:%d", rp_text_shown(last_part(spot->line.file)), spot->line.line);
    else if (spot->module)
        rp_buffer_printf(out, "%s+0x%llx", rp_text_shown(last_part(spot->module->path)),
                         (unsigned long long)spot->offset);
    for (size_t i = place->wrappers; i-- > 0;)
        rp_buffer_printf(out, "%s%s", i + 1 == place->wrappers ? ", through " : ", ",
                         place->wrapper[i].line.function
                             ? rp_text_shown(place->wrapper[i].line.function)
                             : "?");
}

void rp_naming_print_site(struct rp_naming *naming, const struct rp_site_table *table,
                          uint32_t site, const char *indent, struct rp_buffer *out)
{
    struct rp_site_place place;

    rp_naming_find(naming, table, site, &place);
    if (place.wrappers == 0) {
        rp_source_lines_print_site(rp_naming_lines(naming), table, site, indent, out);
        return;
    }
    rp_buffer_printf(out, "%s%s in ", indent, rp_text_shown(table->sites[site].function));
    rp_site_place_put(out, &place);
    rp_buffer_printf(out, ", called from\n");
    rp_source_lines_print_frames(rp_naming_lines(naming), table, site, indent, out);
}
