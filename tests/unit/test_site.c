/* SPDX-License-Identifier: MIT */
#include "event/source_lines.h"
#include "event/site.h"

#include <alloca.h>

#include "unit.h"

static struct rp_buffer news;
static uint32_t announced, last_first;

static void collect(void *owner, const struct rp_buffer *records, uint32_t first)
{
    (void)owner;
    rp_buffer_put(&news, records->bytes, records->length);
    announced++;
    last_first = first;
}

static bool fresh(struct rp_site_table *table)
{
    rp_buffer_clear(&news);
    announced = 0;
    if (!rp_site_table_init(table))
        return false;
    table->announce = collect;
    return true;
}

static const char recv_name[] = "MPI_Recv", probe_name[] = "MPI_Probe";

/* As an entry of the library would. */
__attribute__((noinline)) static uint32_t enter(struct rp_site_table *table, const char *function)
{
    return rp_site_find(table, function, (uintptr_t)__builtin_return_address(0),
                        (uintptr_t)__builtin_frame_address(0));
}

__attribute__((noinline)) static uint32_t deeper(struct rp_site_table *table, int depth)
{
    volatile uint32_t site = depth > 0 ? deeper(table, depth - 1) : enter(table, recv_name);

    return site;
}

__attribute__((noinline)) static uint32_t one_place(struct rp_site_table *table)
{
    volatile uint32_t site = enter(table, recv_name);

    return site;
}

TEST(the_same_place_is_the_same_site)
{
    struct rp_site_table table;

    REQUIRE(fresh(&table));
    for (int i = 0; i < 10; i++)
        (void)one_place(&table);
    CHECK_EQ(announced, table.site_count);
    CHECK(table.keys_used <= 2); /* the compiler may have unrolled a little */
    uint32_t second = enter(&table, recv_name), third = enter(&table, probe_name);
    CHECK_EQ(third, second + 1);
    CHECK(announced == third + 1 && last_first == third);
    rp_site_table_free(&table);
}

TEST(the_chain_tells_callers_apart)
{
    struct rp_site_table table;

    REQUIRE(fresh(&table));
    for (int i = 0; i < 3;
         i++) /* the innermost frame is the same: what differs is the depth alone */
        (void)deeper(&table, i);
    CHECK_EQ(table.site_count, 3);
    for (size_t i = 0; i < table.site_count; i++) {
        CHECK_EQ(table.sites[i].frame[0].offset, table.sites[0].frame[0].offset);
        CHECK(table.sites[i].frames > 1); /* main is in every chain */
    }
    rp_site_table_free(&table);
}

__attribute__((noinline)) static uint32_t around(struct rp_site_table *table)
{
    volatile uint32_t site = one_place(table);

    return site;
}

/* All at the same depth. */
#define CALLER(name, wrapper)                                                                      \
    __attribute__((noinline)) static uint32_t name(struct rp_site_table *table)                    \
    {                                                                                              \
        volatile uint32_t site = wrapper(table);                                                   \
        return site;                                                                               \
    }
CALLER(first_caller, one_place)
CALLER(second_caller, one_place)
CALLER(third_caller, around)
CALLER(fourth_caller, around)

static size_t sites_of_callers(const char *wrappers)
{
    struct rp_site_table table;
    uint32_t found[4] = {0};
    size_t count;

    if (!fresh(&table))
        return 0;
    table.wrappers = wrappers;
    for (int i = 0; i < 3; i++) {
        uint32_t now[] = {first_caller(&table), second_caller(&table), third_caller(&table),
                          fourth_caller(&table)};
        if (i > 0)
            CHECK(memcmp(now, found, sizeof now) == 0);
        memcpy(found, now, sizeof now);
    }
    count = table.site_count;
    rp_site_table_free(&table);
    return count;
}

TEST(callers_of_wrappers_are_told_apart)
{
    CHECK_EQ(sites_of_callers(""), 4);
    CHECK_EQ(sites_of_callers(NULL), 2); /* by the depth alone */
}

/* Functions of a library of ours, through which the program calls. Entries share what they call. */
#define BINDING __attribute__((noinline, section("bindings"))) static uint32_t
extern const char __start_bindings[], __stop_bindings[];
typedef uint32_t inner_function(struct rp_site_table *);

BINDING small_frame(struct rp_site_table *table)
{
    volatile uint32_t site = enter(table, recv_name);

    return site;
}

BINDING large_frame(struct rp_site_table *table)
{
    volatile uint32_t sites[50];

    sites[1] = enter(table, recv_name);
    return sites[1];
}

