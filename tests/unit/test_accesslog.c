/* SPDX-License-Identifier: MIT */
/* The order log and the log of accesses: what was written is read, also of a process that died;
 * whatever byte is damaged is found, or only shortens the log. */
#include "log/accesslog.h"
#include "log/order_log.h"

#include "base/file.h"
#include "unit.h"

static char *in_directory(const char *name)
{
    static char path[5000];

    snprintf(path, sizeof path, "%s/%s", unit_directory, name);
    return path;
}

static struct rp_order_log_writer *write_order(uint64_t marks)
{
    struct rp_order_log_writer *w;
    struct rp_problem why;
    int members[10000];

    for (int i = 0; i < 10000; i++)
        members[i] = 3 * i;
    CHECK(rp_order_log_create(unit_directory, 77, 5, &w, &why) == RP_OK);
    rp_order_log_window(w, members, 2);
    for (uint64_t i = 1; i <= marks; i++)
        rp_order_log_mark(w, 2 * i, 1000000 + 10 * i),
            rp_order_log_mark_loads(w, 5 * i, 1000003 + 10 * i);
    rp_order_log_window(w, members, 10000);
    rp_order_log_attach(w, 1, UINT64_C(0x7f0012345678), 4096);
    return w;
}

TEST(order)
{
    struct rp_order_log o;
    struct rp_problem why;

    CHECK(rp_order_log_read(unit_directory, 77, 5, &o, &why) == RP_USAGE);
    rp_order_log_close(write_order(1000));
    CHECK(rp_order_log_create(unit_directory, 77, 5, &(struct rp_order_log_writer *){0}, &why) !=
          RP_OK); /* nothing is overwritten */
    CHECK(rp_order_log_read(unit_directory, 77, 5, &o, &why) == RP_OK);
    CHECK(o.marks == 1000 && o.windows == 2 && o.window[0].count == 2 &&
          o.window[1].count == 10000 && o.window[1].rank[9999] == 29997);
    CHECK(rp_order_log_before(&o, 2) == 0 && rp_order_log_before(&o, 3) == 1000010 &&
          rp_order_log_before(&o, 4) == 1000010);
    CHECK(rp_order_log_after(&o, 0) == 1000010 && rp_order_log_after(&o, 3) == 1000020 &&
          rp_order_log_after(&o, 2000) == 1010000 && rp_order_log_after(&o, 2001) == UINT64_MAX);
    CHECK(o.version == 2 && o.attaches == 1 && o.attached[0].window == 1 &&
          o.attached[0].address == UINT64_C(0x7f0012345678) && o.attached[0].size == 4096);
    CHECK(o.loads == 1000 && rp_order_log_before_load(&o, 5) == 0 &&
          rp_order_log_before_load(&o, 6) == 1000013 && rp_order_log_after_load(&o, 5) == 1000013 &&
          rp_order_log_after_load(&o, 6) == 1000023 &&
          rp_order_log_after_load(&o, 5001) == UINT64_MAX);
    rp_order_log_free(&o);
    CHECK(rp_order_log_read(unit_directory, 78, 5, &o, &why) == RP_DAMAGED);
    unlink(in_directory("rank-00005.order"));
    struct rp_order_log_writer *open = write_order(1000); /* as if the process were killed now */
    CHECK(rp_order_log_read(unit_directory, 77, 5, &o, &why) == RP_OK && o.windows == 2 &&
          o.marks == 1000 && o.loads > 900);
    rp_order_log_free(&o);
    rp_order_log_close(open);
    CHECK(truncate(in_directory("rank-00005.order"), 0) == 0); /* killed when the file was made */
    CHECK(rp_order_log_read(unit_directory, 77, 5, &o, &why) == RP_OK && o.windows == 0 &&
          o.marks == 0);
    rp_order_log_free(&o);
    unlink(in_directory("rank-00005.order"));
}

static void damage(const char *path, struct rp_buffer *whole, size_t at)
{
    FILE *file = fopen(path, "w");

    whole->bytes[at] ^= 0x24;
    CHECK(file && fwrite(whole->bytes, 1, whole->length, file) == whole->length);
    whole->bytes[at] ^= 0x24;
    fclose(file);
}

