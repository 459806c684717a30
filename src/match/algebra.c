/* SPDX-License-Identifier: MIT */
/*
 * Sets are joined by the formulas of section IV of Lifflander et al., Scalable Replay with
 * Partial-Order Dependencies. `;` is the sequencing operator (boxplus there), x the interleaving
 * operator (boxtimes), which an expression writes interleave(a, b):
 *   U(n,d)                = O(n, d + n-1)
 *   D(n)                  = O(n, 0)           D(n,k) = O(k, k-1)          C = O(2,1)
 *   O(m,d) ; O(n,e)       = O(m+n, d+e+1)
 *   O(m1,d1) x ... x O(mk,dk) = O(m, d + m - max mi)
 * The last says: one of the largest sets is the base, and each event of the others has a dependency
 * on the one before it. Joined again, the result is as long as its base (corollary IV.2); so nested
 * interleavings of two are the same as one of several.
 *
 * That paper counts the dependency inside a commutative region, and says of regions in
 * deterministic programs that they need no determinants. Both are kept: a dependency that follows
 * from the program (the order of D, the end of a region whose size is known, a link by ->) counts
 * as one, and as given.
 *
 * An empty set is neutral in all of this.
 */
#include "match/algebra.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct rp_algebra nothing;

uint64_t rp_algebra_determinants(const struct rp_algebra *set)
{
    return set->dependencies - set->given;
}

enum rp_status rp_algebra_ordered(uint64_t n, uint64_t d, struct rp_algebra *set,
                                  struct rp_problem *why)
{
    if (n == 0 && d > 0)
        return rp_fail(why, RP_USAGE, "a set without events has no dependencies, not %llu",
                       (unsigned long long)d);
    *set = (struct rp_algebra){.messages = n, .events = n, .dependencies = d, .logical = n};
    return RP_OK;
}

enum rp_status rp_algebra_unordered(uint64_t n, uint64_t d, struct rp_algebra *set,
                                    struct rp_problem *why)
{
    uint64_t all;

    if (n > 0 && __builtin_add_overflow(d, n - 1, &all))
        return rp_fail(why, RP_USAGE, "numbers are too large");
    return rp_algebra_ordered(n, n > 0 ? all : d, set, why);
}

enum rp_status rp_algebra_deterministic(uint64_t n, uint64_t k, struct rp_algebra *set,
                                        struct rp_problem *why)
{
    if (k > n)
        return rp_fail(why, RP_USAGE, "%llu events cannot be %llu chains", (unsigned long long)n,
                       (unsigned long long)k);
    *set = k == 0 ? (struct rp_algebra){.messages = n, .events = n, .logical = n}
                  : (struct rp_algebra){.messages = n,
                                        .events = k,
                                        .dependencies = k - 1,
                                        .given = k - 1,
                                        .logical = k};
    return RP_OK;
}

void rp_algebra_commutative(uint64_t n, struct rp_algebra *set)
{
    *set = n == 0 ? nothing
                  : (struct rp_algebra){
                        .messages = n, .events = 2, .dependencies = 1, .given = 1, .logical = 2};
}

/* Adds all fields but the last. */
static bool add(struct rp_algebra *sum, const struct rp_algebra *more)
{
    return !__builtin_add_overflow(sum->messages, more->messages, &sum->messages) &&
           !__builtin_add_overflow(sum->events, more->events, &sum->events) &&
           !__builtin_add_overflow(sum->dependencies, more->dependencies, &sum->dependencies) &&
           !__builtin_add_overflow(sum->given, more->given, &sum->given);
}

enum rp_status rp_algebra_sequence(const struct rp_algebra *a, const struct rp_algebra *b,
                                   bool linked, struct rp_algebra *set, struct rp_problem *why)
{
    struct rp_algebra sum = *a, link = {.dependencies = 1, .given = linked};

    if (a->events == 0 || b->events == 0) {
        *set = a->events == 0 ? *b : *a;
        return RP_OK;
    }
    if (!add(&sum, b) || !add(&sum, &link) ||
        __builtin_add_overflow(a->logical, b->logical, &sum.logical))
        return rp_fail(why, RP_USAGE, "numbers are too large");
    *set = sum;
    return RP_OK;
}

enum rp_status rp_algebra_repeat(const struct rp_algebra *a, uint64_t times, bool linked,
                                 struct rp_algebra *set, struct rp_problem *why)
{
    struct rp_algebra all = nothing, power = *a; /* power: 1, 2, 4, 8 ... times the set */
    enum rp_status status = RP_OK;

    for (; times > 0 && status == RP_OK; times >>= 1) {
        if (times & 1)
            status = rp_algebra_sequence(&all, &power, linked, &all, why);
        if (times > 1 && status == RP_OK)
            status = rp_algebra_sequence(&power, &power, linked, &power, why);
    }
    if (status == RP_OK)
        *set = all;
    return status;
}

