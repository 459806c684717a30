/* SPDX-License-Identifier: MIT */
/*
 * Determinants: the outcomes that MPI leaves open, which a rank that runs again must repeat. Three
 * sequences, each since the last checkpoint:
 * - matches: which message the n-th receive from anyone took;
 * - outcomes: what calls of completion and probes answered. Answers of no between two others are
 * counted;
 * - turns: who sent the n-th message, the program itself or which of the collectives in the
 * background. Each of these sends when what it waits for has arrived; but messages of a channel are
 * known by their number, so that a rank that runs again must send them in the same order. Runs of
 * messages by the same sender are one entry. Whose turn it is in the second life has been ready to
 * send then in the first, and so will be.
 *
 * They are written into a file that is mapped into memory, so that they outlive the process
 * whatever kills it, at the cost of a few stores. The process that takes over the rank reads them
 * there. A crash of the whole host needs a directory that other hosts see (REPRISE_DIR).
 *
 * Two parts of the file take turns, one for each generation of checkpoints, since a rank may go
 * back to either of the last two; a third is the setup's.
 */
#include "ft/ft_determinants.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"
#include "ft/ft_abort.h"
#include "ft/ft_coroutines.h"
#include "ft/ft_request.h"
#include "ft/ft_state.h"
#include "job/settings.h"

enum { MATCHES = 1 << 16, OUTCOMES = 1 << 18, TURNS = 1 << 18, PARTS = 3 };

/* What has another tag than its part is left from before. */
struct match {
    uint64_t seq;
    int32_t rank;
    uint32_t tag;
};

struct outcome {
    uint32_t tag;
    uint32_t noes; /* before it */
    uint64_t known;
    int64_t answer;
};

/* From this message on it is the sender's turn, until the next. Before the first it is the
 * program's. */
struct turn {
    uint64_t message;
    uint32_t sender;
    uint32_t tag;
};

struct part {
    int64_t generation_plus_2; /* whose checkpoint it follows */
    uint64_t tag;
    uint64_t sent; /* messages whose senders are known, if the next is the tag */
    uint64_t sent_tag;
    struct turn turn[TURNS];
    struct match match[MATCHES];
    struct outcome outcome[OUTCOMES];
};

/* The file, and how far this process is in its present part. */
static struct {
    struct part *parts, *current;
    uint64_t matches, outcomes;
    uint32_t noes;        /* since the last other outcome */
    uint64_t sent, turns; /* messages, and the turns that began with one of them */
    uint32_t sender;      /* whose turn was last */
} life;

static struct part *map_file(void)
{
    char path[4096];
    int fd;
    void *memory;

    snprintf(path, sizeof path, "%s/rank-%05d.determinants", rp_setting("REPRISE_FT_DIR"),
             rp_ft.rank);
    fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, RP_PRIVATE_FILE);
    if (fd < 0 || ftruncate(fd, PARTS * sizeof(struct part)) != 0)
        rp_ft_die(125, "%s: %s", path, strerror(errno));
    memory = mmap(NULL, PARTS * sizeof(struct part), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED)
        rp_ft_die(125, "%s: cannot be mapped: %s", path, strerror(errno));
    close(fd);
    return memory;
}

static uint64_t fresh_tag(const struct part all[PARTS])
{
    uint64_t most = 0;

    for (int i = 0; i < PARTS; i++)
        most = all[i].tag > most ? all[i].tag : most;
    return most + 1;
}

static bool is_written(const struct turn *slot)
{
    return slot->tag == (uint32_t)life.current->tag;
}

/* A process may have been killed before it took the turn that it had written last. */
static void turns_from_here(void)
{
    if (life.current->sent_tag != life.current->tag) {
        life.current->sent = 0;
        life.current->sent_tag = life.current->tag;
    }
    for (uint64_t i = 0; i < TURNS && is_written(&life.current->turn[i]); i++)
        if (life.current->turn[i].message >= life.current->sent)
            life.current->turn[i].tag = 0;
    life.sent = life.turns = 0;
    life.sender = 0;
    rp_ft_coroutines_count_anew();
}

/* From here on, after the checkpoint of this generation; -1: the beginning of the program. What is
 * there already is to be repeated. */
