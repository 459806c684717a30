/* SPDX-License-Identifier: MIT */
/*
 * The items of a rank are in groups: those inside a region, and those between it and the next.
 * Groups are compared with each other: inside a region as sets, sorted by call and content, else
 * one by one. Where two replays in the same order differ in the data alone, that item is noise;
 * where they make other calls, everything from there on is.
 */
#include "report/outputs_diff.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/buffer.h"
#include "base/file.h"
#include "event/source_lines.h"
#include "log/output_log.h"
#include "report/callsites.h"

static const size_t output_limit = (size_t)1 << 30;

/* Places */

/* The program's own call, and not what it was linked with to make it. */
static bool find_line(struct rp_source_lines *lines, const struct rp_site_table *sites,
                      const struct rp_site *site, struct rp_source_line *out)
{
    for (uint32_t i = 0; i < site->frames; i++) {
        const struct rp_frame *frame = &site->frame[i];
        if (frame->module &&
            rp_source_lines_find(lines, &sites->modules[frame->module - 1], frame->offset, out) &&
            out->file &&
            !(out->function && strncmp(out->function, "reprise_commutative_", 20) == 0))
            return true;
    }
    return false;
}

static void put_place(struct rp_buffer *out, const struct rp_site_table *sites, uint32_t number)
{
    const struct rp_site *site = &sites->sites[number];
    struct rp_source_lines *lines = rp_source_lines_open();
    struct rp_source_line line = {0};
    bool found = find_line(lines, sites, site, &line);
    bool known = site->frames && site->frame[0].module;
    struct rp_call_site row = {.in = found ? (char *)(uintptr_t)line.function : NULL,
                               .file = found ? (char *)(uintptr_t)line.file : NULL,
                               .line = line.line,
                               .module =
                                   known ? sites->modules[site->frame[0].module - 1].path : NULL,
                               .offset = known ? site->frame[0].offset : 0};

    rp_call_site_put_place(out, &row);
    rp_source_lines_close(lines);
}

static char *text_of(struct rp_buffer *out)
{
    rp_buffer_byte(out, 0);
    char *text = out->failed ? NULL : strdup((char *)out->bytes);

    rp_buffer_free(out);
    return text;
}

enum rp_status rp_outputs_regions(const char *directory, uint32_t rank, uint32_t region,
                                  uint32_t *regions, char **place, struct rp_problem *why)
{
    struct rp_outputs given;
    struct rp_buffer text = {0};
    enum rp_status status = rp_outputs_read(directory, rank, &given, why);

    *place = NULL;
    if (status != RP_OK)
        return status;
    *regions = (uint32_t)given.regions;
    if (region < given.regions) {
        put_place(&text, &given.sites, given.region[region]);
        *place = text_of(&text);
    }
    rp_outputs_free(&given);
    return RP_OK;
}

/* Items */

struct group {
    const struct rp_outputs *given;
    struct rp_outputs_item *item;
    size_t count;
};

static int compare_numbers(uint64_t one, uint64_t other)
{
    return (one > other) - (one < other);
}

static const char *function_of(const struct rp_outputs *given, const struct rp_outputs_item *item)
{
    return given->sites.sites[item->site].function;
}

/* By call: function, place, peer. */
static int compare_calls(const struct rp_outputs *g1, const struct rp_outputs_item *one,
                         const struct rp_outputs *g2, const struct rp_outputs_item *other)
{
    const struct rp_site *s1 = &g1->sites.sites[one->site], *s2 = &g2->sites.sites[other->site];
    int result = strcmp(s1->function, s2->function);

    if (result == 0 && !rp_site_same(&g1->sites, one->site, &g2->sites, other->site) &&
        s1->frames && s2->frames)
        result = compare_numbers(s1->frame[0].offset, s2->frame[0].offset);
    return result ? result
                  : compare_numbers((uint64_t)(int64_t)one->peer + 1,
                                    (uint64_t)(int64_t)other->peer + 1);
}

static int compare_items(const struct rp_outputs *g1, const struct rp_outputs_item *one,
                         const struct rp_outputs *g2, const struct rp_outputs_item *other)
{
    int result = compare_calls(g1, one, g2, other);

    result = result ? result : compare_numbers(one->bytes, other->bytes);
    return result ? result : compare_numbers(one->digest, other->digest);
}

static int compare_in_one(const void *one, const void *other, void *given)
{
    return compare_items(given, one, given, other);
}

