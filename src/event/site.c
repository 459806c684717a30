/* SPDX-License-Identifier: MIT */
#define UNW_LOCAL_ONLY
#include "event/site.h"

#include <elf.h>
#include <libunwind.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "event/wrappers.h"

bool rp_site_table_init(struct rp_site_table *table)
{
    memset(table, 0, sizeof *table);
    table->keys = calloc(RP_SITE_KEYS, sizeof *table->keys);
    return table->keys != NULL;
}

void rp_site_table_free(struct rp_site_table *table)
{
    for (size_t i = 0; i < table->site_count; i++) {
        if (table->read)
            free((char *)table->sites[i].function);
        free(table->sites[i].frame);
    }
    for (size_t i = 0; i < table->module_count; i++)
        free(table->modules[i].path);
    for (size_t i = 0; table->keys && i < RP_SITE_KEYS; i++)
        rp_callers_free(table->keys[i].outcome);
    free(table->bindings);
    free(table->names);
    free(table->keys);
    free(table->sites);
    free(table->modules);
    memset(table, 0, sizeof *table);
}

static bool grow(void **array, size_t count, size_t *room, size_t size)
{
    if (count < *room)
        return true;
    size_t more = *room ? *room * 2 : 16;
    void *bigger = realloc(*array, more * size);
    if (!bigger)
        return false;
    *array = bigger;
    *room = more;
    return true;
}

/* Modules */

static void read_build_id(struct rp_module *module, const char *notes, size_t length)
{
    while (length >= sizeof(ElfW(Nhdr))) {
        const ElfW(Nhdr) *note = (const void *)notes;
        size_t name = (note->n_namesz + 3u) & ~3u, desc = (note->n_descsz + 3u) & ~3u;
        size_t whole = sizeof *note + name + desc;
        if (whole > length)
            return;
        const char *at = notes + sizeof *note;
        if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 && memcmp(at, "GNU", 4) == 0 &&
            note->n_descsz <= RP_BUILD_ID_MAX) {
            memcpy(module->build_id, at + name, note->n_descsz);
            module->build_id_length = note->n_descsz;
            return;
        }
        notes += whole;
        length -= whole;
    }
}

static void read_segments(struct rp_module *module, const struct dl_phdr_info *info)
{
    module->base = info->dlpi_addr;
    module->start = UINTPTR_MAX;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        uintptr_t start = info->dlpi_addr + segment->p_vaddr;
        if (segment->p_type == PT_NOTE)
            read_build_id(module, (const char *)start, segment->p_memsz);
        if (segment->p_type != PT_LOAD)
            continue;
        if (start < module->start)
            module->start = start;
        if (start + segment->p_memsz > module->end)
            module->end = start + segment->p_memsz;
    }
}

struct search {
    uintptr_t address;
    struct rp_module found;
    bool done;
};

static int visit_module(struct dl_phdr_info *info, size_t size, void *data)
{
    struct search *search = data;
    struct rp_module module = {0};
    char self[4096];

    (void)size;
    read_segments(&module, info);
    if (search->address < module.start || search->address >= module.end)
        return 0;
    const char *path = info->dlpi_name;
    if (!path || !*path) {
        ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
        self[length > 0 ? length : 0] = 0;
        path = self;
    }
    module.path = strdup(path);
    search->found = module;
    search->done = module.path != NULL;
    return 1;
}

static int visit_program(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)size;
    read_segments(data, info); /* the main program comes first */
    return 1;
}

bool rp_site_program(struct rp_module *out)
{
    memset(out, 0, sizeof *out);
    return dl_iterate_phdr(visit_program, out) == 1;
}

static uint32_t known_module(const struct rp_site_table *table, uintptr_t address)
{
    for (size_t i = 0; i < table->module_count; i++)
        if (address >= table->modules[i].start && address < table->modules[i].end)
            return (uint32_t)i + 1;
    return 0;
}

static uint32_t find_module(struct rp_site_table *table, uintptr_t address,
                            struct rp_buffer *records)
{
    uint32_t known = known_module(table, address);

