/* SPDX-License-Identifier: MIT */
/*
 * The exchange of AMG2006 that rules out send-determinism, by tasks: every task asks some others
 * for values, without anybody knowing how many questions will come. Questions are answered as they
 * come, each a commutative region of its own; the answers to a task's own questions are one region,
 * whose size it knows; the barrier behind is a reduction. No order among any of these matters. Then
 * the values change, and so do the questions.
 */
#include <stdlib.h>
#include <string.h>

#include "taskapp.h"

enum { ASKS_MOST = 32 };

struct node {
    uint64_t round, asked, value, answered[ASKS_MOST];
};

struct question {
    uint64_t from, slot, item;
};

static struct app_option options[] = {
    {"size", "tasks", 24, 2, 100000},
    {"asks", "most questions of a task in a round", 7, 1, ASKS_MOST},
    {"rounds", "rounds of a run", 4, 1, 10000},
    {"runs", "runs, each followed by a checkpoint", 2, 1, 1000},
    {"careless", "1: the answer depends on the order of questions, which is wrong", 0, 0, 1},
    {0}};
enum { SIZE, ASKS, ROUNDS, RUNS, CARELESS };
static const struct app_spec spec = {"amgexchange", "a sparse exchange by questions and answers", 1,
                                     options};
static struct app app;
static int nodes, barrier, result;
enum { START, QUESTION, ANSWER, ALL };

static uint64_t asks_of(uint64_t self, uint64_t round)
{
    return 1 + app_mix(self * 1000003 + round + app.seed) % options[ASKS].value;
}

static uint64_t asked_of(uint64_t self, uint64_t round, uint64_t slot)
{
    return app_mix(app_mix(self * 1000003 + round + app.seed) + slot) % options[SIZE].value;
}

/* What a task answers depends on the round of the asker alone. */
static uint64_t answer_to(uint64_t self, uint64_t item)
{
    return app_mix(self * 7919 + item);
}

static void ask(struct node *node)
{
    uint64_t self = (uint64_t)reprise_self().x;

    node->asked = node->round + 1;
    for (uint64_t i = 0; i < asks_of(self, node->round); i++) {
        struct question question = {self, i, node->round};
        reprise_send(nodes, (struct reprise_index){(int)asked_of(self, node->round, i), 0, 0},
                     QUESTION, node->round, &question, sizeof question);
    }
}

static void start(void *state, const struct reprise_message *message)
{
    (void)message;
    ask(state);
}

static size_t one(const void *state)
{
    (void)state;
    return 1;
}

static void question(void *state, const struct reprise_message *message)
{
    static uint64_t count;
    struct question question;

    (void)state;
    memcpy(&question, message->data, sizeof question);
    uint64_t answer[2] = {question.slot, answer_to((uint64_t)reprise_self().x, question.item)};
    if (options[CARELESS].value)
        answer[1] += count++;
    reprise_send(nodes, (struct reprise_index){(int)question.from, 0, 0}, ANSWER, message->ref,
                 answer, sizeof answer);
}

static bool awaits_answers(const void *state, uint64_t ref)
{
    const struct node *node = state;

    return node->round == ref && node->asked == ref + 1;
}

static size_t own_asks(const void *state)
{
    return asks_of((uint64_t)reprise_self().x, ((const struct node *)state)->round);
}

static void answer(void *state, const struct reprise_message *message)
{
    const uint64_t *answer = message->data;

    ((struct node *)state)->answered[answer[0]] = answer[1];
}

static void use_answers(struct node *node, uint64_t self)
{
    for (uint64_t i = 0; i < asks_of(self, node->round); i++)
        app_hash_add(&node->value, node->answered[i]);
}

static void answers(void *state)
{
    struct node *node = state;

    use_answers(node, (uint64_t)reprise_self().x);
    node->asked = 0;
    node->round++;
    reprise_contribute(barrier, node->round - 1, (double[]){1});
}

static bool awaits_all(const void *state, uint64_t ref)
{
    const struct node *node = state;

    return node->round == ref + 1 && node->asked == 0;
}

static void all(void *state, const struct reprise_message *message)
{
    struct node *node = state;

    (void)message;
    if (node->round % options[ROUNDS].value != 0)
        ask(node);
    else if (node->round == options[ROUNDS].value * options[RUNS].value)
        taskapp_contribute(result, 0, &node->value, sizeof node->value, 1);
}

static const struct reprise_entry entries[] = {
    {"start", REPRISE_ORDERED, start, NULL, NULL, NULL},
    {"question", REPRISE_COMMUTATIVE, question, NULL, one, NULL},
    {"answer", REPRISE_COMMUTATIVE, answer, awaits_answers, own_asks, answers},
    {"all", REPRISE_ORDERED, all, awaits_all, NULL, NULL},
    {0},
};

static struct taskapp_sum serial(void)
{
    struct taskapp_sum sum = {{0, 0, 0}};

    for (uint64_t self = 0; self < options[SIZE].value; self++) {
        struct node node = {0};
        for (; node.round < options[ROUNDS].value * options[RUNS].value; node.round++) {
            for (uint64_t i = 0; i < asks_of(self, node.round); i++)
                node.answered[i] = answer_to(asked_of(self, node.round, i), node.round);
            use_answers(&node, self);
        }
        taskapp_add(&sum, &node.value, sizeof node.value, 1);
    }
    return sum;
}

int main(int argc, char **argv)
{
    app_start(&app, &spec, &argc, &argv);
    reprise_tasks_begin();
    nodes = reprise_collection(
        &(struct reprise_collection_spec){.name = "node",
                                          .size = {(int)options[SIZE].value, 0, 0},
                                          .state_bytes = sizeof(struct node),
                                          .entries = entries});
    barrier = reprise_reduction(nodes, 1, REPRISE_SUM, ALL);
    result = reprise_reduction(nodes, TASKAPP_WIDTH, REPRISE_SUM, -1);
    for (uint64_t run = 0; run < options[RUNS].value; run++) {
        reprise_start(nodes, START, run, NULL, 0);
        reprise_tasks_run();
    }
    return taskapp_result(&app, result, options[CARELESS].value ? NULL : serial, "tasks");
}
