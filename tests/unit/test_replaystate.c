/* SPDX-License-Identifier: MIT */
#include "log/replaystate.h"

#include <pthread.h>

#include "unit.h"

TEST(ranks_share_a_state)
{
    const char *path = unit_path(unit_temporary(), "state");
    struct rp_replay_state *one, *other;
    struct rp_buffer out = {0};
    struct rp_problem why;
    uint64_t done, total;

    CHECK_OK(rp_state_create(path, 3, &why), why);
    CHECK(rp_state_create(path, 3, &why) != RP_OK);
    REQUIRE(rp_state_map(path, 3, &one, &why) == RP_OK &&
            rp_state_map(path, 3, &other, &why) == RP_OK);
    one->rank[0].state = RP_RANK_FINISHED;
    one->rank[1].state = RP_RANK_WAITING;
    one->rank[2].state = RP_RANK_RUNNING;
    one->rank[1].done = 4;
    one->rank[1].total = 9;
    one->rank[2].done = 4;
    one->rank[2].total = 5;
    rp_state_set_text(&one->rank[1].what, "MPI_Recv from 2");
    rp_state_sum(other, &done, &total);
    CHECK(done == 8 && total == 14);
    CHECK(!rp_state_is_over(other));
    one->rank[2].done = 5;
    CHECK(!rp_state_is_over(other) &&
          !rp_state_is_stuck(other, RP_CERTAIN_MESSAGE)); /* the message may be under way */
    one->rank[1].certain = RP_CERTAIN_MESSAGE;
    CHECK(!rp_state_is_over(other)); /* rank 2 may send it */
    one->rank[2].state = RP_RANK_PARKED;
    CHECK(rp_state_is_stuck(other, RP_CERTAIN_MESSAGE) && rp_state_is_over(other));
    one->rank[2].state = RP_RANK_RUNNING;
    one->rank[1].done = 9;
    CHECK(rp_state_is_over(other) &&
          !rp_state_is_stuck(other, RP_CERTAIN_MESSAGE)); /* all is replayed */
    one->rank[2].state = RP_RANK_FREE;
    CHECK(!rp_state_is_over(other));
    one->rank[2].state = RP_RANK_RUNNING;
    one->rank[2].in_call = 1; /* it waits, but not for a message that only another can send */
    CHECK(rp_state_now(&other->rank[2]) == RP_RANK_WAITING);
    CHECK(rp_state_is_stuck(other, RP_CERTAIN_CALL) &&
          !rp_state_is_stuck(other, RP_CERTAIN_RECEIVE));
    one->rank[2].in_call = 0;
    CHECK(!rp_state_is_stuck(other, RP_CERTAIN_CALL));
    one->rank[2].state = RP_RANK_RUNNING;
    one->rank[1].done = 4;
    rp_state_print(other, &out);
    rp_buffer_byte(&out, 0);
    CHECK_HAS((char *)out.bytes, "rank 1 waits, event 4 of 9");
    CHECK_HAS((char *)out.bytes, "MPI_Recv from 2");
    CHECK_HAS((char *)out.bytes, "rank 2 runs, event 5 of 5");
    CHECK(!strstr((char *)out.bytes, "rank 0"));
    rp_buffer_free(&out);
    rp_state_unmap(one);
    rp_state_unmap(other);
}

TEST(who_waits_is_told_of_a_file_alone)
{
    const char *directory = unit_temporary(), *path = unit_path(directory, "state");
    struct rp_replay_state *one, *other;
    struct rp_buffer out = {0};
    struct rp_problem why;

    CHECK(rp_state_open(path, &other, &why) != RP_OK);
    CHECK_OK(rp_state_create(path, 2, &why), why);
    REQUIRE(rp_state_map(path, 2, &one, &why) == RP_OK &&
            rp_state_open(path, &other, &why) == RP_OK);
    CHECK_EQ(other->ranks, 2);
    one->rank[0].state = RP_RANK_RUNNING;
    one->rank[1].state = RP_RANK_WAITING;
    rp_state_set_text(&one->rank[1].what, "MPI_Recv from 0");
    rp_state_print_waits(other, &out);
    rp_buffer_byte(&out, 0);
    CHECK_HAS((char *)out.bytes, "rank 1 waits since ");
    CHECK_HAS((char *)out.bytes, " s: MPI_Recv from 0\n");
    CHECK(!strstr((char *)out.bytes, "rank 0"));
    rp_buffer_free(&out);
    rp_state_unmap(one);
    rp_state_unmap(other);
    REQUIRE(truncate(path, 10) == 0);
    CHECK(rp_state_open(path, &other, &why) == RP_USAGE);
}

static void *alternate(void *data)
{
    struct rp_rank_slot *slot = data;

    for (int i = 0; slot->state == RP_RANK_WAITING; i++)
        rp_state_set_text(
            &slot->what, i % 2
                             ? "MPI_Testsome, which says no"
                             : "MPI_Recv for a message from rank 10 with tag 20 on MPI_COMM_WORLD");
    return NULL;
}

TEST(no_part_of_a_wait_is_told)
{
    static struct rp_rank_slot slot = {.state = RP_RANK_WAITING};
    char what[RP_STATE_WHAT];
    pthread_t writer;
    int seen = 0;

    rp_state_set_text(&slot.what, "MPI_Testsome, which says no");
    REQUIRE(pthread_create(&writer, NULL, alternate, &slot) == 0);
    for (int i = 0; i < 20000 || (seen != 3 && i < 100000000); i++) {
        bool is_short = strcmp(rp_state_what(&slot, what), "MPI_Testsome, which says no") == 0;
        CHECK(is_short ||
              strcmp(what, "MPI_Recv for a message from rank 10 with tag 20 on MPI_COMM_WORLD") ==
                  0);
        seen |= is_short ? 1 : 2;
    }
    CHECK_EQ(seen, 3);
    slot.state = RP_RANK_FINISHED;
    pthread_join(writer, NULL);
}

TEST(another_file_is_refused)
{
    const char *directory = unit_temporary(), *path = unit_path(directory, "state"),
               *text = unit_path(directory, "text");
    struct rp_replay_state *state = NULL;
    struct rp_problem why;

    CHECK_OK(rp_state_create(path, 3, &why), why);
    CHECK(rp_state_map(path, 4, &state, &why) != RP_OK);
    CHECK(rp_state_map(unit_path(directory, "none"), 3, &state, &why) != RP_OK);
    FILE *file = fopen(text, "w");
    REQUIRE(file);
    for (int i = 0; i < 10000; i++)
        fputc('x', file);
    fclose(file);
    CHECK(rp_state_map(text, 3, &state, &why) != RP_OK);
    CHECK_HAS(why.text, text);
}