enum rp_status rp_algebra_interleave(const struct rp_algebra *sets, size_t count,
                                     struct rp_algebra *set, struct rp_problem *why)
{
    struct rp_algebra sum = nothing;
    uint64_t all = 0, largest = 0;

    for (size_t i = 0; i < count; i++) {
        if (!add(&sum, &sets[i]) || __builtin_add_overflow(all, sets[i].logical, &all))
            return rp_fail(why, RP_USAGE, "numbers are too large");
        largest = sets[i].logical > largest ? sets[i].logical : largest;
    }
    if (__builtin_add_overflow(sum.dependencies, all - largest, &sum.dependencies))
        return rp_fail(why, RP_USAGE, "numbers are too large");
    sum.logical = largest;
    *set = sum;
    return RP_OK;
}

enum rp_status rp_algebra_independent(const struct rp_algebra *sets, size_t count,
                                      struct rp_algebra *set, struct rp_problem *why)
{
    struct rp_algebra sum = nothing;

    for (size_t i = 0; i < count; i++)
        if (!add(&sum, &sets[i]) ||
            __builtin_add_overflow(sum.logical, sets[i].logical, &sum.logical))
            return rp_fail(why, RP_USAGE, "numbers are too large");
    *set = sum;
    return RP_OK;
}

/* Expressions: recursive descent. */

enum { DEEPEST = 200, MOST_SETS = 1024 };

struct parser {
    const char *start, *at;
    struct rp_buffer *steps;
    struct rp_problem *why;
    int depth;
};

static enum rp_status wrong(struct parser *parser, const char *what)
{
    return rp_fail(parser->why, RP_USAGE, "%s is expected at character %zu of the expression", what,
                   (size_t)(parser->at - parser->start) + 1);
}

static void skip(struct parser *parser)
{
    while (isspace((unsigned char)*parser->at))
        parser->at++;
}

static bool taken(struct parser *parser, const char *word)
{
    skip(parser);
    if (strncmp(parser->at, word, strlen(word)) != 0)
        return false;
    parser->at += strlen(word);
    return true;
}

static enum rp_status number(struct parser *parser, uint64_t *value)
{
    char *end;

    skip(parser);
    if (!isdigit((unsigned char)*parser->at))
        return wrong(parser, "a number");
    errno = 0;
    *value = strtoull(parser->at, &end, 10);
    if (errno)
        return wrong(parser, "a number below 2^64");
    parser->at = end;
    return RP_OK;
}

static void step(struct parser *parser, const char *from, const struct rp_algebra *set,
                 const char *rule)
{
    int length = (int)(parser->at - from);

    while (length > 0 && isspace((unsigned char)from[length - 1]))
        length--;
    if (!parser->steps)
        return;
    rp_buffer_printf(parser->steps, "%.*s = O(%llu,%llu)", length, from,
                     (unsigned long long)set->events, (unsigned long long)set->dependencies);
    if (set->given > 0)
        rp_buffer_printf(parser->steps, ", %llu given", (unsigned long long)set->given);
    if (set->logical != set->events)
        rp_buffer_printf(parser->steps, ", as long as %llu", (unsigned long long)set->logical);
    rp_buffer_printf(parser->steps, "\t%s\n", rule);
}

static enum rp_status expression(struct parser *parser, struct rp_algebra *set);

/* (n) or (n,m); how many were there is in `count`. */
static enum rp_status numbers(struct parser *parser, int least, int most, uint64_t *values,
                              int *count)
{
    enum rp_status status = taken(parser, "(") ? RP_OK : wrong(parser, "(");

    for (*count = 0; status == RP_OK && *count < most; (*count)++) {
        if (*count > 0 && !taken(parser, ","))
            break;
        status = number(parser, &values[*count]);
    }
    if (status == RP_OK && *count < least)
        status = wrong(parser, "a second number");
    if (status == RP_OK && !taken(parser, ")"))
        status = wrong(parser, ")");
    return status;
}

static enum rp_status atom(struct parser *parser, const char *from, struct rp_algebra *set)
{
    uint64_t values[2] = {0, 0};
    int count;
    char kind = *parser->at++;
    enum rp_status status = kind == 'C' || kind == 'D'
                                ? numbers(parser, 1, 1 + (kind == 'D'), values, &count)
                                : numbers(parser, 2, 2, values, &count);

    if (status != RP_OK)
        return status;
    if (kind == 'O')
        return rp_algebra_ordered(values[0], values[1], set, parser->why);
    if (kind == 'C')
        rp_algebra_commutative(values[0], set);
    else if (kind == 'D' && count == 2 && values[1] == 0)
        return rp_fail(parser->why, RP_USAGE, "D(n,k) has at least one chain");
    else
        status = kind == 'U' ? rp_algebra_unordered(values[0], values[1], set, parser->why)
                             : rp_algebra_deterministic(values[0], values[1], set, parser->why);
    if (status == RP_OK)
        step(parser, from, set,
             kind == 'U'   ? "unordered: n-1 more (IV.A)"
             : kind == 'D' ? "deterministic (IV.C)"
                           : "a commutative region is its begin and end (IV.D)");
    return status;
}

