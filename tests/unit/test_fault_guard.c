/* SPDX-License-Identifier: MIT */
/* Memory that is gone is noticed, again and again; other faults, and signals that are sent, go to
 * whoever had them before. */
#include "window/fault_guard.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "unit.h"

enum { SIZE = 1 << 16 };

static volatile uint8_t *volatile nowhere;

struct look {
    volatile uint8_t *at;
    volatile int steps;
};

static void touch(void *data)
{
    struct look *look = data;

    look->steps++;
    look->at[100]++;
    look->steps++;
}

static uint8_t *map(void)
{
    uint8_t *memory = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    return memory == MAP_FAILED ? NULL : memory;
}

static int end_of(void (*act)(void))
{
    int status = 0;
    pid_t child = fork();

    if (child == 0) {
        act();
        _exit(0);
    }
    waitpid(child, &status, 0);
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

static void guard_often(void)
{
    for (int round = 0; round < 3; round++) {
        uint8_t *memory = map();
        struct look look = {.at = memory};
        bool is_there =
            memory && rp_guard(memory, SIZE, touch, &look) && look.steps == 2 && memory[100] == 1;
        munmap(memory, SIZE);
        bool is_gone = !rp_guard(memory, SIZE, touch, &look) && look.steps == 3;
        if (!is_there || !is_gone)
            _exit(1 + round);
    }
}

static void guard_once(void)
{
    uint8_t *memory = map();
    struct look look = {.at = memory};

    rp_guard(memory, SIZE, touch, &look);
    munmap(memory, SIZE);
    rp_guard(memory, SIZE, touch, &look);
}

static void fault_afterwards(void)
{
    guard_once();
    *nowhere = 1;
}

static void fault_elsewhere(void)
{
    uint8_t *memory = map();
    struct look look = {.at = nowhere};

    rp_guard(memory, SIZE, touch, &look);
}

static void be_sent_one(void)
{
    guard_once();
    raise(SIGSEGV);
}

static void say_so(int signal)
{
    _exit(signal == SIGSEGV ? 42 : 43);
}

static void have_a_handler(void)
{
    signal(SIGSEGV, say_so);
    fault_afterwards();
}

static void have_a_handler_and_be_sent_one(void)
{
    signal(SIGSEGV, say_so);
    be_sent_one();
}

/* In processes of their own, in which nothing was guarded before. */
TEST(memory_that_is_gone_is_noticed)
{
    CHECK_EQ(end_of(guard_often), 0);
    CHECK_EQ(end_of(guard_once), 0);
}

TEST(other_faults_are_not_ours)
{
    signal(SIGSEGV, SIG_DFL); /* a sanitizer has its own */
    CHECK_EQ(end_of(fault_afterwards), -SIGSEGV);
    CHECK_EQ(end_of(fault_elsewhere), -SIGSEGV);
    CHECK_EQ(end_of(be_sent_one), -SIGSEGV);
    CHECK_EQ(end_of(have_a_handler), 42);
    CHECK_EQ(end_of(have_a_handler_and_be_sent_one), 42);
}
