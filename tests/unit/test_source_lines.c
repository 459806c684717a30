/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "event/source_lines.h"
#include "unit.h"

enum { FIRST_LINE = __LINE__ + 2 };
static __attribute__((noinline)) int landmark(int x)
{
    return x * 3 + (int)getpid();
}
enum { LAST_LINE = __LINE__ - 1 };

/* This program as a module, and the offset of an address in `landmark`. */
static uint64_t this_place(struct rp_module *module, char path[4096])
{
    ssize_t length = readlink("/proc/self/exe", path, 4095);

    path[length > 0 ? length : 0] = 0;
    CHECK(landmark(1) != landmark(2));
    CHECK(rp_site_program(module));
    module->path = path;
    return (uint64_t)((uintptr_t)landmark - module->base) + 5;
}

TEST(an_address_has_its_line)
{
    struct rp_source_lines *lines = rp_source_lines_open();
    struct rp_module module;
    struct rp_source_line line;
    char path[4096];
    uint64_t offset = this_place(&module, path);

    REQUIRE(lines != NULL);
    for (int again = 0; again < 2; again++) {
        CHECK(rp_source_lines_find(lines, &module, offset, &line));
        CHECK(line.function && strcmp(line.function, "landmark") == 0);
        CHECK(line.file && strstr(line.file, "test_source_lines.c"));
        CHECK(line.line >= FIRST_LINE && line.line <= LAST_LINE);
    }
    rp_source_lines_close(lines);
}

TEST(another_build_has_other_lines)
{
    struct rp_source_lines *lines = rp_source_lines_open();
    struct rp_module module;
    struct rp_source_line line;
    char path[4096];
    uint64_t offset = this_place(&module, path);

    REQUIRE(lines != NULL && module.build_id_length > 0);
    module.build_id[0] ^= 1;
    CHECK(!rp_source_lines_find(lines, &module, offset, &line));
    CHECK(!line.function && !line.file);
    rp_source_lines_close(lines);
}

TEST(what_is_not_there_has_no_lines)
{
    struct rp_source_lines *lines = rp_source_lines_open();
    struct rp_module module = {.path = (char *)"/nonexistent/program"},
                     text = {.path = (char *)"/etc/passwd"};
    struct rp_source_line line;

    CHECK(!rp_source_lines_find(lines, &module, 64, &line));
    CHECK(!rp_source_lines_find(lines, &text, 64, &line));
    CHECK(!rp_source_lines_find(NULL, &module, 64, &line));
    rp_source_lines_close(lines);
    rp_source_lines_close(NULL);
}

TEST(a_site_is_where_the_program_called)
{
    struct rp_source_lines *lines = rp_source_lines_open();
    struct rp_module modules[2] = {{.path = (char *)"/nonexistent/binding.so"}};
    char path[4096];
    struct rp_frame frames[2] = {{1, 100}, {2, this_place(&modules[1], path)}};
    struct rp_site site = {"MPI_Recv", 2, frames};
    struct rp_site_table table = {.sites = &site,
                                  .site_count = 1,
                                  .modules = modules,
                                  .module_count = 2};
    struct rp_buffer out = {0};
    struct rp_source_line line;

    CHECK(rp_source_lines_of_site(lines, &table, 0, &line) && line.function &&
          strcmp(line.function, "landmark") == 0);
    CHECK(!rp_source_lines_of_site(lines, &table, 1, &line));
    rp_source_lines_print_site(lines, &table, 0, "> ", &out);
    rp_buffer_byte(&out, 0);
    CHECK(strstr((char *)out.bytes,
                 "> MPI_Recv called from\n>   /nonexistent/binding.so(+0x64)\n>   /"));
    CHECK(strstr((char *)out.bytes, " landmark at ") &&
          strstr((char *)out.bytes, "test_source_lines.c:"));
    rp_buffer_free(&out);
    rp_source_lines_close(lines);
}