TEST(damaged_order)
{
    char path[5000];
    struct rp_buffer whole = {0};
    struct rp_problem why;
    struct rp_order_log o;

    rp_order_log_close(write_order(300));
    strcpy(path, in_directory("rank-00005.order"));
    CHECK(rp_read_file(path, 1 << 20, &whole, &why) == RP_OK);
    for (size_t i = 0; i < whole.length; i += i < 2000 ? 1 : 997) {
        damage(path, &whole, i);
        enum rp_status status = rp_order_log_read(unit_directory, 77, 5, &o, &why);
        CHECK(status == RP_DAMAGED || status == RP_UNSUPPORTED || status == RP_OK);
        if (status == RP_OK) {
            CHECK(o.marks <= 300 && o.loads <= 300 && o.windows <= 2 && o.attaches <= 1);
            rp_order_log_free(&o);
        }
    }
    rp_buffer_free(&whole);
    unlink(path);
}

static void write_accesses(void)
{
    struct rp_access_writer *w;
    struct rp_problem why;
    struct rp_buffer site = {0};
    uint8_t value[20] = {1, 2, 3}, mask[3] = {1, 0, 4};

    rp_buffer_put(&site, "M\0\4prog", 7);
    rp_buffer_put(&site, "S\7MPI_Put\1\1\20", 12);
    CHECK(rp_access_create(in_directory("rank-00003.accesses"), 9, 3, &w, &why) == RP_OK);
    rp_access_put_sites(w, &site);
    rp_access_put(w, &(struct rp_access){.kind = RP_ACCESS_WINDOW,
                                         .window = 0,
                                         .owner = 3,
                                         .length = 4096,
                                         .unit = 6000000000,
                                         .flavor = RP_ACCESS_PLAIN,
                                         .function = "MPI_Win_allocate"});
    rp_access_put(w, &(struct rp_access){.kind = RP_ACCESS_WRITE,
                                         .window = 0,
                                         .owner = 1,
                                         .place = 7,
                                         .length = 20,
                                         .number = 1,
                                         .from = 12,
                                         .known = true,
                                         .value = value,
                                         .site = 1,
                                         .function = "MPI_Put"});
    rp_access_put(w, &(struct rp_access){.kind = RP_ACCESS_STORE,
                                         .window = 0,
                                         .owner = 3,
                                         .place = 16,
                                         .length = 20,
                                         .known = true,
                                         .value = value,
                                         .mask = mask,
                                         .function = "MPI_Barrier"});
    rp_access_put(w, &(struct rp_access){.kind = RP_ACCESS_DONE,
                                         .window = 0,
                                         .owner = RP_ACCESS_ALL,
                                         .until = 14,
                                         .function = "MPI_Win_flush_all"});
    rp_access_put(w, &(struct rp_access){.kind = RP_ACCESS_LOAD,
                                         .window = 0,
                                         .owner = 2,
                                         .place = 8,
                                         .length = 20,
                                         .load = 70000,
                                         .known = true,
                                         .value = value,
                                         .function = "load"});
    rp_access_put(w, &(struct rp_access){.kind = RP_ACCESS_DIRECT,
                                         .window = 0,
                                         .owner = 3,
                                         .place = 0,
                                         .length = 4,
                                         .load = 70001,
                                         .known = true,
                                         .value = value,
                                         .function = "store"});
    rp_access_close(w);
    rp_buffer_free(&site);
}

TEST(accesses)
{
    struct rp_access_log log;
    struct rp_problem why;
    struct rp_buffer whole = {0};
    char path[5000];

    CHECK(rp_access_read(unit_directory, 9, 3, &log, &why) == RP_USAGE);
    write_accesses();
    CHECK(rp_access_read(unit_directory, 9, 3, &log, &why) == RP_OK);
    CHECK(log.count == 6 && log.sites.site_count == 1);
    CHECK(log.access[0].unit == 6000000000 && log.access[0].length == 4096);
    CHECK(log.access[1].place == 7 && log.access[1].from == 12 && log.access[1].value[2] == 3 &&
          strcmp(log.access[1].function, "MPI_Put") == 0);
    CHECK(log.access[2].mask[2] == 4 && log.access[3].owner == RP_ACCESS_ALL &&
          log.access[3].until == 14);
    CHECK(log.access[4].load == 70000 && log.access[4].owner == 2 && log.access[4].value[2] == 3 &&
          log.access[5].load == 70001 && log.access[5].value[1] == 2);
    rp_access_free(&log);
    strcpy(path, in_directory("rank-00003.accesses"));
    CHECK(rp_read_file(path, 1 << 20, &whole, &why) == RP_OK);
    for (size_t i = 0; i < whole.length; i++) {
        damage(path, &whole, i);
        if (rp_access_read(unit_directory, 9, 3, &log, &why) == RP_OK) {
            CHECK(log.count <= 6);
            rp_access_free(&log);
        }
    }
    rp_buffer_free(&whole);
    unlink(path);
}