    if (known)
        return known;
    struct search search = {.address = address};
    dl_iterate_phdr(visit_module, &search);
    if (!search.done)
        return 0;
    if (!grow((void **)&table->modules, table->module_count, &table->module_room,
              sizeof *table->modules)) {
        free(search.found.path);
        return 0;
    }
    table->modules[table->module_count++] = search.found;
    rp_buffer_byte(records, 'M');
    rp_buffer_string(records, search.found.build_id, search.found.build_id_length);
    rp_buffer_string(records, search.found.path, strlen(search.found.path));
    return (uint32_t)table->module_count;
}

/* Sites */

/* Walks the stack from `return_address` outwards into `chain`. Frames further in, such as our own,
 * are left out. */
static size_t walk(uintptr_t return_address, uintptr_t *chain)
{
    void *all[RP_SITE_FRAMES + 16];
    int depth = unw_backtrace(all, RP_SITE_FRAMES + 16);
    size_t count = 0;
    uintptr_t back = 0; /* on some machines libunwind points one byte before the return address */

    for (int i = 0; i < depth && count < RP_SITE_FRAMES; i++) {
        if (count == 0)
            back = return_address - (uintptr_t)all[i];
        if (count > 0 || back <= 1)
            chain[count++] = (uintptr_t)all[i] + back;
    }
    if (count == 0)
        chain[count++] = return_address;
    return count;
}

static bool same_chain(const struct rp_site *site, const char *function,
                       const struct rp_frame *frame, size_t frames)
{
    if (site->function != function || site->frames != frames)
        return false;
    for (size_t i = 0; i < frames; i++)
        if (site->frame[i].module != frame[i].module || site->frame[i].offset != frame[i].offset)
            return false;
    return true;
}

static void put_site(struct rp_buffer *out, const struct rp_site *site)
{
    rp_buffer_byte(out, 'S');
    rp_buffer_string(out, site->function, strlen(site->function));
    rp_buffer_varint(out, site->frames);
    for (uint32_t i = 0; i < site->frames; i++) {
        rp_buffer_varint(out, site->frame[i].module);
        rp_buffer_varint(out, site->frame[i].offset);
    }
}

static bool append_site(struct rp_site_table *table, const char *function,
                        const struct rp_frame *frame, size_t frames)
{
    if (!grow((void **)&table->sites, table->site_count, &table->site_room, sizeof *table->sites))
        return false;
    struct rp_frame *copy = malloc((frames ? frames : 1) * sizeof *copy);
    if (!copy)
        return false;
    memcpy(copy, frame, frames * sizeof *copy);
    table->sites[table->site_count++] = (struct rp_site){function, (uint32_t)frames, copy};
    return true;
}

static uint32_t intern(struct rp_site_table *table, const char *function,
                       const struct rp_frame *frame, size_t frames, struct rp_buffer *records)
{
    for (size_t i = table->site_count; i-- > 0;)
        if (same_chain(&table->sites[i], function, frame, frames))
            return (uint32_t)i;
    if (!append_site(table, function, frame, frames)) {
        records->failed = true;
        return 0;
    }
    uint32_t site = (uint32_t)table->site_count - 1;
    put_site(records, &table->sites[site]);
    if (records->failed) {
        free(table->sites[--table->site_count].frame);
        return 0;
    }
    if (table->announce)
        table->announce(table->owner, records, site);
    return site;
}

/* Bindings */

