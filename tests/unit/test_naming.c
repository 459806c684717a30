/* SPDX-License-Identifier: MIT */
#include "event/naming.h"

#include <unistd.h>

#include "event/wrappers.h"
#include "unit.h"

TEST(names_are_compared_with_patterns)
{
    const char *list = "comm_*,log_recv,ns::comm::*";

    CHECK(rp_wrappers_name(list, "comm_send") && rp_wrappers_name(list, "log_recv"));
    CHECK(!rp_wrappers_name(list, "log_recv2") && !rp_wrappers_name(list, "my_comm_send") &&
          !rp_wrappers_name(list, "comm"));
    CHECK(!rp_wrappers_name("", "comm_send") && !rp_wrappers_name(NULL, "comm_send") &&
          !rp_wrappers_name(list, NULL));
    CHECK(rp_wrappers_name(rp_wrappers_list(), "hypre_MPI_Iprobe") &&
          !rp_wrappers_name(rp_wrappers_list(), "hypre_ParCSRMatvec"));
}

TEST(names_of_cxx_are_compared_without_parameters)
{
    const char *list = "ns::comm::*";

    CHECK(rp_wrappers_name(list, "_ZN2ns4comm4recvEi")); /* ns::comm::recv(int) */
    CHECK(rp_wrappers_name(
        list,
        "_ZNK2ns4comm4recvIiEEN2ns6statusERT_")); /* ns::status ns::comm::recv<int>(int&) const */
    CHECK(!rp_wrappers_name(list, "_Z4stepRN2ns4commE")); /* step(ns::comm&) */
    CHECK(!rp_wrappers_name(list,
                            "_ZN2ns5otherIN2ns4comm1tEE2goEv")); /* ns::other<ns::comm::t>::go() */
}

/* Chains by hand: two callers of one function make it a wrapper, if it is small. */

static char self[4096];

__attribute__((noinline)) static uintptr_t here(void)
{
    return (uintptr_t)__builtin_return_address(0);
}

__attribute__((noinline)) static uintptr_t wrapper(volatile int *done)
{
    uintptr_t at = here();

    *done = 1;
    return at;
}

__attribute__((noinline)) static uintptr_t caller(volatile int *done)
{
    uintptr_t at = here();

    *done = 2;
    return at;
}

__attribute__((noinline)) static uintptr_t other_caller(volatile int *done)
{
    uintptr_t at = here();

    *done = 3;
    return at;
}

static bool names_wrapper(struct rp_site_table *table, const char *list)
{
    struct rp_naming *naming = rp_naming_open(list);
    struct rp_site_place place;
    bool found = false;

    rp_naming_learn(naming, table);
    if (rp_naming_find(naming, table, 0, &place))
        found = place.wrappers == 1 && strcmp(place.wrapper[0].line.function, "wrapper") == 0 &&
                strcmp(place.spot.line.function, "caller") == 0;
    rp_naming_close(naming);
    return found;
}

TEST(a_small_function_with_two_callers_is_a_wrapper)
{
    volatile int done;
    struct rp_module module;
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);

    REQUIRE(length > 0 && rp_site_program(&module));
    module.path = self;
    uintptr_t inner = wrapper(&done) - module.base, outer = caller(&done) - module.base,
              else_where = other_caller(&done) - module.base;
    struct rp_frame one[] = {{1, inner}, {1, outer}}, two[] = {{1, inner}, {1, else_where}};
    struct rp_site sites[] = {{"MPI_Recv", 2, one}, {"MPI_Recv", 2, two}};
    struct rp_site_table table = {.sites = sites,
                                  .site_count = 2,
                                  .modules = &module,
                                  .module_count = 1};

    struct rp_source_lines *lines = rp_source_lines_open();
    rp_source_lines_close(lines);
    if (!lines)
        return; /* no libdw */
    CHECK(names_wrapper(&table, NULL));
    table.site_count = 1;
    CHECK(!names_wrapper(&table, NULL));
    CHECK(names_wrapper(&table, "wrap*"));
}

TEST(without_memory_or_lines_there_is_an_address)
{
    struct rp_module module = {.path = (char *)"/nonexistent/app"};
    struct rp_frame frame = {1, 0x1234};
    struct rp_site site = {"MPI_Recv", 1, &frame};
    struct rp_site_table table = {.sites = &site,
                                  .site_count = 1,
                                  .modules = &module,
                                  .module_count = 1};
    struct rp_site_place place;
    struct rp_buffer out = {0};

    CHECK(!rp_naming_find(NULL, &table, 0, &place) && !rp_naming_find(NULL, &table, 1, &place));
    rp_naming_find(NULL, &table, 0, &place);
    rp_site_place_put(&out, &place);
    rp_buffer_byte(&out, 0);
    CHECK_STR((char *)out.bytes, "/nonexistent/app(+0x1234)");
    rp_buffer_clear(&out);
    rp_site_place_put_short(&out, &place);
    rp_buffer_byte(&out, 0);
    CHECK_STR((char *)out.bytes, "app+0x1234");
    rp_buffer_free(&out);
    rp_naming_learn(NULL, &table);
    rp_naming_close(NULL);
}
