/* SPDX-License-Identifier: MIT */
/*
 * A record has no data, so a shuffled replay is compared with one in the recorded order: what the
 * ranks that have regions handed to MPI (report/outputs_diff.h), and the lines that were printed.
 *
 * Two replays of the same order may differ as well, in values that were not captured, such as
 * times. So if the shuffled replay differs, the recorded order is replayed once more, and what
 * differs between the two replays of that order is ignored. Lines of output may be torn, so a
 * difference in them alone must show in a second shuffled replay, too.
 *
 * The first difference does not show which region is at fault, since a wrong value travels. But a
 * region is shuffled in the same way whichever others are. So all regions are put into a row, by
 * rank and number. A bisection finds the region for which the following holds: a replay that
 * shuffles only the regions before it is as recorded, and one that also shuffles this region is
 * not. That region does not commute, whatever the others do.
 */
#include "cli/shufflerun.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/file.h"
#include "base/diagnostics.h"
#include "job/settings.h"
#include "cli/launch.h"
#include "reprise.h"
#include "report/outputs_diff.h"

enum { NAME = 64 };

/* The first difference of a replay from the one in the recorded order. */
struct finding {
    bool differs, left_record, is_floating, is_cut;
    uint32_t rank;
    char *what;
    uint64_t compared, noise;
};

struct search {
    const struct rp_shuffled *s;
    char folder[PATH_MAX - 2 * NAME];
    char seed[32];
    off_t input;       /* the offset of the standard input; -1: it cannot be read again */
    bool has_again;    /* the recorded order was replayed twice */
    uint32_t *regions; /* by rank: how many */
    uint64_t sum;      /* of these */
    unsigned replays;
};

static void path_of(const struct search *x, const char *name, const char *suffix,
                    char path[PATH_MAX])
{
    snprintf(path, PATH_MAX, "%s/%s%s", x->folder, name, suffix);
}

void rp_shuffle_run_prepare(void)
{
    setenv("REPRISE_GIVEN", ".", 1);
}

/* Makes the directory for the data of the replays: beside the record, else in $TMPDIR or /tmp. */
static enum rp_status make_folder(struct search *x, struct rp_problem *why)
{
    const char *temporary = getenv("TMPDIR");
    char *base = rp_path_absolute(x->s->directory);

    snprintf(x->folder, sizeof x->folder, "%s/shuffle-%d", base ? base : ".", (int)getpid());
    free(base);
    if (mkdir(x->folder, RP_PRIVATE_DIRECTORY) == 0)
        return RP_OK;
    snprintf(x->folder, sizeof x->folder, "%s/reprise-shuffle-%d", temporary ? temporary : "/tmp",
             (int)getpid());
    return mkdir(x->folder, RP_PRIVATE_DIRECTORY) == 0
               ? RP_OK
               : rp_fail(why, RP_SYSTEM, "%s: %s", x->folder, strerror(errno));
}

/* One replay */

/* A file that is copied to one of our outputs while it grows. */
struct copy {
    int from, to;
};

static void copy_on(void *data)
{
    const struct copy *copy = data;
    char bytes[65536];
    ssize_t count;

    while ((count = read(copy->from, bytes, sizeof bytes)) > 0)
        for (ssize_t done = 0, now; done < count; done += now) {
            now = write(copy->to, bytes + done, (size_t)(count - done));
            if (now < 0 && errno != EINTR)
                return;
            now = now < 0 ? 0 : now;
        }
}

static void show_file(const char *path, int to)
{
    struct copy copy = {open(path, O_RDONLY | O_CLOEXEC), to};

    if (copy.from >= 0) {
        copy_on(&copy);
        close(copy.from);
    }
}

static int open_output(const char *path)
{
    return open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, RP_PRIVATE_FILE);
}

/* Replays once, with this seed (0: the recorded order). The data and output get this name, in place
 * of those of an earlier replay. Sets *exit_status. */