BINDING complete(struct rp_site_table *table, inner_function *inner)
{
    volatile uint32_t site = inner(table);

    return site;
}

/* The number makes the functions differ: the compiler may merge what is equal. */
#define ENTRY(name, number)                                                                        \
    BINDING name(struct rp_site_table *table, inner_function *inner)                               \
    {                                                                                              \
        volatile uint32_t site = number;                                                           \
        site = complete(table, inner);                                                             \
        return site;                                                                               \
    }
ENTRY(first_entry, 1)
ENTRY(second_entry, 2)

#define PLACE(name, number, entry)                                                                 \
    __attribute__((noinline)) static uint32_t name(struct rp_site_table *table,                    \
                                                   inner_function *inner)                          \
    {                                                                                              \
        volatile uint32_t site = number;                                                           \
        site = entry(table, inner);                                                                \
        return site;                                                                               \
    }
PLACE(first_place, 1, first_entry)
PLACE(second_place, 2, first_entry)
PLACE(third_place, 3, second_entry)
PLACE(fourth_place, 4, second_entry)

static bool fresh_with_bindings(struct rp_site_table *table)
{
    if (!fresh(table))
        return false;
    table->modules = calloc(1, sizeof *table->modules);
    if (!table->modules)
        return false;
    table->modules[0] = (struct rp_module){.start = (uintptr_t)__start_bindings,
                                           .end = (uintptr_t)__stop_bindings,
                                           .path = strdup("/lib/libreprise-unit.so")};
    table->module_count = table->module_room = 1;
    return true;
}

static void check_places(struct rp_site_table *table, inner_function *inner)
{
    uint32_t now[] = {first_place(table, inner), second_place(table, inner),
                      third_place(table, inner), fourth_place(table, inner)};

    for (uint32_t i = 0; i < 4; i++)
        CHECK_EQ(now[i], i);
}

TEST(places_behind_bindings_that_share_functions_are_told_apart)
{
    struct rp_site_table table;

    REQUIRE(fresh_with_bindings(&table));
    for (int i = 0; i < 6; i++)
        check_places(&table, i % 2 ? large_frame : small_frame);
    CHECK(table.site_count == 4 && table.binding_count == 8);
    for (size_t i = 0; i < table.site_count; i++)
        CHECK(table.sites[i].frame[0].module != 1);
    rp_site_table_free(&table);
}

static uintptr_t words[2];
static const uintptr_t *const first_words[] = {&words[0]}, *const second_words[] = {&words[1]};

TEST(a_word_that_moves_tells_nothing)
{
    uint64_t outcome = 0;
    uint32_t site = 99;

    words[0] = 0x1000;
    CHECK_EQ(rp_callers_add(&outcome, first_words, 1, 7), 7);
    CHECK(rp_callers_known(outcome, &site) && site == 7);
    words[0] = 0x1004;
    CHECK(!rp_callers_known(outcome, &site) && !rp_callers_find(outcome, &site));
    CHECK_EQ(rp_callers_add(&outcome, second_words, 1, 8), 7);
    CHECK(rp_callers_known(outcome, &site) && site == 7);
    rp_callers_free(outcome);
}

TEST(callers_without_end_are_one_in_the_end)
{
    uint64_t outcome = 0;
    uint32_t site, told = 0;

    for (uint32_t i = 0; i < 1000; i++) {
        words[0] = 0x400000 + 20 * i;
        told +=
            rp_callers_find(outcome ? outcome : RP_CALLERS_SITE, &site) == false || outcome == 0;
        if (outcome == 0 || !rp_callers_find(outcome, &site))
            site = rp_callers_add(&outcome, first_words, 1, i);
        CHECK(site == i || site == 0);
    }
    CHECK(told > 100 && told < 200);
    words[0] = 0x400000 + 20 * 90;
    CHECK(rp_callers_known(outcome, &site) && site == 90);
    rp_callers_free(outcome);
}

__attribute__((noinline)) static uint32_t on_a_moved_stack(struct rp_site_table *table, size_t by)
{
    volatile char *space = alloca(by + 1);

    space[0] = 1;
    return enter(table, recv_name) + (uint32_t)(space[0] - 1);
}

TEST(two_keys_with_the_same_chain_are_one_site)
{
    struct rp_site_table table;

    REQUIRE(fresh(&table));
    for (size_t i = 0; i < 20; i++)
        CHECK_EQ(on_a_moved_stack(&table, 64 * i), 0);
    CHECK(table.keys_used == 20 && table.site_count == 1 && announced == 1);
    rp_site_table_free(&table);
}

