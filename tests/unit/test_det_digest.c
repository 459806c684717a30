/* SPDX-License-Identifier: MIT */
#include "log/det_digest.h"

#include <unistd.h>

#include "unit.h"

static const char *const file = "decisions.txt";

static void put(const char *text)
{
    FILE *out = fopen(file, "w");

    fputs(text, out);
    fclose(out);
}

TEST(what_is_added_is_read_job_by_job)
{
    const struct rp_det_digest first[] = {{1, 2, 3}, {4, 5, UINT64_C(0xfedcba9876543210)}},
                               second[] = {{7, 8, 9}};
    struct rp_det_digest *each;
    struct rp_problem why;
    uint32_t *ranks;
    size_t count;

    put("");
    CHECK_OK(rp_det_digest_open(file, &why), why);
    CHECK_OK(rp_det_digest_add(file, first, 2, &why), why);
    CHECK_OK(rp_det_digest_open(file, &why), why);
    CHECK_OK(rp_det_digest_add(file, second, 1, &why), why);
    CHECK_OK(rp_det_digest_read(file, &each, &ranks, &count, &why), why);
    CHECK_EQ(count, 3);
    CHECK(memcmp(each, first, sizeof first) == 0 && memcmp(each + 2, second, sizeof second) == 0);
    CHECK(ranks[0] == 0 && ranks[1] == 1 && ranks[2] == 0);
    free(each);
    free(ranks);
    unlink(file);
    CHECK_EQ(rp_det_digest_open(file, &why), RP_SYSTEM); /* it must be there */
}

TEST(the_end_of_a_job_is_told)
{
    const struct rp_det_digest first[] = {{1, 2, 3}};
    struct rp_problem why;

    put("");
    CHECK_EQ(rp_det_digest_ended(file), 0);
    CHECK_OK(rp_det_digest_open(file, &why), why);
    CHECK_OK(rp_det_digest_add(file, first, 1, &why), why);
    CHECK_EQ(rp_det_digest_ended(file), 0);
    CHECK_OK(rp_det_digest_end(file, 119, &why), why);
    CHECK_EQ(rp_det_digest_ended(file), 119);
    unlink(file);
    CHECK_EQ(rp_det_digest_ended(file), 0);
}

TEST(damage_is_told)
{
    static const struct {
        const char *text;
        enum rp_status status;
    } cases[] = {
        {"reprise decisions 1\n", RP_OK},
        {"reprise decisions 1\nreprise decisions 1\n0 1 2 0000000000000003\n", RP_OK},
        {"reprise decisions 1\nended 119\n", RP_OK},
        {"reprise decisions 1\n0 1 2 0000000000000003\nended 118\n", RP_OK},
        {"", RP_DAMAGED},
        {"reprise decisions 1\nended 119", RP_DAMAGED},
        {"reprise decisions 1\nended\n", RP_DAMAGED},
        {"reprise decisions 2\n", RP_DAMAGED},
        {"reprise decisions 1\n1 1 2 0000000000000003\n", RP_DAMAGED},
        {"reprise decisions 1\n0 1 2 0000000000000003\n2 1 2 0000000000000003\n", RP_DAMAGED},
        {"reprise decisions 1\n0 1 2\n", RP_DAMAGED},
        {"reprise decisions 1\n0 1 2 0000000000000003", RP_DAMAGED},
        {"reprise decisions 1\n0 1 2 0000000000000003 4\n", RP_DAMAGED},
        {"reprise decisions 1\n0 1 2 3\n", RP_DAMAGED},
        {"reprise decisions 1\n0 -1 2 0000000000000003\n", RP_DAMAGED},
        {"reprise decisions 1\n0\n1 2 0000000000000003\n", RP_DAMAGED},
    };
    struct rp_problem why;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct rp_det_digest *each;
        uint32_t *ranks;
        size_t count;
        put(cases[i].text);
        enum rp_status status = rp_det_digest_read(file, &each, &ranks, &count, &why);
        CHECK_EQ(status, cases[i].status);
        if (status == RP_OK) {
            free(each);
            free(ranks);
        }
    }
    unlink(file);
}
