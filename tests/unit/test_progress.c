/* SPDX-License-Identifier: MIT */
/* How far a recording is, seen from another process while it goes on, and after it ended or was
 * killed. */
#include "log/progress.h"

#include <signal.h>
#include <sys/wait.h>

#include "sample.h"

enum { EVENTS = 500 };

static struct rp_manifest manifest = {.run = SAMPLE_RUN,
                                      .ranks = SAMPLE_RANKS,
                                      .job = (char[]){""}};

/* A rank in a process of its own: writes some events, and the rest when it is told to. */
struct writer {
    pid_t pid;
    int go, ready;
};

static void write_record(const char *directory, size_t first, int go, int ready)
{
    struct rp_log_writer *writer;
    struct rp_ring *ring;
    struct rp_problem why;
    struct rp_event *events = sample_stream(3, EVENTS);
    char byte = 0;

    if (!sample_create(directory, &writer, &ring))
        _exit(1);
    sample_push(ring, events, first);
    if (write(ready, &byte, 1) != 1 || read(go, &byte, 1) != 1)
        _exit(1);
    sample_push(ring, events + first, EVENTS - first);
    _exit(rp_log_close(writer, RP_END_ABORT, 7, &why) == RP_OK ? 0 : 1);
}

static struct writer begin(const char *directory, size_t first)
{
    int go[2], ready[2];
    char byte;

    if (pipe(go) != 0 || pipe(ready) != 0)
        abort();
    struct writer writer = {fork(), go[1], ready[0]};
    if (writer.pid == 0)
        write_record(directory, first, go[0], ready[1]);
    CHECK(read(ready[0], &byte, 1) == 1);
    return writer;
}

static struct rp_rank_progress look(const char *directory, struct rp_progress *p)
{
    struct rp_problem why;
    struct rp_rank_progress rank = {0};

    CHECK_OK(rp_progress_read(directory, &manifest, p, &why), why);
    if (p->rank)
        rank = p->rank[SAMPLE_RANK];
    rp_progress_free(p);
    return rank;
}

TEST(it_is_seen_while_it_is_written_and_after)
{
    const char *directory = unit_temporary();
    struct writer writer = begin(directory, 200);
    struct rp_progress p;
    struct rp_rank_progress rank;
    struct rp_problem why;
    int status;

    REQUIRE(rp_progress_read(directory, &manifest, &p, &why) == RP_OK);
    CHECK(p.rank[0].state == RP_PROGRESS_ABSENT &&
          p.rank[SAMPLE_RANK].state == RP_PROGRESS_WRITTEN);
    CHECK(p.written == 1 && p.behind == 0);
    CHECK_EQ(p.events, p.rank[SAMPLE_RANK].events);
    CHECK(p.rank[SAMPLE_RANK].events > 150 &&
          p.rank[SAMPLE_RANK].events <= 200); /* published are whole calls */
    CHECK_EQ(p.rank[SAMPLE_RANK].pid, writer.pid);
    rp_progress_free(&p);
    CHECK(write(writer.go, "", 1) == 1);
    CHECK(waitpid(writer.pid, &status, 0) == writer.pid && status == 0);
    rank = look(directory, &p);
    CHECK(rank.state == RP_PROGRESS_ENDED && rank.reason == RP_END_ABORT && rank.code == 7);
    CHECK_EQ(rank.events, EVENTS);
    CHECK(rank.bytes > 0);
}

TEST(a_killed_rank_has_what_the_ring_holds)
{
    const char *directory = unit_temporary();
    struct writer writer = begin(directory, EVENTS);
    struct rp_progress p;
    int status;

    kill(writer.pid, SIGKILL);
    waitpid(writer.pid, &status, 0);
    struct rp_rank_progress rank = look(directory, &p);
    CHECK(rank.state == RP_PROGRESS_ENDED && rank.reason == RP_END_KILLED);
    CHECK_EQ(rank.events, EVENTS);
}

TEST(damage_is_told)
{
    const char *directory = unit_temporary();
    struct rp_progress p;
    struct rp_problem why;
    FILE *file = fopen(unit_path(directory, "rank-00001.log"), "w");

    REQUIRE(file);
    fputs("this is not a log, though it is as long as the header of one would be, and longer",
          file);
    fclose(file);
    CHECK(rp_progress_read(directory, &manifest, &p, &why) == RP_DAMAGED);
    CHECK_HAS(why.text, "rank 1");
    CHECK(p.rank == NULL);
}

TEST(the_ring_of_another_run_is_refused)
{
    const char *path = unit_path(unit_temporary(), "ring");
    struct rp_ring ring = {0};
    struct rp_ring_place place;
    struct rp_problem why;

    REQUIRE(rp_ring_create(&ring, path, 5, 0, 0, 0, &why) == RP_OK);
    CHECK_OK(rp_ring_peek(path, 5, 0, 0, &place, &why), why);
    CHECK(place.events == 0 && place.polls == 0);
    ring.shared->open_at = ring.shared->head;
    ring.shared->open_run[2] = (struct rp_event){.kind = RP_NO, .any.c = 41};
    ring.shared->open_run[3] = (struct rp_event){.kind = RP_NO, .any.c = 1};
    CHECK_OK(rp_ring_peek(path, 5, 0, 0, &place, &why), why);
    CHECK_EQ(place.polls, 42);
    CHECK(rp_ring_peek(path, 6, 0, 0, &place, &why) == RP_DAMAGED);
    CHECK(rp_ring_peek(path, 5, 1, 0, &place, &why) == RP_DAMAGED);
    rp_ring_close(&ring, true);
    CHECK(rp_ring_peek(path, 5, 0, 0, &place, &why) == RP_SYSTEM);
}
