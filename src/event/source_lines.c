/* SPDX-License-Identifier: MIT */
#include "event/source_lines.h"

#include <dlfcn.h>
#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"

/* The functions of libdw that we use. */
#define FUNCTIONS(each)                                                                            \
    each(dwfl_begin) each(dwfl_end) each(dwfl_report_begin) each(dwfl_report_end)                  \
        each(dwfl_report_offline) each(dwfl_module_getelf) each(dwfl_module_build_id)              \
            each(dwfl_module_addrname) each(dwfl_module_getsrc) each(dwfl_lineinfo)                \
                each(dwfl_offline_section_address) each(dwfl_standard_find_debuginfo)              \
                    each(dwfl_module_nextcu) each(dwarf_haspc) each(dwarf_getsrc_die)              \
                        each(dwarf_linesrc) each(dwarf_lineno) each(dwfl_module_addrinfo)          \
                            each(dwfl_module_addrdie) each(dwarf_getscopes)                        \
                                each(dwarf_getscopes_die) each(dwarf_tag) each(dwarf_diename)      \
                                    each(dwarf_attr) each(dwarf_attr_integrate)                    \
                                        each(dwarf_formudata) each(dwarf_formstring)               \
                                            each(dwarf_ranges) each(dwarf_getsrcfiles)             \
                                                each(dwarf_filesrc)

#define DECLARE(name) __typeof__(name) *name;

struct opened {
    char *path;
    uint8_t build_id[RP_BUILD_ID_MAX];
    size_t build_id_length;
    Dwfl *session;
    Dwfl_Module *module; /* NULL: nothing is known of this file */
};

struct rp_source_lines {
    void *library;
    struct {
        FUNCTIONS(DECLARE)
    } dw;
    Dwfl_Callbacks callbacks;
    struct opened *opened;
    size_t count;
};