void rp_ft_determinants_from(int64_t generation)
{
    if (!life.parts)
        life.parts = map_file();
    life.current = &life.parts[generation < 0 ? PARTS - 1 : generation % (PARTS - 1)];
    if (life.current->generation_plus_2 != generation + 2) { /* 0: never written */
        life.current->tag = fresh_tag(life.parts);
        life.current->generation_plus_2 = generation + 2;
    }
    life.matches = life.outcomes = 0;
    life.noes = 0;
    turns_from_here();
}

/* After a rollback of all, other matches are as good, and others' messages may be other ones. A
 * spare may yet get another rank: the file is not kept open. */
void rp_ft_determinants_forget(int64_t generation)
{
    struct part *all = map_file();

    for (int i = 0; i < PARTS - 1; i++)
        if (all[i].generation_plus_2 >= generation + 2)
            all[i].tag = fresh_tag(all);
    munmap(all, PARTS * sizeof *all);
}

/* A receive from anyone is posted: is it known what it takes? */
void rp_ft_determinant_get(struct rp_ft_request *request)
{
    struct match *slot = life.matches < MATCHES ? &life.current->match[life.matches] : NULL;

    if (!slot)
        rp_ft_die(123,
                  "%s: more than %d receives from anyone between two checkpoints: checkpoint more "
                  "often (--interval)",
                  rp_ft.call, MATCHES);
    request->wildcard = ++life.matches;
    if (slot->tag == (uint32_t)life.current->tag) {
        request->bound_rank = slot->rank;
        request->bound_seq = slot->seq;
    }
}

void rp_ft_determinant_put(struct rp_ft_request *request)
{
    if (!request->wildcard)
        return;
    struct match *slot = &life.current->match[request->wildcard - 1];
    slot->rank = request->taken.from;
    slot->seq = request->taken.seq;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    slot->tag = (uint32_t)life.current->tag;
}

static struct outcome *slot_at(uint64_t place)
{
    if (place >= OUTCOMES)
        rp_ft_die(
            123,
            "%s: more than %d answers between two checkpoints: checkpoint more often (--interval)",
            rp_ft.call, OUTCOMES);
    struct outcome *slot = &life.current->outcome[place];
    if (slot->tag != (uint32_t)life.current->tag)
        *slot = (struct outcome){.tag = (uint32_t)life.current->tag};
    return slot;
}

static struct outcome *slot_of_outcome(void)
{
    return slot_at(life.outcomes);
}

bool rp_ft_outcome_is_no(void)
{
    if (life.noes == slot_of_outcome()->noes)
        return false;
    life.noes++;
    return true;
}

bool rp_ft_outcome_next(int64_t *answer)
{
    struct outcome *slot = slot_of_outcome();

    if (!slot->known)
        return false;
    *answer = slot->answer;
    life.outcomes++;
    life.noes = 0;
    return true;
}

void rp_ft_outcome_no(void)
{
    slot_of_outcome()->noes++;
    life.noes++;
}

/* A process may be killed between any two instructions: what is known is written before that it
 * is. */
static void put_at(uint64_t place, int64_t answer)
{
    struct outcome *slot = slot_at(place);

    slot->answer = answer;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    slot->known = 1;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

void rp_ft_outcome_put_list(int count, const int *answers)
{
    for (int i = 0; i < count; i++)
        put_at(life.outcomes + 1 + (uint64_t)i, answers[i]);
    put_at(life.outcomes, count);
    life.outcomes += 1 + (uint64_t)count;
    life.noes = 0;
}

void rp_ft_outcome_put(int64_t answer)
{
    put_at(life.outcomes++, answer);
    life.noes = 0;
}

/* Whose turn it was in the first life. */
static uint32_t next_sender(void)
{
    const struct turn *slot = &life.current->turn[life.turns];

    return life.turns < TURNS && is_written(slot) && slot->message == life.sent ? slot->sender
                                                                                : life.sender;
}

bool rp_ft_turn_is(uint32_t who)
{
    return life.sent >= life.current->sent || who == next_sender();
}

static void begin_turn(uint32_t who)
{
    if (life.turns == TURNS)
        rp_ft_die(123,
                  "%s: collectives in the background took turns in sending more than %d times "
                  "between two checkpoints: checkpoint more often (--interval)",
                  rp_ft.call, TURNS);
    life.current->turn[life.turns++] =
        (struct turn){.message = life.sent, .sender = who, .tag = (uint32_t)life.current->tag};
    life.sender = who;
}

void rp_ft_turn_take(uint32_t who)
{
    if (who != life.sender)
        begin_turn(who);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    life.sent++;
    if (life.sent > life.current->sent)
        life.current->sent = life.sent;
}
