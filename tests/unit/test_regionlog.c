/* SPDX-License-Identifier: MIT */
/* The log of regions that were closed early: what was written is read, also of a process that died;
 * whatever byte is damaged is found, or only shortens the log. */
#include "log/regionlog.h"

#include <sys/stat.h>

#include "base/file.h"
#include "unit.h"

static struct rp_region_writer *write_regions(void)
{
    struct rp_region_writer *w;
    struct rp_problem why;

    CHECK_OK(rp_region_create(unit_directory, 77, 5, &w, &why), why);
    for (uint64_t i = 1; i <= 100; i++)
        rp_region_closed(w, 10 * i);
    return w;
}

static void check_regions(const char *directory)
{
    struct rp_regions r;
    struct rp_problem why;

    CHECK_OK(rp_regions_read(directory, 77, 5, &r, &why), why);
    CHECK(r.ends == 100);
    CHECK(rp_regions_after(&r, 0) == 10 && rp_regions_after(&r, 9) == 10 &&
          rp_regions_after(&r, 10) == 20 && rp_regions_after(&r, 999) == 1000);
    CHECK(rp_regions_after(&r, 1000) == UINT64_MAX);
    rp_regions_free(&r);
}

TEST(regions)
{
    struct rp_regions r;
    struct rp_problem why;
    char other[5000], *path = rp_region_path(unit_directory, 5);

    CHECK(rp_regions_read(unit_directory, 77, 5, &r, &why) == RP_OK && r.ends == 0 &&
          rp_regions_after(&r, 0) == UINT64_MAX);
    struct rp_region_writer *w = write_regions();
    check_regions(unit_directory); /* as a process that died would leave it */
    rp_region_close(w);
    check_regions(unit_directory);
    CHECK(rp_regions_read(unit_directory, 78, 5, &r, &why) == RP_DAMAGED);
    snprintf(other, sizeof other, "%s/other", unit_directory);
    REQUIRE(mkdir(other, 0700) == 0);
    CHECK_OK(rp_regions_copy(unit_directory, other, 77, 5, &why), why);
    check_regions(other);
    CHECK_OK(rp_regions_copy(unit_directory, other, 77, 6, &why), why); /* there are none */
    rp_remove_directory(other);
    unlink(path);
    free(path);
}

TEST(damaged_regions)
{
    struct rp_buffer whole = {0};
    struct rp_regions r;
    struct rp_problem why;
    char *path = rp_region_path(unit_directory, 5);

    rp_region_close(write_regions());
    CHECK_OK(rp_read_file(path, 1 << 20, &whole, &why), why);
    for (size_t i = 0; i < whole.length; i++) {
        whole.bytes[i] ^= 0x24;
        FILE *file = fopen(path, "wb");
        REQUIRE(file && fwrite(whole.bytes, 1, whole.length, file) == whole.length);
        fclose(file);
        whole.bytes[i] ^= 0x24;
        enum rp_status status = rp_regions_read(unit_directory, 77, 5, &r, &why);
        CHECK(status == RP_DAMAGED || status == RP_UNSUPPORTED ||
              (status == RP_OK && r.ends <= 100));
        rp_regions_free(&r);
    }
    rp_buffer_free(&whole);
    unlink(path);
    free(path);
}