static bool is_binding(const struct rp_site_table *table, const struct rp_frame *frame)
{
    static const char *const names[] = {"libreprise", "libmpi_mpifh", "libmpi_usempi",
                                        "libmpi_cxx", "libmpichfort", "libmpichcxx",
                                        "libmpifort", "libmpicxx"};

    if (!frame->module)
        return false;
    const char *path = table->modules[frame->module - 1].path, *slash = strrchr(path, '/'),
               *name = slash ? slash + 1 : path;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(name, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

/* Returns the number, from 1, of the binding with this return address behind binding `inner`; 0 if
 * it is not known. A binding stands in the table behind those further in. */
static size_t find_binding(const struct rp_site_table *table, size_t inner,
                           uintptr_t return_address)
{
    for (size_t i = inner; i < table->binding_count; i++)
        if (table->bindings[i].inner == inner &&
            table->bindings[i].return_address == return_address)
            return i + 1;
    return 0;
}

/* Returns the program's return address of a call that returns to `return_address`, past the
 * bindings. */
static uintptr_t past_bindings(const struct rp_site_table *table, uintptr_t return_address,
                               uintptr_t stack)
{
    size_t binding = 0;

    while ((binding = find_binding(table, binding, return_address)) != 0)
        return_address = *(const uintptr_t *)(stack + table->bindings[binding - 1].distance);
    return return_address;
}

/* Adds a binding unless it is known. Returns its number; 0 if there is no memory for it. */
static size_t note_binding(struct rp_site_table *table, size_t inner, uintptr_t return_address,
                           uintptr_t distance)
{
    size_t known = find_binding(table, inner, return_address);

    if (known || !grow((void **)&table->bindings, table->binding_count, &table->binding_room,
                       sizeof *table->bindings))
        return known;
    table->bindings[table->binding_count++] = (struct rp_binding){inner, return_address, distance};
    return table->binding_count;
}

/* Wrappers */

/* A new chain, while the stack is walked: where the return addresses of wrappers are saved. */
struct new_chain {
    uintptr_t chain[RP_SITE_FRAMES];
    struct rp_frame frame[RP_SITE_FRAMES];
    size_t frames, inside; /* `inside` of the frames are bindings */
    uintptr_t stack;
    const uintptr_t *at[RP_WRAPPERS_DEEP];
    size_t levels, small; /* `small` of the levels are wrappers by their size */
};

/* Looking up a function's name is slow, so the answer is kept. */
static bool is_listed(struct rp_site_table *table, unw_cursor_t *cursor, uintptr_t return_address)
{
    char name[512];
    unw_word_t offset;

    for (size_t i = 0; i < table->name_count; i++)
        if (table->names[i].return_address == return_address)
            return table->names[i].is_wrapper;
    bool is_wrapper = unw_get_proc_name(cursor, name, sizeof name, &offset) == 0 &&
                      rp_wrappers_name(table->wrappers, name);
    if (grow((void **)&table->names, table->name_count, &table->name_room, sizeof *table->names))
        table->names[table->name_count++] = (struct rp_named){return_address, is_wrapper};
    return is_wrapper;
}

static bool is_small(unw_cursor_t *cursor)
{
    unw_proc_info_t function;

    return unw_get_proc_info(cursor, &function) == 0 && function.end_ip > function.start_ip &&
           function.end_ip - function.start_ip <= RP_WRAPPER_BYTES;
}

/* The C library calls main; and a function that is called from the C library has one caller. */
static bool is_c_library(const struct rp_site_table *table, const struct rp_frame *frame)
{
    const char *slash = frame->module ? strrchr(table->modules[frame->module - 1].path, '/') : NULL;

    return slash && strncmp(slash, "/libc.so", 8) == 0;
}

static bool is_wrapper(struct rp_site_table *table, struct new_chain *n, size_t number,
                       unw_cursor_t *cursor)
{
    if (!table->wrappers || n->levels == RP_WRAPPERS_DEEP || number + 1 >= n->frames ||
        is_c_library(table, &n->frame[number + 1]))
        return false;
    return (n->small < RP_WRAPPERS_SMALL && is_small(cursor) && ++n->small) ||
           is_listed(table, cursor, n->chain[number]);
}

/* Steps outwards. Sets *distance to the distance from `stack` to the place where the return address
 * of the cursor's frame was saved. Returns false if that is not on the stack. */
static bool step(unw_cursor_t *cursor, uintptr_t stack, uintptr_t *distance)
{
    unw_save_loc_t saved;

    if (unw_step(cursor) <= 0 || unw_get_save_loc(cursor, UNW_REG_IP, &saved) != 0 ||
        saved.type != UNW_SLT_MEMORY || saved.u.addr < stack)
        return false;
    *distance = (uintptr_t)saved.u.addr - stack;
    return true;
}

static bool begin_walk(unw_context_t *context, unw_cursor_t *cursor, uintptr_t return_address)
{
    unw_word_t at = 0;

    if (unw_init_local(cursor, context) != 0)
        return false;
    do {
        if (unw_step(cursor) <= 0 || unw_get_reg(cursor, UNW_REG_IP, &at) != 0)
            return false;
    } while (return_address - (uintptr_t)at > 1);
    return true;
}

/* Returns whether the whole chain of bindings is known. Chains may have their inner part in
 * common. */
static bool is_noted(const struct rp_site_table *table, const struct new_chain *n)
{
    size_t binding = 0;

    for (size_t i = 0; i < n->inside; i++) {
        binding = find_binding(table, binding, n->chain[i]);
        if (!binding)
            return false;
    }
    return true;
}

/* Notes where the return addresses of bindings are saved. Leaves the cursor at the first frame that
 * is none. */
static bool note_bindings(struct rp_site_table *table, const struct new_chain *n,
                          unw_cursor_t *cursor)
{
    uintptr_t distance;
    size_t binding = 0;

    for (size_t i = 0; i < n->inside; i++) {
        if (!step(cursor, n->stack, &distance))
            return false;
        binding = note_binding(table, binding, n->chain[i], distance);
        if (!binding)
            return false;
    }
    return true;
}

/* Finds where the return addresses of bindings and of the wrappers behind them are saved. Places
 * far from the stack pointer are not used: in a later call that memory might not be mapped. */
static void find_saved(struct rp_site_table *table, struct new_chain *n)
{
    enum { FAR = 4096 };
    unw_context_t context;
    unw_cursor_t cursor;
    uintptr_t distance;

    if (unw_getcontext(&context) != 0 || !begin_walk(&context, &cursor, n->chain[0]) ||
        !note_bindings(table, n, &cursor))
        return;
    for (size_t i = n->inside; i < n->frames && is_wrapper(table, n, i, &cursor); i++) {
        if (!step(&cursor, n->stack, &distance) || distance > FAR)
            return;
        n->at[n->levels++] = (const uintptr_t *)(n->stack + distance);
    }
}

static uint32_t new_site(struct rp_site_table *table, const char *function,
                         uintptr_t return_address, struct new_chain *n)
{
    struct rp_buffer records = {0};
    size_t modules = table->module_count;

    n->frames = walk(return_address, n->chain);
    for (size_t i = 0; i < n->frames; i++) {
        n->frame[i].module = find_module(table, n->chain[i], &records);
        n->frame[i].offset =
            n->chain[i] - (n->frame[i].module ? table->modules[n->frame[i].module - 1].base : 0);
    }
    while (n->inside + 1 < n->frames && is_binding(table, &n->frame[n->inside]))
        n->inside++;
    if (table->wrappers || !is_noted(table, n))
        find_saved(table, n);
    uint32_t site = intern(table, function, n->frame + n->inside, n->frames - n->inside, &records);
    while (records.failed &&
           table->module_count > modules) /* modules that were not announced have no number */
        free(table->modules[--table->module_count].path);
    rp_buffer_free(&records);
    return site;
}

/* Returns the slot of the key, or the free slot where it belongs. */
static struct rp_site_key *find_key(const struct rp_site_table *table, const char *function,
                                    uintptr_t return_address, uintptr_t stack)
{
    size_t slot = rp_site_hash(return_address, stack) >> 2;

    for (;; slot = (slot + 1) % RP_SITE_KEYS) {
        struct rp_site_key *key = &table->keys[slot];
        if (!key->function || (key->return_address == return_address && key->stack == stack &&
                               key->function == function))
            return key;
    }
}

uint32_t rp_site_add(struct rp_site_table *table, const char *function, uintptr_t return_address,
                     uintptr_t stack)
{
    /* A program whose stack depth varies without end must not cause a walk for every call. */
    uintptr_t level = table->keys_used >= RP_SITE_KEYS / 2 ? 0 : stack;
    struct rp_site_key *key =
        find_key(table, function, past_bindings(table, return_address, stack), level);
    struct new_chain n = {.stack = stack};
    uint32_t site;

    if (key->function && rp_callers_find(key->outcome, &site))
        return site;
    site = new_site(table, function, return_address, &n);
    uintptr_t place =
        past_bindings(table, return_address, stack); /* the walk may have found new bindings */
    key = find_key(table, function, place, level);
    if (!key->function && table->keys_used < RP_SITE_KEYS - RP_SITE_KEYS / 8) {
        *key = (struct rp_site_key){place, level, function, 0};
        table->keys_used++;
    }
    return key->function ? rp_callers_add(&key->outcome, n.at, level ? n.levels : 0, site) : site;
}

/* Reading */

static bool read_module(struct rp_site_table *table, struct rp_view *in)
{
    struct rp_module module = {0};
    size_t id_length, path_length;
    const uint8_t *id = rp_view_string(in, &id_length);
    const uint8_t *path = rp_view_string(in, &path_length);

    if (in->failed || id_length > RP_BUILD_ID_MAX)
        return false;
    table->starved =
        !grow((void **)&table->modules, table->module_count, &table->module_room, sizeof module);
    if (table->starved)
        return false;
    memcpy(module.build_id, id, id_length);
    module.build_id_length = id_length;
    module.path = strndup((const char *)path, path_length);
    table->starved = !module.path;
    if (table->starved)
        return false;
    table->modules[table->module_count++] = module;
    return true;
}

static bool read_site(struct rp_site_table *table, struct rp_view *in)
{
    struct rp_frame frame[RP_SITE_FRAMES];
    size_t length;
    const uint8_t *name = rp_view_string(in, &length);
    uint64_t frames = rp_view_varint(in);

    if (in->failed || frames > RP_SITE_FRAMES)
        return false;
    for (uint64_t i = 0; i < frames; i++) {
        uint64_t module = rp_view_varint(in);
        frame[i].offset = rp_view_varint(in);
        if (in->failed || module > table->module_count)
            return false;
        frame[i].module = (uint32_t)module;
    }
    char *function = strndup((const char *)name, length);
    if (function && append_site(table, function, frame, (size_t)frames))
        return true;
    table->starved = true;
    free(function);
    return false;
}

bool rp_site_read(struct rp_site_table *table, const uint8_t *bytes, size_t length, uint32_t items)
{
    struct rp_view in = rp_view_of(bytes, length);
    size_t before = table->site_count;

    table->read = true;
    while (in.at < in.end) {
        uint8_t kind = rp_view_byte(&in);
        if (!(kind == 'M' ? read_module(table, &in) : kind == 'S' && read_site(table, &in)))
            return false;
    }
    return table->site_count - before == items;
}

static bool same_module(const struct rp_module *one, const struct rp_module *other)
{
    return one->build_id_length > 0 && one->build_id_length == other->build_id_length &&
           memcmp(one->build_id, other->build_id, one->build_id_length) == 0;
}

bool rp_site_same(const struct rp_site_table *one, uint32_t first,
                  const struct rp_site_table *other, uint32_t second)
{
    if (first >= one->site_count || second >= other->site_count)
        return false;
    const struct rp_site *a = &one->sites[first], *b = &other->sites[second];

    if (strcmp(a->function, b->function) != 0)
        return false;
    if (a->frames == 0 || b->frames == 0 || !a->frame[0].module || !b->frame[0].module)
        return true;
    if (!same_module(&one->modules[a->frame[0].module - 1],
                     &other->modules[b->frame[0].module - 1]))
        return true; /* another build: addresses cannot be compared */
    return a->frame[0].offset == b->frame[0].offset;
}

bool rp_site_same_chain(const struct rp_site_table *one, uint32_t first,
                        const struct rp_site_table *other, uint32_t second)
{
    if (!rp_site_same(one, first, other, second))
        return false;
    const struct rp_site *a = &one->sites[first], *b = &other->sites[second];

    for (uint32_t i = 0; i < a->frames && i < b->frames; i++) {
        const struct rp_frame *x = &a->frame[i], *y = &b->frame[i];
        if (x->module && y->module &&
            same_module(&one->modules[x->module - 1], &other->modules[y->module - 1]) &&
            x->offset != y->offset)
            return false;
    }
    return a->frames == b->frames;
}