static void sort(struct group *group)
{
    if (group->count > 1)
        qsort_r(group->item, group->count, sizeof *group->item, compare_in_one,
                (void *)(uintptr_t)group->given);
}

static uint64_t key_of(const struct rp_outputs_item *item)
{
    return (uint64_t)item->region * 2 + !item->is_inside;
}

/* The group with this key, if it is the next one. */
static struct group take(const struct rp_outputs *given, size_t *at, uint64_t key)
{
    struct group group = {given, given->item + *at, 0};

    while (*at < given->items && key_of(&given->item[*at]) == key) {
        ++*at;
        group.count++;
    }
    return group;
}

static void describe(struct rp_outputs_difference *out, const struct rp_outputs *given,
                     const struct rp_outputs_item *item, const char *how)
{
    struct rp_buffer text = {0};

    rp_buffer_printf(&text, "%s", function_of(given, item));
    if (item->peer >= 0)
        rp_buffer_printf(&text, " to %d", item->peer);
    rp_buffer_printf(&text, " in ");
    put_place(&text, &given->sites, item->site);
    rp_buffer_printf(&text, " %s", how);
    out->is_found = true;
    out->is_floating = item->is_floating;
    out->what = text_of(&text);
}

static const char other_data[] = "was given other data than in the recorded order",
                  other_call[] = "stands where another call stood in the recorded order",
                  no_call[] = "was called in the recorded order, and is not now",
                  new_call[] = "was not called in the recorded order";

static bool are_same_sets(const struct group *one, const struct group *other)
{
    bool same = one->count == other->count;

    for (size_t i = 0; same && i < one->count; i++)
        same = compare_items(one->given, &one->item[i], other->given, &other->item[i]) == 0;
    return same;
}

static void compare_sets(struct group *reference, struct group *again, struct group *other,
                         struct rp_outputs_difference *out)
{
    size_t i = 0;

    sort(reference);
    sort(other);
    if (again) {
        sort(again);
        if (!are_same_sets(reference, again)) {
            out->noise += reference->count;
            return;
        }
    }
    out->compared += reference->count;
    while (i < reference->count && i < other->count &&
           compare_items(reference->given, &reference->item[i], other->given, &other->item[i]) == 0)
        i++;
    if (i < reference->count &&
        (i == other->count ||
         compare_calls(reference->given, &reference->item[i], other->given, &other->item[i]) < 0))
        describe(out, reference->given, &reference->item[i], no_call);
    else if (i < other->count)
        describe(out, other->given, &other->item[i],
                 i < reference->count && compare_calls(reference->given, &reference->item[i],
                                                       other->given, &other->item[i]) == 0
                     ? other_data
                     : new_call);
}

/* False: from here on all is noise. */
static bool compare_sequences(const struct group *reference, const struct group *again,
                              const struct group *other, bool is_whole,
                              struct rp_outputs_difference *out)
{
    for (size_t i = 0; i < reference->count || i < other->count; i++) {
        const struct rp_outputs_item *item = i < reference->count ? &reference->item[i] : NULL,
                                     *other_item = i < other->count ? &other->item[i] : NULL;
        const struct rp_outputs_item *repeated = again && i < again->count ? &again->item[i] : NULL;
        if (again && ((!item) != (!repeated) ||
                      (item && compare_calls(reference->given, item, again->given, repeated) != 0)))
            return false;
        if (item && repeated &&
            compare_items(reference->given, item, again->given, repeated) != 0) {
            out->noise++;
            continue;
        }
        if (!item || !other_item) {
            if (is_whole)
                describe(out, item ? reference->given : other->given, item ? item : other_item,
                         item ? no_call : new_call);
            return is_whole;
        }
        out->compared++;
        if (compare_items(reference->given, item, other->given, other_item) != 0) {
            describe(out, other->given, other_item,
                     compare_calls(reference->given, item, other->given, other_item) == 0
                         ? other_data
                         : other_call);
            return true;
        }
    }
    return true;
}

static uint64_t next_key(const struct rp_outputs *given, size_t at)
{
    return at < given->items ? key_of(&given->item[at]) : UINT64_MAX;
}

static void compare_all(const struct rp_outputs *reference, const struct rp_outputs *again,
                        const struct rp_outputs *other, bool is_whole,
                        struct rp_outputs_difference *out)
{
    size_t at[3] = {0, 0, 0};

