/* SPDX-License-Identifier: MIT */
#include "base/shared_counter.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"

enum { TIMES = 2000 };

TEST(a_number_of_its_own)
{
    struct rp_shared_counter own = RP_SHARED_COUNTER_OWN;

    CHECK_EQ(rp_shared_counter_add(&own, 5), 0);
    CHECK_EQ(rp_shared_counter_set(&own, 3), 5);
    CHECK_EQ(rp_shared_counter_raise(&own, 2), 3);
    CHECK_EQ(rp_shared_counter_raise(&own, 8), 3);
    CHECK_EQ(rp_shared_counter_get(&own), 8);
}

static void *add_many(void *counter)
{
    int64_t last = -1;

    for (int i = 0; i < TIMES; i++) {
        int64_t before = rp_shared_counter_add(counter, 1);
        if (before <= last)
            return NULL;
        last = before;
    }
    return counter;
}

TEST(threads_and_processes_share_it)
{
    char path[] = "/tmp/reprise-test-counter-XXXXXX";
    struct rp_shared_counter counter;
    pthread_t thread;
    void *result = NULL;
    int status = -1;

    REQUIRE(rp_shared_counter_create(&counter, path));
    pid_t child = fork();
    if (child == 0) {
        struct rp_shared_counter other;
        _exit(rp_shared_counter_open(&other, path) && add_many(&other) ? 0 : 1);
    }
    REQUIRE(pthread_create(&thread, NULL, add_many, &counter) == 0);
    CHECK(add_many(&counter) != NULL);
    pthread_join(thread, &result);
    CHECK(result != NULL);
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    CHECK_EQ(rp_shared_counter_get(&counter), 3 * TIMES);
    rp_shared_counter_close(&counter);
    unlink(path);
    CHECK_EQ(rp_shared_counter_get(&counter), 0);
}

TEST(a_file_that_cannot_be_used)
{
    char path[] = "/tmp/reprise-test-counter-XXXXXX", nowhere[] = "/dev/null/counter-XXXXXX";
    struct rp_shared_counter counter, other;

    CHECK(!rp_shared_counter_create(&counter, nowhere));
    CHECK(!rp_shared_counter_open(&counter, "/dev/null/counter"));
    REQUIRE(rp_shared_counter_create(&counter, path));
    REQUIRE(rp_shared_counter_open(&other, path));
    REQUIRE(truncate(path, 3) == 0);
    CHECK_EQ(rp_shared_counter_add(&other, 1), -1);
    rp_shared_counter_close(&counter);
    rp_shared_counter_close(&other);
    unlink(path);
}
