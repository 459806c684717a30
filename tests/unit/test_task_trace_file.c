/* SPDX-License-Identifier: MIT */
/* The order of messages that shuffled replays write and follow: a task that moved there and back is
 * put together from the files of two processes. */
#include "log/task_trace_file.h"

#include "base/file.h"
#include "unit.h"

static void put(const char *directory, int process, uint64_t before,
                const struct rp_taken_list *taken, size_t cut)
{
    struct rp_buffer out = {0};
    struct rp_problem why;
    char *path = rp_tasktrace_path(directory, process);

    rp_tasktrace_begin(&out, 10, 1);
    rp_tasktrace_put_collection(&out, "node", 0, 2, 2);
    rp_tasktrace_put_entry(&out, "go", false);
    rp_tasktrace_put_entry(&out, "halo", true);
    rp_tasktrace_put_task(&out, 1, before, taken);
    rp_tasktrace_end(&out);
    CHECK(rp_write_new_file(path, out.bytes, out.length - cut, &why) == RP_OK);
    rp_buffer_free(&out);
    free(path);
}

TEST(a_task_that_moved_there_and_back)
{
    struct rp_taken_list here = {0}, there = {0};
    struct rp_tasktrace trace;
    struct rp_problem why;
    static const int32_t entries[] = {0, 1, 1, 0};

    rp_taken_add(&here, 100, 0);
    rp_taken_add(&here, 0, RP_TAKEN_ELSEWHERE);
    rp_taken_add(&here, 0, RP_TAKEN_ELSEWHERE);
    rp_taken_add(&here, 103, 0);
    rp_taken_add(&there, 101, 1);
    rp_taken_add(&there, 102, 1);
    put(unit_directory, 0, 0, &here, 0);
    put(unit_directory, 1, 1, &there, 0);
    CHECK(rp_tasktrace_read(unit_directory, 2, &trace, &why) == RP_OK);
    CHECK(trace.result == 20 && trace.task_count == 2 && trace.collection_count == 1 &&
          trace.tasks[0].count == 0 && trace.tasks[1].count == 4);
    for (int i = 0; i < 4; i++)
        CHECK(trace.tasks[1].list[i].message == 100u + (unsigned)i &&
              trace.tasks[1].list[i].entry == entries[i]);
    CHECK(strcmp(trace.collections[0].names[1], "halo") == 0 && trace.collections[0].commutes[1] &&
          !trace.collections[0].commutes[0]);
    rp_tasktrace_free(&trace);
    free(here.list);
    free(there.list);
}

TEST(files_that_were_not_written_to_their_end)
{
    struct rp_taken_list taken = {0};
    struct rp_tasktrace trace;
    struct rp_problem why;

    char *directory = rp_path_join(unit_directory, "cut");
    CHECK(mkdir(directory, 0700) == 0);
    rp_taken_add(&taken, 7, 1);
    put(directory, 0, 0, &taken, 3);
    CHECK(rp_tasktrace_read(directory, 1, &trace, &why) == RP_DAMAGED);
    rp_tasktrace_free(&trace);
    CHECK(rp_tasktrace_read("/nowhere", 1, &trace, &why) != RP_OK);
    rp_tasktrace_free(&trace);
    free(taken.list);
    free(directory);
}