static enum rp_status replay(struct search *x, const char *name, const char *seed, bool is_shown,
                             int *exit_status, struct rp_problem *why)
{
    char data[PATH_MAX], out[PATH_MAX], err[PATH_MAX];

    path_of(x, name, "", data);
    path_of(x, name, ".out", out);
    path_of(x, name, ".err", err);
    rp_remove_directory(data);
    int output = open_output(out), error = is_shown ? -1 : open_output(err);
    struct copy copy = {open(out, O_RDONLY | O_CLOEXEC), STDOUT_FILENO};
    enum rp_status status = RP_OK;
    if (mkdir(data, RP_PRIVATE_DIRECTORY) != 0 || output < 0 || copy.from < 0 ||
        (!is_shown && error < 0))
        status = rp_fail(why, RP_SYSTEM, "%s: %s", data, strerror(errno));
    if (status == RP_OK) {
        setenv("REPRISE_GIVEN", data, 1);
        setenv("REPRISE_SHUFFLE", seed, 1);
        rp_launch_into(output, error);
        if (x->input >= 0)
            lseek(STDIN_FILENO, x->input, SEEK_SET);
        *exit_status = x->s->replay(x->s->data, is_shown, is_shown ? copy_on : NULL, &copy);
        rp_launch_into(-1, -1);
        if (is_shown)
            copy_on(&copy);
        x->replays++;
        if (rp_launch_was_stopped())
            status = rp_fail(why, RP_SYSTEM, "it was interrupted");
    }
    for (int fd = 0, fds[] = {output, error, copy.from}; fd < 3; fd++)
        if (fds[fd] >= 0)
            close(fds[fd]);
    return status;
}

/* Comparing */

static enum rp_status compare_given(const struct search *x, const char *name, struct finding *out,
                                    struct rp_problem *why)
{
    char reference[PATH_MAX], again[PATH_MAX], other[PATH_MAX];
    enum rp_status status = RP_OK;

    path_of(x, "recorded", "", reference);
    path_of(x, "again", "", again);
    path_of(x, name, "", other);
    for (uint32_t rank = 0; status == RP_OK && rank < x->s->ranks; rank++) {
        struct rp_outputs_difference d;
        status = rp_outputs_compare(reference, x->has_again ? again : NULL, other, rank,
                                    x->s->is_whole, &d, why);
        if (status != RP_OK)
            break;
        out->compared += d.compared;
        out->noise += d.noise;
        out->is_cut |= d.is_cut;
        if (d.is_found && !out->differs) {
            out->differs = true;
            out->is_floating = d.is_floating;
            out->rank = rank;
            out->what = d.what;
        } else
            free(d.what);
    }
    return status;
}

static enum rp_status compare_output(const struct search *x, const char *name, struct finding *out,
                                     struct rp_problem *why)
{
    char reference[PATH_MAX], again[PATH_MAX], other[PATH_MAX], *line;
    struct rp_buffer text = {0};

    path_of(x, "recorded", ".out", reference);
    path_of(x, "again", ".out", again);
    path_of(x, name, ".out", other);
    enum rp_status status =
        rp_outputs_lost_line(reference, x->has_again ? again : NULL, other, &line, why);
    if (status != RP_OK || !line)
        return status;
    rp_buffer_printf(&text, "a line that was printed in the recorded order is not printed: %.200s",
                     line);
    rp_buffer_byte(&text, 0);
    out->differs = true;
    out->what = text.failed ? NULL : strdup((char *)text.bytes);
    rp_buffer_free(&text);
    free(line);
    return RP_OK;
}

/* Compares the replay of this name, which ended with this status, with the recorded order. Lines of
 * output are compared only if the calls are the same. */
static enum rp_status compare(const struct search *x, const char *name, int exit_status,
                              struct finding *out, struct rp_problem *why)
{
    *out = (struct finding){0};
    if (exit_status == REPRISE_EXIT_DIVERGED) {
        out->differs = out->left_record = true;
        return RP_OK;
    }
    enum rp_status status = compare_given(x, name, out, why);
    if (status == RP_OK && !out->differs && x->s->is_whole)
        status = compare_output(x, name, out, why);
    return status;
}

/* Returns whether the difference is a line of output. */
static bool is_by_line(const struct finding *f)
{
    return f->differs && !f->left_record && f->what && strncmp(f->what, "a line", 6) == 0;
}

/* The region */

/* Sets x->regions and x->sum from the replay in the recorded order. */
static enum rp_status count_regions(struct search *x, struct rp_problem *why)
{
    char reference[PATH_MAX], *place;
    enum rp_status status = RP_OK;

    path_of(x, "recorded", "", reference);
    x->regions = calloc(x->s->ranks, sizeof *x->regions);
    if (!x->regions)
        return rp_fail(why, RP_MEMORY, "out of memory");
    for (uint32_t rank = 0; status == RP_OK && rank < x->s->ranks; rank++) {
        status = rp_outputs_regions(reference, rank, UINT32_MAX, &x->regions[rank], &place, why);
        x->sum += x->regions[rank];
    }
    return status;
}