TEST(a_stack_that_varies_without_end_does_not_fill_the_table)
{
    struct rp_site_table table;

    REQUIRE(fresh(&table));
    for (uintptr_t i = 1; i <= 3 * RP_SITE_KEYS; i++) {
        uint32_t site = rp_site_find(&table, recv_name, (uintptr_t)&recv_name, 16 * i);
        if (site != 0 || table.site_count != 1)
            unit_fail(__FILE__, __LINE__, "site %u at %zu", site, (size_t)i);
    }
    CHECK(table.keys_used <= RP_SITE_KEYS / 2 + 1);
    rp_site_table_free(&table);
}

TEST(what_was_announced_is_read_back)
{
    struct rp_site_table table, again;

    REQUIRE(fresh(&table));
    enter(&table, recv_name);
    enter(&table, probe_name);
    deeper(&table, 2);
    on_a_moved_stack(&table, 10);
    REQUIRE(rp_site_table_init(&again));
    CHECK(rp_site_read(&again, news.bytes, news.length, announced));
    CHECK_EQ(again.site_count, table.site_count);
    CHECK_EQ(again.module_count, table.module_count);
    for (uint32_t i = 0; i < table.site_count && i < again.site_count; i++) {
        const struct rp_site *one = &table.sites[i], *other = &again.sites[i];
        CHECK_STR(other->function, one->function);
        CHECK_EQ(other->frames, one->frames);
        for (uint32_t k = 0; k < one->frames && k < other->frames; k++)
            CHECK(one->frame[k].module == other->frame[k].module &&
                  one->frame[k].offset == other->frame[k].offset);
        CHECK(rp_site_same(&table, i, &again, i));
    }
    for (size_t i = 0; i < table.module_count && i < again.module_count; i++) {
        CHECK_STR(again.modules[i].path, table.modules[i].path);
        CHECK_EQ(again.modules[i].build_id_length, table.modules[i].build_id_length);
    }
    rp_site_table_free(&table);
    rp_site_table_free(&again);
}

TEST(an_address_of_nobody_has_no_module)
{
    struct rp_site_table table;
    struct rp_buffer out = {0};

    REQUIRE(fresh(&table));
    CHECK_EQ(rp_site_find(&table, recv_name, 16, 16), 0);
    CHECK(table.sites[0].frames == 1 && table.sites[0].frame[0].module == 0 &&
          table.sites[0].frame[0].offset == 16);
    rp_source_lines_print_site(NULL, &table, 0, "> ", &out);
    rp_source_lines_print_site(NULL, &table, 7, "> ", &out);
    rp_buffer_byte(&out, 0);
    CHECK_STR((char *)out.bytes, "> MPI_Recv called from\n>   ?(+0x10)\n> unknown call site 7\n");
    rp_buffer_free(&out);
    rp_site_table_free(&table);
}

/* Records by hand, from docs/format.md, section 4. */
static void put_module(struct rp_buffer *out, const char *id, const char *path)
{
    rp_buffer_byte(out, 'M');
    rp_buffer_string(out, id, strlen(id));
    rp_buffer_string(out, path, strlen(path));
}

static void put_site(struct rp_buffer *out, const char *function, uint64_t module, uint64_t offset)
{
    rp_buffer_byte(out, 'S');
    rp_buffer_string(out, function, strlen(function));
    rp_buffer_varint(out, 1);
    rp_buffer_varint(out, module);
    rp_buffer_varint(out, offset);
}

static bool reads(const struct rp_buffer *records, uint32_t items)
{
    struct rp_site_table table;
    bool good =
        rp_site_table_init(&table) && rp_site_read(&table, records->bytes, records->length, items);

    rp_site_table_free(&table);
    return good;
}

TEST(records_over_several_chunks_are_numbered_on)
{
    struct rp_buffer records = {0};
    struct rp_site_table table;

    REQUIRE(rp_site_table_init(&table));
    put_module(&records, "id1", "/bin/a");
    put_site(&records, "MPI_Recv", 1, 0x10);
    put_site(&records, "MPI_Wait", 0, UINT64_MAX);
    CHECK(rp_site_read(&table, records.bytes, records.length, 2));
    rp_buffer_clear(&records);
    put_module(&records, "id2", "/bin/b");
    put_site(&records, "MPI_Test", 2, 0x20);
    CHECK(rp_site_read(&table, records.bytes, records.length, 1));
    REQUIRE(table.site_count == 3 && table.module_count == 2);
    CHECK_STR(table.sites[2].function, "MPI_Test");
    CHECK_STR(table.modules[table.sites[2].frame[0].module - 1].path, "/bin/b");
    CHECK(table.sites[1].frame[0].module == 0 && table.sites[1].frame[0].offset == UINT64_MAX);
    rp_site_table_free(&table);
    rp_buffer_free(&records);
}