static bool find_functions(struct rp_source_lines *lines)
{
    bool all = true;

#define FIND(name)                                                                                 \
    all = (lines->dw.name = (__typeof__(name) *)dlsym(lines->library, #name)) != NULL && all;
    FUNCTIONS(FIND)
#undef FIND
    return all;
}

struct rp_source_lines *rp_source_lines_open(void)
{
    struct rp_source_lines *lines = calloc(1, sizeof *lines);

    if (!lines)
        return NULL;
    lines->library = dlopen("libdw.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!lines->library || !find_functions(lines)) {
        rp_source_lines_close(lines);
        return NULL;
    }
    lines->callbacks.find_debuginfo = lines->dw.dwfl_standard_find_debuginfo;
    lines->callbacks.section_address = lines->dw.dwfl_offline_section_address;
    return lines;
}

void rp_source_lines_close(struct rp_source_lines *lines)
{
    if (!lines)
        return;
    for (size_t i = 0; i < lines->count; i++) {
        if (lines->opened[i].session)
            lines->dw.dwfl_end(lines->opened[i].session);
        free(lines->opened[i].path);
    }
    free(lines->opened);
    if (lines->library)
        dlclose(lines->library);
    free(lines);
}

/* Checks the build id: a file that was built again has other lines. */
static bool is_recorded_one(struct rp_source_lines *lines, Dwfl_Module *found,
                            const struct rp_module *module)
{
    const unsigned char *bits;
    GElf_Addr address, bias;

    lines->dw.dwfl_module_getelf(found, &bias); /* reads it */
    int length = lines->dw.dwfl_module_build_id(found, &bits, &address);
    return length <= 0 ? module->build_id_length == 0
                       : (size_t)length == module->build_id_length &&
                             memcmp(bits, module->build_id, (size_t)length) == 0;
}

static Dwfl_Module *open_module(struct rp_source_lines *lines, const struct rp_module *module,
                                Dwfl **session)
{
    *session = lines->dw.dwfl_begin(&lines->callbacks);
    if (!*session)
        return NULL;
    lines->dw.dwfl_report_begin(*session);
    int fd = rp_open_regular(module->path, O_RDONLY); /* its module closes it */
    Dwfl_Module *found =
        fd >= 0 ? lines->dw.dwfl_report_offline(*session, module->path, module->path, fd) : NULL;
    if (fd >= 0 && !found)
        close(fd);
    lines->dw.dwfl_report_end(*session, NULL, NULL);
    return found && is_recorded_one(lines, found, module) ? found : NULL;
}

static bool is_module(const struct opened *opened, const struct rp_module *module)
{
    return strcmp(opened->path, module->path) == 0 &&
           opened->build_id_length == module->build_id_length &&
           memcmp(opened->build_id, module->build_id, module->build_id_length) == 0;
}

static Dwfl_Module *module_of(struct rp_source_lines *lines, const struct rp_module *module)
{
    for (size_t i = 0; i < lines->count; i++)
        if (is_module(&lines->opened[i], module))
            return lines->opened[i].module;
    struct opened *more = realloc(lines->opened, (lines->count + 1) * sizeof *more);
    if (!more)
        return NULL;
    lines->opened = more;
    struct opened *opened = &more[lines->count];
    *opened =
        (struct opened){.path = strdup(module->path), .build_id_length = module->build_id_length};
    memcpy(opened->build_id, module->build_id, module->build_id_length);
    if (!opened->path)
        return NULL;
    lines->count++;
    opened->module = open_module(lines, module, &opened->session);
    return opened->module;
}

/* Searches all units: clang writes no table of addresses, by which libdw finds a unit. */
static void search_units(struct rp_source_lines *lines, Dwfl_Module *module, Dwarf_Addr address,
                         struct rp_source_line *out)
{
    Dwarf_Addr bias = 0;

    for (Dwarf_Die *unit = NULL; (unit = lines->dw.dwfl_module_nextcu(module, unit, &bias));) {
        Dwarf_Line *line = lines->dw.dwarf_haspc(unit, address - bias) == 1
                               ? lines->dw.dwarf_getsrc_die(unit, address - bias)
                               : NULL;
        if (line && lines->dw.dwarf_lineno(line, &out->line) == 0 &&
            (out->file = lines->dw.dwarf_linesrc(line, NULL, NULL)))
            return;
    }
}

bool rp_source_lines_find(struct rp_source_lines *lines, const struct rp_module *module,
                          uint64_t offset, struct rp_source_line *out)
{
    Dwfl_Module *found = lines ? module_of(lines, module) : NULL;
    GElf_Addr bias = 0;
    Dwarf_Addr address;

    *out = (struct rp_source_line){0};
    if (!found || offset == 0 || !lines->dw.dwfl_module_getelf(found, &bias))
        return false;
    address = offset + bias - 1; /* inside the call */
    out->function = lines->dw.dwfl_module_addrname(found, address);
    Dwfl_Line *line = lines->dw.dwfl_module_getsrc(found, address);
    if (line)
        out->file = lines->dw.dwfl_lineinfo(line, NULL, &out->line, NULL, NULL, NULL);
    else
        search_units(lines, found, address, out);
    return out->function || out->file;
}

/* Functions that were inlined */

static Dwarf_Die *unit_of(struct rp_source_lines *lines, Dwfl_Module *module, Dwarf_Addr address,
                          Dwarf_Addr *bias)
{
    Dwarf_Die *unit = lines->dw.dwfl_module_addrdie(module, address, bias);

    if (unit)
        return unit;
    while ((unit = lines->dw.dwfl_module_nextcu(module, unit, bias))) /* clang */
        if (lines->dw.dwarf_haspc(unit, address - *bias) == 1)
            return unit;
    return NULL;
}

/* Returns the scopes that contain the address, as they are nested in the code; the caller frees
 * them. */
static int scopes_at(struct rp_source_lines *lines, Dwarf_Die *unit, Dwarf_Addr address,
                     Dwarf_Die **scopes)
{
    Dwarf_Die innermost;

    *scopes = NULL;
    int count = lines->dw.dwarf_getscopes(unit, address, scopes);
    if (count <= 0)
        return 0;
    innermost = (*scopes)[0];
    free(*scopes);
    *scopes = NULL;
    count = lines->dw.dwarf_getscopes_die(&innermost, scopes);
    return count > 0 ? count : 0;
}

static uint64_t size_of(struct rp_source_lines *lines, Dwarf_Die *die)
{
    Dwarf_Addr base, start, end;
    uint64_t size = 0;

    for (ptrdiff_t at = 0; (at = lines->dw.dwarf_ranges(die, at, &base, &start, &end)) > 0;)
        size += end - start;
    return size;
}

static Dwarf_Word number_of(struct rp_source_lines *lines, Dwarf_Die *die, unsigned name)
{
    Dwarf_Attribute attribute;
    Dwarf_Word number = 0;

    if (lines->dw.dwarf_attr(die, name, &attribute))
        lines->dw.dwarf_formudata(&attribute, &number);
    return number;
}

static const char *symbol_of(struct rp_source_lines *lines, Dwarf_Die *die)
{
    Dwarf_Attribute attribute;

    return lines->dw.dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute)
               ? lines->dw.dwarf_formstring(&attribute)
               : NULL;
}

/* Where an inlined function was called from. */
static void find_call(struct rp_source_lines *lines, Dwarf_Die *unit, Dwarf_Die *die,
                      struct rp_source_line *out)
{
    Dwarf_Files *files;
    size_t count;
    Dwarf_Word file = number_of(lines, die, DW_AT_call_file);

    out->line = (int)number_of(lines, die, DW_AT_call_line);
    out->file = NULL;
    if (file > 0 && lines->dw.dwarf_getsrcfiles(unit, &files, &count) == 0 && file < count)
        out->file = lines->dw.dwarf_filesrc(files, file, NULL, NULL);
}

/* Adds the inlined functions. `line` is first that of the innermost call, and then that of the call
 * in the function that contains them all. */
static size_t add_inlined(struct rp_source_lines *lines, Dwfl_Module *module, Dwarf_Addr address,
                          struct rp_source_line *line, struct rp_code *out, size_t most)
{
    Dwarf_Addr bias = 0;
    Dwarf_Die *scopes = NULL, *unit = unit_of(lines, module, address, &bias);
    int count = unit ? scopes_at(lines, unit, address - bias, &scopes) : 0;
    size_t added = 0;

    for (int i = 0;
         i < count && added < most && lines->dw.dwarf_tag(&scopes[i]) != DW_TAG_subprogram; i++) {
        if (lines->dw.dwarf_tag(&scopes[i]) != DW_TAG_inlined_subroutine)
            continue;
        const char *name = lines->dw.dwarf_diename(&scopes[i]);
        out[added++] = (struct rp_code){{name, line->file, line->line},
                                        symbol_of(lines, &scopes[i]),
                                        size_of(lines, &scopes[i])};
        find_call(lines, unit, &scopes[i], line);
    }
    free(scopes);
    return added;
}

size_t rp_source_lines_expand(struct rp_source_lines *lines, const struct rp_module *module,
                              uint64_t offset, struct rp_code **out)
{
    enum { MOST = 16 };
    struct rp_source_line line;
    GElf_Addr bias = 0;
    GElf_Off into;
    GElf_Sym symbol = {0};

    *out = NULL;
    if (!rp_source_lines_find(lines, module, offset, &line) ||
        !(*out = calloc(MOST + 1, sizeof **out)))
        return 0;
    Dwfl_Module *found = module_of(lines, module);
    lines->dw.dwfl_module_getelf(found, &bias);
    Dwarf_Addr address = offset + bias - 1;
    const char *name = line.function;
    size_t count = line.file ? add_inlined(lines, found, address, &line, *out, MOST) : 0;
    bool known =
        name && lines->dw.dwfl_module_addrinfo(found, address, &into, &symbol, NULL, NULL, NULL);
    (*out)[count++] =
        (struct rp_code){{name, line.file, line.line}, name, known ? symbol.st_size : 0};
    return count;
}

static const struct rp_module *module_of_frame(const struct rp_site_table *table,
                                               const struct rp_frame *frame)
{
    return frame->module ? &table->modules[frame->module - 1] : NULL;
}

/* The C library calls main; it is of no interest as a place. */
static bool is_c_library(const struct rp_module *module)
{
    const char *slash = strrchr(module->path, '/');

    return slash && strncmp(slash, "/libc.so", 8) == 0;
}

bool rp_source_lines_of_site(struct rp_source_lines *lines, const struct rp_site_table *table,
                             uint32_t site, struct rp_source_line *out)
{
    if (site >= table->site_count)
        return false;
    const struct rp_site *s = &table->sites[site];
    for (uint32_t i = 0; i < s->frames; i++) {
        const struct rp_module *module = module_of_frame(table, &s->frame[i]);
        if (module && !is_c_library(module) &&
            rp_source_lines_find(lines, module, s->frame[i].offset, out) && out->file)
            return true;
    }
    return false;
}

void rp_source_lines_print_site(struct rp_source_lines *lines, const struct rp_site_table *table,
                                uint32_t site, const char *indent, struct rp_buffer *out)
{
    if (site >= table->site_count) {
        rp_buffer_printf(out, "%sunknown call site %u\n", indent, site);
        return;
    }
    const struct rp_site *s = &table->sites[site];
    rp_buffer_printf(out, "%s%s called from\n", indent, rp_text_shown(s->function));
    rp_source_lines_print_frames(lines, table, site, indent, out);
}

void rp_source_lines_print_frames(struct rp_source_lines *lines, const struct rp_site_table *table,
                                  uint32_t site, const char *indent, struct rp_buffer *out)
{
    const struct rp_site *s = &table->sites[site];

    for (uint32_t i = 0; i < s->frames; i++) {
        const struct rp_module *module = module_of_frame(table, &s->frame[i]);
        struct rp_source_line line;
        rp_buffer_printf(out, "%s  %s(+0x%llx)", indent, module ? rp_text_shown(module->path) : "?",
                         (unsigned long long)s->frame[i].offset);
        if (module && rp_source_lines_find(lines, module, s->frame[i].offset, &line)) {
            rp_buffer_printf(out, " %s", line.function ? rp_text_shown(line.function) : "?");
            if (line.file)
                rp_buffer_printf(out, " at %s:%d", rp_text_shown(line.file), line.line);
        }
        rp_buffer_byte(out, '\n');
    }
}

static void put_line(struct rp_source_lines *lines, const struct rp_module *module, uint64_t offset,
                     struct rp_buffer *out)
{
    struct rp_source_line line;

    if (!rp_source_lines_find(lines, module, offset, &line))
        return;
    if (line.function) {
        rp_buffer_printf(out, ", \"function\": ");
        rp_json_put_string(out, line.function);
    }
    if (line.file) {
        rp_buffer_printf(out, ", \"file\": ");
        rp_json_put_string(out, line.file);
        rp_buffer_printf(out, ", \"line\": %d", line.line);
    }
}

void rp_source_lines_put_frames(struct rp_source_lines *lines, const struct rp_site_table *table,
                                uint32_t site, struct rp_buffer *out)
{
    const struct rp_site *s = site < table->site_count ? &table->sites[site] : NULL;

    rp_buffer_byte(out, '[');
    for (uint32_t i = 0; s && i < s->frames; i++) {
        const struct rp_module *module = module_of_frame(table, &s->frame[i]);
        rp_buffer_printf(out, "%s{\"module\": ", i ? ", " : "");
        rp_json_put_string(out, module ? module->path : "");
        rp_buffer_printf(out, ", \"offset\": %llu", (unsigned long long)s->frame[i].offset);
        if (module)
            put_line(lines, module, s->frame[i].offset, out);
        rp_buffer_byte(out, '}');
    }
    rp_buffer_byte(out, ']');
}