/* Sets *rank to the rank of the region that has this place in the row of all regions. Returns its
 * number on that rank. */
static uint64_t place_in_row(const struct search *x, uint64_t place, uint32_t *rank)
{
    for (*rank = 0; *rank < x->s->ranks && place >= x->regions[*rank]; ++*rank)
        place -= x->regions[*rank];
    return place;
}

/* Replays with the first `regions` regions shuffled, and compares. */
static enum rp_status try_part(struct search *x, uint64_t regions, struct finding *out,
                               struct rp_problem *why)
{
    uint32_t rank;
    uint64_t number = place_in_row(x, regions, &rank);
    char part[64];
    int exit_status;

    snprintf(part, sizeof part, "%u.%llu", rank, (unsigned long long)number);
    setenv("REPRISE_SHUFFLE_PART", part, 1);
    enum rp_status status = replay(x, "part", x->seed, false, &exit_status, why);
    unsetenv("REPRISE_SHUFFLE_PART");
    return status == RP_OK ? compare(x, "part", exit_status, out, why) : status;
}

/* Sets *region to the place of the region that does not commute. *found, the difference if all
 * regions are shuffled, becomes the difference if those up to that region are. */
static enum rp_status search_region(struct search *x, struct finding *found, uint64_t *region,
                                    struct rp_problem *why)
{
    uint64_t same = 0, different = x->sum;
    enum rp_status status = RP_OK;

    while (status == RP_OK && different - same > 1) {
        uint64_t middle = same + (different - same) / 2;
        struct finding f = {0};
        status = try_part(x, middle, &f, why);
        if (status == RP_OK && f.differs) {
            free(found->what);
            *found = f;
            different = middle;
        } else {
            free(f.what);
            same = middle;
        }
    }
    *region = different - 1;
    return status;
}

static void say_region(const struct search *x, uint64_t region, const struct finding *f,
                       char *place)
{
    uint32_t rank;
    uint64_t number = place_in_row(x, region, &rank);

    rp_error("rank %u: region %llu of %u, begun in %s, does not commute: its messages in another "
             "order change the result (seed %s, %u replays)",
             rank, (unsigned long long)number + 1, x->regions[rank], place ? place : "?", x->seed,
             x->replays);
    if (f->left_record)
        rp_error("with it the replay leaves the record");
    else if (is_by_line(f))
        rp_error("%s", f->what);
    else
        rp_error("rank %u: %s", f->rank, f->what ? f->what : "?");
    if (f->is_floating)
        rp_note("it is data of floating-point numbers, whose sums depend on the order of their "
                "terms: if rounding is all that differs, and does not matter, the region is as "
                "good as commutative");
}

/* Finds the region that does not commute, and prints it. */
static enum rp_status name_region(struct search *x, struct finding *found, struct rp_problem *why)
{
    char reference[PATH_MAX], *place = NULL;
    uint64_t region;
    uint32_t rank, regions;

    if (x->sum == 0)
        return RP_OK;
    if (x->sum > 1)
        rp_note("the results differ from those of the recorded order: looking for the region among "
                "%llu, by further replays",
                (unsigned long long)x->sum);
    enum rp_status status = search_region(x, found, &region, why);
    path_of(x, "recorded", "", reference);
    uint64_t number = place_in_row(x, region, &rank);
    if (status == RP_OK)
        status = rp_outputs_regions(reference, rank, (uint32_t)number, &regions, &place, why);
    if (status == RP_OK)
        say_region(x, region, found, place);
    free(place);
    return status;
}

/* Replays the recorded order again, and compares once more without what differs between its two
 * replays. Leaves *found without a difference if it was noise. */
static enum rp_status confirm(struct search *x, struct finding *found, struct rp_problem *why)
{
    int exit_status;

    if (found->left_record)
        return RP_OK;
    enum rp_status status = replay(x, "again", "0", false, &exit_status, why);
    x->has_again = status == RP_OK;
    free(found->what);
    found->what = NULL;
    if (status == RP_OK)
        status = compare(x, "shuffled", 0, found, why);
    if (status == RP_OK && is_by_line(found)) {
        free(found->what);
        found->what = NULL;
        status = replay(x, "part", x->seed, false, &exit_status, why);
        if (status == RP_OK)
            status = compare(x, "part", exit_status, found, why);
    }
    return status;
}