    for (bool goes_on = true; goes_on && !out->is_found;) {
        uint64_t key = next_key(reference, at[0]), of_other = next_key(other, at[2]),
                 of_again = again ? next_key(again, at[1]) : UINT64_MAX;
        key = of_other < key ? of_other : key;
        key = of_again < key ? of_again : key;
        if (key == UINT64_MAX ||
            (!is_whole && (at[0] == reference->items || at[2] == other->items)))
            return;
        struct group group = take(reference, &at[0], key),
                     repeated = again ? take(again, &at[1], key) : (struct group){0},
                     other_group = take(other, &at[2], key);
        bool is_last = !is_whole && (at[0] == reference->items || at[2] == other->items);
        if (key % 2 == 1)
            goes_on =
                compare_sequences(&group, again ? &repeated : NULL, &other_group, is_whole, out);
        else if (!is_last)
            compare_sets(&group, again ? &repeated : NULL, &other_group, out);
    }
}

enum rp_status rp_outputs_compare(const char *reference, const char *again, const char *other,
                                  uint32_t rank, bool is_whole, struct rp_outputs_difference *out,
                                  struct rp_problem *why)
{
    struct rp_outputs given[3] = {{0}, {0}, {0}};
    enum rp_status status = rp_outputs_read(reference, rank, &given[0], why);

    *out = (struct rp_outputs_difference){0};
    if (status == RP_OK && again)
        status = rp_outputs_read(again, rank, &given[1], why);
    if (status == RP_OK)
        status = rp_outputs_read(other, rank, &given[2], why);
    if (status == RP_OK) {
        out->is_cut = given[0].is_cut || given[1].is_cut || given[2].is_cut;
        compare_all(&given[0], again ? &given[1] : NULL, &given[2], is_whole && !out->is_cut, out);
    }
    for (int i = 0; i < 3; i++)
        rp_outputs_free(&given[i]);
    return status;
}

/* Lines */

struct output {
    struct rp_buffer bytes;
    char **line;
    size_t lines;
};

static int compare_lines(const void *one, const void *other)
{
    char *const *a = one, *const *b = other;
    int result = strcmp(*a, *b);

    return result ? result
                  : (*a > *b) - (*a < *b); /* in the order of the file: pointers into one buffer */
}

static enum rp_status read_lines(const char *path, struct output *out, struct rp_problem *why)
{
    enum rp_status status = rp_read_file(path, output_limit, &out->bytes, why);

    for (char *at = (char *)out->bytes.bytes, *end = status == RP_OK ? at + out->bytes.length : at;
         at < end; at += strlen(at) + 1) {
        char *newline = memchr(at, '\n', (size_t)(end - at));
        if (newline)
            *newline = 0;
        if (!rp_array_grow((void **)&out->line, out->lines, sizeof *out->line))
            return rp_fail(why, RP_MEMORY, "%s: out of memory", path);
        out->line[out->lines++] = at;
    }
    if (out->lines > 1)
        qsort(out->line, out->lines, sizeof *out->line, compare_lines);
    return status;
}

/* Whether the line is there; what is before it is passed over, and so is it: asked in the order of
 * lines. */
static bool has_next(const struct output *output, size_t *at, const char *line)
{
    while (*at < output->lines && strcmp(output->line[*at], line) < 0)
        ++*at;
    bool found = *at < output->lines && strcmp(output->line[*at], line) == 0;
    *at += found;
    return found;
}

enum rp_status rp_outputs_lost_line(const char *reference, const char *again, const char *other,
                                    char **line, struct rp_problem *why)
{
    struct output output[3] = {{{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}};
    enum rp_status status = read_lines(reference, &output[0], why);
    size_t at_again = 0, at_other = 0;
    char *lost = NULL;

    *line = NULL;
    if (status == RP_OK && again)
        status = read_lines(again, &output[1], why);
    if (status == RP_OK)
        status = read_lines(other, &output[2], why);
    for (size_t i = 0; status == RP_OK && i < output[0].lines; i++) {
        char *line = output[0].line[i];
        bool is_steady = !again || has_next(&output[1], &at_again, line),
             is_there = has_next(&output[2], &at_other, line);
        if (is_steady && !is_there && (!lost || line < lost))
            lost = line;
    }
    if (lost && !(*line = strdup(lost)))
        status = rp_fail(why, RP_MEMORY, "out of memory");
    for (int i = 0; i < 3; i++) {
        free(output[i].line);
        rp_buffer_free(&output[i].bytes);
    }
    return status;
}