TEST(records_cut_off_anywhere_are_refused)
{
    struct rp_buffer records = {0};

    put_module(&records, "0123456789", "/bin/a");
    put_site(&records, "MPI_Recv", 1, 300);
    CHECK(reads(&records, 1));
    CHECK(!reads(&records, 0) && !reads(&records, 2) && !reads(&records, UINT32_MAX));
    for (size_t length = records.length; length-- > 0;) {
        struct rp_buffer cut = {0};
        rp_buffer_put(&cut, records.bytes, length);
        CHECK(!reads(&cut, 1));
        rp_buffer_free(&cut);
    }
    rp_buffer_free(&records);
}

static bool refuses_bytes(const char *bytes, size_t length)
{
    struct rp_buffer records = {0};

    rp_buffer_put(&records, bytes, length);
    bool refused = !reads(&records, 1);
    rp_buffer_free(&records);
    return refused;
}

TEST(bad_records_are_refused)
{
    CHECK(refuses_bytes("X", 1));
    CHECK(refuses_bytes("S\x01"
                        "f\x01\x01\x05",
                        6)); /* no such module */
    CHECK(refuses_bytes("S\x01"
                        "f\x21",
                        4)); /* 33 frames, and none there */
    CHECK(refuses_bytes("S\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11));
    CHECK(refuses_bytes("S\x01"
                        "f\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
                        13));
    CHECK(!refuses_bytes("S\x01"
                         "f\x00",
                         4)); /* no frames at all is fine */
    CHECK(!refuses_bytes("S\x00\x00", 3));
    struct rp_buffer many = {0};
    rp_buffer_put(&many,
                  "S\x01"
                  "f\x21",
                  4);
    for (int i = 0; i < 66; i++)
        rp_buffer_byte(&many, 0);
    CHECK(!reads(&many, 1)); /* 33 frames */
    many.bytes[3] = 0x20;
    many.length = 4 + 64;
    CHECK(reads(&many, 1));
    rp_buffer_clear(&many);
    put_module(&many, "0123456789012345678901234567890123456789012345678901234567890123", "m");
    put_site(&many, "f", 1, 1);
    CHECK(reads(&many, 1)); /* 64 bytes of build id */
    rp_buffer_clear(&many);
    put_module(&many, "01234567890123456789012345678901234567890123456789012345678901234", "m");
    put_site(&many, "f", 1, 1);
    CHECK(!reads(&many, 1));
    rp_buffer_free(&many);
}

static uint32_t add(struct rp_site_table *table, const char *id, const char *function,
                    uint64_t offset)
{
    struct rp_buffer records = {0};

    put_module(&records, id, "m");
    put_site(&records, function, table->module_count + 1, offset);
    CHECK(rp_site_read(table, records.bytes, records.length, 1));
    rp_buffer_free(&records);
    return (uint32_t)table->site_count - 1;
}

TEST(sites_of_two_runs_compare_by_build)
{
    struct rp_site_table one, other;

    REQUIRE(rp_site_table_init(&one) && rp_site_table_init(&other));
    uint32_t a = add(&one, "id", "MPI_Recv", 5);
    CHECK(rp_site_same(&one, a, &other, add(&other, "id", "MPI_Recv", 5)));
    CHECK(!rp_site_same(&one, a, &other, add(&other, "id", "MPI_Recv", 6)));
    CHECK(!rp_site_same(&one, a, &other, add(&other, "id", "MPI_Probe", 5)));
    CHECK(rp_site_same(&one, a, &other,
                       add(&other, "other", "MPI_Recv", 6))); /* another build: cannot tell */
    CHECK(rp_site_same(&one, a, &other, add(&other, "", "MPI_Recv", 6)));
    CHECK(!rp_site_same(&one, a, &other, 99) && !rp_site_same(&one, 99, &other, 0));
    rp_site_table_free(&one);
    rp_site_table_free(&other);
}

TEST(the_program_is_found)
{
    struct rp_module module;

    REQUIRE(rp_site_program(&module));
    CHECK((uintptr_t)&the_program_is_found >= module.start &&
          (uintptr_t)&the_program_is_found < module.end);
    CHECK(!module.path);
    rp_buffer_free(&news);
}