/* (a, b, ...) joined by `join`. */
static enum rp_status several(struct parser *parser,
                              enum rp_status (*join)(const struct rp_algebra *, size_t,
                                                     struct rp_algebra *, struct rp_problem *),
                              struct rp_algebra *set)
{
    struct rp_algebra *sets = malloc(MOST_SETS * sizeof *sets);
    enum rp_status status = sets ? RP_OK : rp_fail(parser->why, RP_MEMORY, "no memory");
    size_t count = 0;

    if (status == RP_OK && !taken(parser, "("))
        status = wrong(parser, "(");
    while (status == RP_OK) {
        status = count < MOST_SETS ? expression(parser, &sets[count++])
                                   : wrong(parser, "at most 1024 sets, and so )");
        if (status == RP_OK && !taken(parser, ","))
            break;
    }
    if (status == RP_OK && !taken(parser, ")"))
        status = wrong(parser, ", or )");
    if (status == RP_OK)
        status = join(sets, count, set, parser->why);
    free(sets);
    return status;
}

static enum rp_status repeated(struct parser *parser, bool linked, struct rp_algebra *set)
{
    uint64_t times = 0;
    enum rp_status status = taken(parser, "(") ? number(parser, &times) : wrong(parser, "(");

    if (status == RP_OK && !taken(parser, ","))
        status = wrong(parser, ",");
    if (status == RP_OK)
        status = expression(parser, set);
    if (status == RP_OK && !taken(parser, ")"))
        status = wrong(parser, ")");
    return status == RP_OK ? rp_algebra_repeat(set, times, linked, set, parser->why) : status;
}

static enum rp_status grouped(struct parser *parser, struct rp_algebra *set)
{
    enum rp_status status = expression(parser, set);

    return status == RP_OK && !taken(parser, ")") ? wrong(parser, ")") : status;
}

static enum rp_status term(struct parser *parser, struct rp_algebra *set)
{
    enum rp_status status;
    const char *rule;

    skip(parser);
    const char *from = parser->at;
    if (*from && strchr("OUDC", *from))
        return atom(parser, from, set);
    if (taken(parser, "("))
        return grouped(parser, set);
    if (taken(parser, "interleave")) {
        status = several(parser, rp_algebra_interleave, set);
        rule = "all but a longest: one each (IV.3)";
    } else if (taken(parser, "independent")) {
        status = several(parser, rp_algebra_independent, set);
        rule = "nobody sees their relative order";
    } else if (taken(parser, "repeat")) {
        status = repeated(parser, false, set);
        rule = "one more between two (IV.A)";
    } else if (taken(parser, "loop")) {
        status = repeated(parser, true, set);
        rule = "one more between two, by the program itself";
    } else
        return wrong(parser, "O, U, D, C, interleave, independent, repeat, loop or (");
    if (status == RP_OK)
        step(parser, from, set, rule);
    return status;
}

static enum rp_status chain(struct parser *parser, struct rp_algebra *set)
{
    skip(parser);
    const char *from = parser->at;
    enum rp_status status = term(parser, set);

    while (status == RP_OK) {
        struct rp_algebra next;
        bool linked = taken(parser, "->");
        if (!linked && !taken(parser, ";"))
            return RP_OK;
        status = term(parser, &next);
        if (status == RP_OK)
            status = rp_algebra_sequence(set, &next, linked, set, parser->why);
        if (status == RP_OK)
            step(parser, from, set,
                 linked ? "one more between the two, by the program itself"
                        : "one more between the two (IV.A)");
    }
    return status;
}

static enum rp_status expression(struct parser *parser, struct rp_algebra *set)
{
    if (parser->depth == DEEPEST)
        return rp_fail(parser->why, RP_USAGE, "the expression is nested more than %d deep",
                       DEEPEST);
    parser->depth++;
    enum rp_status status = chain(parser, set);
    parser->depth--;
    return status;
}

enum rp_status rp_algebra_evaluate(const char *text, struct rp_buffer *steps,
                                   struct rp_algebra *set, struct rp_problem *why)
{
    struct parser parser = {.start = text, .at = text, .steps = steps, .why = why};
    struct rp_algebra found;
    enum rp_status status = expression(&parser, &found);

    if (status == RP_OK && *parser.at)
        status = wrong(&parser, "; or -> or the end");
    if (status == RP_OK && steps && steps->failed)
        status = rp_fail(why, RP_MEMORY, "no memory");
    if (status == RP_OK)
        *set = found;
    return status;
}