static void say_same(const struct search *x, const struct finding *f)
{
    if (x->sum == 0) {
        rp_note(
            "no rank began a commutative region (reprise_commutative_begin): nothing was shuffled");
        return;
    }
    rp_note("%llu commutative regions: what their ranks handed to MPI since (%llu calls)%s is the "
            "same as in the recorded order",
            (unsigned long long)x->sum, (unsigned long long)f->compared,
            x->s->is_whole ? ", and what was printed," : "");
    if (f->noise > 0)
        rp_note("%llu calls were not compared: their data differs in two replays of the same "
                "order, too",
                (unsigned long long)f->noise);
    if (f->is_cut)
        rp_note("calls behind the first 16777216, or behind MPI_File_iread, MPI_File_iwrite and "
                "the like, were not compared");
}

/* Returns whether a replay ended with a status of reprise's own: there is nothing to compare. */
static bool has_failed(int exit_status)
{
    return exit_status >= REPRISE_EXIT_USAGE && exit_status <= REPRISE_EXIT_INTERNAL;
}

/* Prints for each rank the last region that it began. A record has the messages of a region in the
 * order of their sources, not in that of their arrival (engine/record_events.c). So a program whose
 * results depend on that order leaves the record before anything is shuffled. */
static enum rp_status say_last_regions(const struct search *x, struct rp_problem *why)
{
    char reference[PATH_MAX], *place;
    enum rp_status status = RP_OK;

    path_of(x, "recorded", "", reference);
    for (uint32_t rank = 0; status == RP_OK && rank < x->s->ranks; rank++) {
        uint32_t regions = x->regions[rank];
        if (regions == 0)
            continue;
        status = rp_outputs_regions(reference, rank, regions - 1, &regions, &place, why);
        if (status == RP_OK)
            rp_error("rank %u: the last region that it began before is its region %u, in %s: one "
                     "up to it does not commute, since its messages in the order of their sources "
                     "lead elsewhere than in the recorded run",
                     rank, regions, place ? place : "?");
        free(place);
    }
    return status;
}

/* Does all replays and comparisons, and prints the result. Sets *exit_status. */
static enum rp_status run_all(struct search *x, int *exit_status, struct rp_problem *why)
{
    struct finding found = {0};
    char err[PATH_MAX];
    enum rp_status status = replay(x, "recorded", "0", false, exit_status, why);

    if (status == RP_OK)
        status = count_regions(x, why);
    if (status == RP_OK && has_failed(*exit_status)) {
        path_of(x, "recorded", ".err", err);
        show_file(err, STDERR_FILENO);
        rp_error("the replay in the recorded order, which the shuffled one is to be compared with, "
                 "failed");
        return *exit_status == REPRISE_EXIT_DIVERGED ? say_last_regions(x, why) : RP_OK;
    }
    if (status == RP_OK)
        status = replay(x, "shuffled", x->seed, true, exit_status, why);
    if (status != RP_OK || (has_failed(*exit_status) && *exit_status != REPRISE_EXIT_DIVERGED))
        return status;
    status = compare(x, "shuffled", *exit_status, &found, why);
    if (status == RP_OK && found.differs)
        status = confirm(x, &found, why);
    if (status == RP_OK && found.differs) {
        *exit_status = REPRISE_EXIT_DIVERGED;
        status = name_region(x, &found, why);
    } else if (status == RP_OK)
        say_same(x, &found);
    free(found.what);
    return status;
}

int rp_shuffle_run_run(const struct rp_shuffled *shuffled)
{
    struct search x = {.s = shuffled, .input = lseek(STDIN_FILENO, 0, SEEK_CUR)};
    struct rp_problem why;
    int exit_status = 0;
    enum rp_status status = make_folder(&x, &why);

    snprintf(x.seed, sizeof x.seed, "%s", rp_setting("REPRISE_SHUFFLE"));
    if (status == RP_OK) {
        status = run_all(&x, &exit_status, &why);
        rp_remove_directory(x.folder);
    }
    free(x.regions);
    if (status == RP_OK)
        return exit_status;
    if (rp_launch_was_stopped())
        return exit_status ? exit_status : 128 + SIGINT;
    rp_error("cannot compare the shuffled replay: %s", why.text);
    return rp_exit_status(status);
}
