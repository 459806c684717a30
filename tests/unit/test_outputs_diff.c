/* SPDX-License-Identifier: MIT */
/* Replays compared by what a rank handed to MPI: in order outside of regions, in any order inside;
 * what two replays of the same order do not have in common is noise; lines of output in any
 * order. */
#include "report/outputs_diff.h"

#include "base/file.h"
#include "log/output_log.h"
#include "unit.h"

/* A log in words: B and E begin and end a region; any other letter is a call of its own place, and
 * the letter behind it is its data; T: nothing more is told. */
static const char *make(const char *name, const char *words)
{
    static char paths[3][4200];
    static int next;
    char *path = paths[next++ % 3];
    struct rp_outputs_writer *w;
    struct rp_problem why;

    snprintf(path, sizeof paths[0], "%s/%s", unit_directory, name);
    rp_remove_directory(path);
    CHECK_OK(rp_make_directory(path, false, &why), why);
    CHECK_OK(rp_outputs_create(path, 3, &w, &why), why);
    for (const char *at = words; *at; at++) {
        if (*at == 'B')
            rp_outputs_begin(w, rp_outputs_site(w, "begin", 1, 0));
        else if (*at == 'E')
            rp_outputs_end(w);
        else if (*at == 'T')
            rp_outputs_cease(w);
        else {
            struct rp_outputs_item item = {
                .site = rp_outputs_site(w, *at == 'x' ? "MPI_Send" : "MPI_Bcast", 2, 0),
                .peer = *at == 'x' ? 1 : RP_OUTPUTS_NO_PEER,
                .bytes = 8,
                .digest = (uint64_t)at[1]};
            rp_outputs_put(w, &item);
            at++;
        }
    }
    rp_outputs_close(w);
    return path;
}

static struct rp_outputs_difference compare(const char *reference, const char *again,
                                            const char *other, bool is_whole)
{
    struct rp_outputs_difference d;
    struct rp_problem why;
    const char *one = make("reference", reference), *two = again ? make("again", again) : NULL,
               *three = make("other", other);

    CHECK_OK(rp_outputs_compare(one, two, three, 3, is_whole, &d, &why), why);
    CHECK(d.is_found == (d.what != NULL));
    free(d.what);
    return d;
}

static bool is_same(const char *reference, const char *again, const char *other, bool is_whole)
{
    return !compare(reference, again, other, is_whole).is_found;
}

TEST(order_of_calls)
{
    CHECK(is_same("BEx1y2", NULL, "BEx1y2", true));
    CHECK(!is_same("BEx1y2", NULL, "BEx1y3", true));
    CHECK(!is_same("BEx1y2", NULL, "BEy2x1", true));
    CHECK(!is_same("BEx1y2", NULL, "BEx1", true) && !is_same("BEx1", NULL, "BEx1y2", true));
    CHECK(is_same("BEx1y2", NULL, "BEx1", false) && !is_same("BEx1y2", NULL, "BEx2", false));
}

TEST(inside_of_regions)
{
    CHECK(is_same("Bx1x2y3Ey4", NULL, "By3x2x1Ey4", true));
    CHECK(!is_same("Bx1x2Ey4", NULL, "Bx1x3Ey4", true));
    CHECK(!is_same("Bx1x2Ey4", NULL, "Bx1Ey4", true) && !is_same("Bx1Ey4", NULL, "Bx1x2Ey4", true));
    CHECK(!is_same("Bx1EBx2E", NULL, "Bx2EBx1E", true)); /* in another region */
    CHECK(!is_same("Bx1Ex2", NULL, "Bx2Ex1", true));
}

TEST(noise)
{
    struct rp_outputs_difference d = compare("BEx1y2x3", "BEx1y7x3", "BEx1y9x3", true);

    CHECK(!d.is_found && d.noise == 1 && d.compared == 2);
    CHECK(!is_same("BEx1y2x3", "BEx1y7x3", "BEx1y9x4", true));
    CHECK(is_same("BEx1y2x3", "BEx1x2x3", "BEx1y3x4", true)); /* other calls: all behind is noise */
    CHECK(!is_same("BEx1y2x3", "BEx1x2x3", "BEx2y2x3", true));
    CHECK(is_same("Bx1x2Ey1", "Bx1x3Ey1", "Bx1x4Ey1", true)); /* noise inside of a region */
    CHECK(!is_same("Bx1x2Ey1", "Bx1x3Ey1", "Bx1x4Ey2", true));
}

TEST(cut_logs)
{
    struct rp_outputs_difference d = compare("BEx1T", NULL, "BEx1y2", true);

    CHECK(!d.is_found && d.is_cut);
    CHECK(!is_same("BEx1T", NULL, "BEx2y2", true));
}

TEST(regions_of_a_rank)
{
    struct rp_problem why;
    uint32_t regions;
    char *place;
    const char *path = make("reference", "BEBEx1");

    CHECK_OK(rp_outputs_regions(path, 3, 1, &regions, &place, &why), why);
    CHECK(regions == 2 && place);
    free(place);
    CHECK_OK(rp_outputs_regions(path, 3, 2, &regions, &place, &why), why);
    CHECK(regions == 2 && !place);
    CHECK_OK(rp_outputs_regions(path, 4, 0, &regions, &place, &why), why);
    CHECK(regions == 0 && !place);
}

static char *lost(const char *reference, const char *again, const char *other)
{
    const char *text[] = {reference, again, other};
    char path[3][4200], *line = NULL;
    struct rp_problem why;

    for (int i = 0; i < 3; i++) {
        snprintf(path[i], sizeof path[i], "%s/out-%d", unit_directory, i);
        unlink(path[i]);
        if (text[i])
            CHECK_OK(rp_write_new_file(path[i], text[i], strlen(text[i]), &why), why);
    }
    CHECK_OK(rp_outputs_lost_line(path[0], again ? path[1] : NULL, path[2], &line, &why), why);
    return line;
}

static bool is_lost(const char *expected, const char *reference, const char *again,
                    const char *other)
{
    char *line = lost(reference, again, other);
    bool same = expected ? line && strcmp(line, expected) == 0 : !line;

    free(line);
    return same;
}

TEST(lines)
{
    CHECK(is_lost(NULL, "", NULL, "") && is_lost(NULL, "a\nb\n", NULL, "b\na\n") &&
          is_lost(NULL, "a\n", NULL, "a\nb\n"));
    CHECK(is_lost("b", "a\nb\nc\n", NULL, "a\nx\n"));
    CHECK(is_lost("a", "a\na\n", NULL, "a\n") && is_lost("end", "a\nend", NULL, "a\n"));
    CHECK(is_lost(NULL, "time 3\na\n", "time 4\na\n", "a\ntime 5\n") &&
          is_lost("a", "time 3\na\n", "time 4\na\n", "time 5\n"));
}
