/* SPDX-License-Identifier: MIT */
#include "log/replaystate.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"

static const uint8_t state_magic[8] = {0x89, 'R', 'P', 'R', 'S', 'T', 'T', '\n'};

static size_t size_for(uint32_t ranks)
{
    return sizeof(struct rp_replay_state) + (size_t)ranks * sizeof(struct rp_rank_slot);
}

static enum rp_status map(int fd, const char *path, uint32_t ranks, int protection,
                          struct rp_replay_state **out, struct rp_problem *why)
{
    void *memory = mmap(NULL, size_for(ranks), protection, MAP_SHARED, fd, 0);

    if (memory == MAP_FAILED)
        return rp_fail(why, RP_SYSTEM, "%s: cannot map: %s", path, strerror(errno));
    *out = memory;
    return RP_OK;
}

static enum rp_status create(const char *path, uint32_t ranks, uint32_t children,
                             struct rp_problem *why)
{
    struct rp_replay_state *state = NULL;
    uint32_t slots = ranks + children;
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, RP_PRIVATE_FILE);

    if (fd < 0)
        return rp_fail(why, RP_SYSTEM, "%s: cannot create: %s", path, strerror(errno));
    int error = posix_fallocate(fd, 0, (off_t)size_for(slots));
    enum rp_status status =
        error ? rp_fail(why, RP_SYSTEM, "%s: cannot allocate: %s", path, strerror(error))
              : map(fd, path, slots, PROT_READ | PROT_WRITE, &state, why);
    close(fd);
    if (status != RP_OK) {
        unlink(path);
        return status;
    }
    state->ranks = slots;
    for (uint32_t i = 0; i < ranks; i++)
        rp_process_name("", i, state->rank[i].name);
    for (uint32_t i = ranks; i < slots; i++)
        state->rank[i].state = RP_RANK_UNSPAWNED;
    memcpy(state->magic, state_magic, sizeof state_magic);
    rp_state_unmap(state);
    return RP_OK;
}

enum rp_status rp_state_create(const char *path, uint32_t ranks, struct rp_problem *why)
{
    return create(path, ranks, 0, why);
}

enum rp_status rp_state_create_for(const char *path, const struct rp_jobs *jobs,
                                   struct rp_problem *why)
{
    struct rp_replay_state *state;
    enum rp_status status = rp_state_create(path, jobs->processes, why);

    if (status == RP_OK)
        status = rp_state_map(path, jobs->processes, &state, why);
    if (status != RP_OK)
        return status;
    for (size_t j = 1; j < jobs->count; j++)
        for (uint32_t i = 0; i < jobs->job[j].manifest.ranks; i++) {
            struct rp_rank_slot *slot = &state->rank[jobs->job[j].first + i];
            rp_process_name(jobs->job[j].name, i, slot->name);
            slot->state = RP_RANK_UNSPAWNED;
        }
    rp_state_unmap(state);
    return RP_OK;
}

uint32_t rp_state_find(const struct rp_replay_state *state, const char *name)
{
    uint32_t i = 0;

    while (i < state->ranks && strcmp(state->rank[i].name, name) != 0)
        i++;
    return i;
}

static bool is_of_job(const struct rp_rank_slot *slot, const char *job)
{
    size_t length = strlen(job);

    return strncmp(slot->name, job, length) == 0 && slot->name[length] == '.' &&
           !strchr(slot->name + length + 1, '.');
}

uint32_t rp_state_job_size(const struct rp_replay_state *state, const char *job)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < state->ranks; i++)
        count += is_of_job(&state->rank[i], job);
    return count;
}

void rp_state_set_job(struct rp_replay_state *state, const char *job, enum rp_rank_state is)
{
    for (uint32_t i = 0; i < state->ranks; i++) {
        uint32_t now = state->rank[i].state;
        if (is_of_job(&state->rank[i], job) && (now == RP_RANK_UNSPAWNED || now == RP_RANK_ABSENT))
            atomic_compare_exchange_strong(&state->rank[i].state, &now, (uint32_t)is);
    }
}

uint32_t rp_state_children(const struct rp_replay_state *state)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < state->ranks; i++)
        count += strchr(state->rank[i].name, '.') != NULL;
    return count;
}

const char *rp_state_ranks(const struct rp_replay_state *state, char text[RP_RANKS_WORDS])
{
    uint32_t children = rp_state_children(state);

    return rp_ranks_words(state->ranks - children, children, text);
}

static enum rp_status map_file(int fd, const char *path, uint32_t ranks, int protection,
                               struct rp_replay_state **out, struct rp_problem *why)
{
    struct stat st;
    struct rp_replay_state head;

    if (ranks == 0 && pread(fd, &head, sizeof head, 0) == (ssize_t)sizeof head)
        ranks = head.ranks;
    if (fstat(fd, &st) != 0 || (size_t)st.st_size < size_for(ranks))
        return rp_fail(why, RP_USAGE, "%s is not the state of a replay of %u ranks", path, ranks);
    enum rp_status status = map(fd, path, ranks, protection, out, why);
    if (status == RP_OK &&
        (memcmp((*out)->magic, state_magic, sizeof state_magic) != 0 || (*out)->ranks != ranks)) {
        munmap(*out, size_for(ranks));
        status = rp_fail(why, RP_USAGE, "%s is not the state of a replay of %u ranks", path, ranks);
    }
    return status;
}

enum rp_status rp_state_map(const char *path, uint32_t ranks, struct rp_replay_state **out,
                            struct rp_problem *why)
{
    int fd = rp_open_regular(path, O_RDWR);

    if (fd < 0)
        return rp_fail_open(why, path, errno);
    enum rp_status status = map_file(fd, path, ranks, PROT_READ | PROT_WRITE, out, why);
    close(fd);
    return status;
}

/* It may be there without being ready. */
struct rp_replay_state *rp_state_join(const char *path, uint32_t ranks, uint32_t children)
{
    enum { TRIES = 100 };
    struct timespec pause = {0, 1000000};
    struct rp_replay_state *state;
    struct rp_problem ignored;

    create(path, ranks, children, &ignored);
    for (int i = 0; i < TRIES; i++) {
        if (rp_state_map(path, ranks + children, &state, &ignored) == RP_OK)
            return state;
        nanosleep(&pause, NULL);
    }
    return NULL;
}

enum rp_status rp_state_open(const char *path, struct rp_replay_state **out, struct rp_problem *why)
{
    struct rp_replay_state head;
    int fd = rp_open_regular(path, O_RDONLY);

    if (fd < 0)
        return rp_fail_open(why, path, errno);
    enum rp_status status;
    if (read(fd, &head, sizeof head) != (ssize_t)sizeof head ||
        memcmp(head.magic, state_magic, sizeof state_magic) != 0)
        status = rp_fail(why, RP_USAGE, "%s is not the state of a replay", path);
    else
        status = map_file(fd, path, head.ranks, PROT_READ, out, why);
    close(fd);
    return status;
}

void rp_state_unmap(struct rp_replay_state *state)
{
    if (state)
        munmap(state, size_for(state->ranks));
}

void rp_state_set_text_v(struct rp_state_text *to, const char *format, va_list arguments)
{
    char text[RP_STATE_WHAT] = "";

    vsnprintf(text, sizeof text, format, arguments);
    if (strncmp(text, to->text, sizeof text) == 0)
        return;
    atomic_fetch_add(&to->version, 1);
    memcpy(to->text, text, sizeof text);
    atomic_fetch_add(&to->version, 1);
}

void rp_state_set_text(struct rp_state_text *to, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    rp_state_set_text_v(to, format, arguments);
    va_end(arguments);
}

/* A rank may have been killed while it wrote, so that we do not try for ever. */
const char *rp_state_get_text(const struct rp_state_text *from, char text[RP_STATE_WHAT])
{
    enum { TRIES = 1000 };

    for (int i = 0; i < TRIES; i++) {
        uint32_t before = atomic_load(&from->version);
        memcpy(text, from->text, RP_STATE_WHAT);
        atomic_thread_fence(memory_order_seq_cst);
        if (before % 2 == 0 && before == atomic_load(&from->version))
            break;
        sched_yield();
    }
    text[RP_STATE_WHAT - 1] = 0;
    return text;
}

static bool is_in_call(const struct rp_rank_slot *slot, uint32_t state)
{
    return (state == RP_RANK_RUNNING || state == RP_RANK_FREE) && slot->in_call;
}

uint32_t rp_state_now(const struct rp_rank_slot *slot)
{
    uint32_t state = slot->state;

    return is_in_call(slot, state) ? RP_RANK_WAITING : state;
}

const char *rp_state_what(const struct rp_rank_slot *slot, char what[RP_STATE_WHAT])
{
    return rp_state_get_text(is_in_call(slot, slot->state) ? &slot->call : &slot->what, what);
}

long long rp_state_waited(const struct rp_rank_slot *slot)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (long long)(now.tv_sec -
                       (is_in_call(slot, slot->state) ? slot->call_since : slot->since));
}

const char *rp_state_word(uint32_t state)
{
    static const char *const words[] = {"has not started", "runs",
                                        "waits",           "is at the end of its record",
                                        "runs on freely",  "has finished",
                                        "has diverged",    "has failed",
                                        "has ended",       "has not been spawned"};

    return words[state <= RP_RANK_UNSPAWNED ? state : 0];
}

static void print_rank(const struct rp_rank_slot *slot, struct rp_buffer *out)
{
    char what[RP_STATE_WHAT];
    uint32_t state = rp_state_now(slot);

    rp_buffer_printf(out, "  rank %s %s, event %llu of %llu", slot->name, rp_state_word(state),
                     (unsigned long long)slot->done, (unsigned long long)slot->total);
    if (state == RP_RANK_WAITING)
        rp_buffer_printf(out, ", since %lld s: %s", rp_state_waited(slot),
                         rp_state_what(slot, what));
    rp_buffer_printf(out, "\n");
}

enum { LINES = 64 }; /* of ranks, at most */

void rp_state_print_waits(const struct rp_replay_state *state, struct rp_buffer *out)
{
    char what[RP_STATE_WHAT];
    uint32_t lines = 0;

    for (uint32_t i = 0; i < state->ranks && lines < LINES; i++) {
        const struct rp_rank_slot *slot = &state->rank[i];
        if (rp_state_now(slot) == RP_RANK_WAITING)
            rp_buffer_printf(out, "  rank %s waits since %lld s: %s\n", slot->name,
                             rp_state_waited(slot), rp_state_what(slot, what)),
                lines++;
    }
    if (lines == LINES)
        rp_buffer_printf(out, "  ...\n");
}

void rp_state_print(const struct rp_replay_state *state, struct rp_buffer *out)
{
    uint32_t lines = 0;

    for (uint32_t i = 0; i < state->ranks && lines < LINES; i++)
        if (state->rank[i].state != RP_RANK_FINISHED)
            print_rank(&state->rank[i], out), lines++;
    if (lines == LINES)
        rp_buffer_printf(out, "  ...\n");
}

static bool is_still(const struct rp_rank_slot *slot, enum rp_certainty least)
{
    uint32_t now = slot->state;

    if (now == RP_RANK_WAITING)
        return slot->certain >= (uint32_t)least || (slot->in_call && least <= RP_CERTAIN_CALL);
    return now == RP_RANK_PARKED || now == RP_RANK_FINISHED || now == RP_RANK_ENDED ||
           now == RP_RANK_UNSPAWNED || (is_in_call(slot, now) && least <= RP_CERTAIN_CALL);
}

bool rp_state_is_stuck(const struct rp_replay_state *state, enum rp_certainty least)
{
    for (uint32_t i = 0; i < state->ranks; i++)
        if (!is_still(&state->rank[i], least))
            return false;
    return true;
}

uint64_t rp_state_moves(const struct rp_replay_state *state)
{
    uint64_t moves = 0;

    for (uint32_t i = 0; i < state->ranks; i++)
        moves += state->rank[i].moves;
    return moves;
}

bool rp_state_is_over(const struct rp_replay_state *state)
{
    uint64_t done, total;

    rp_state_sum(state, &done, &total);
    for (uint32_t i = 0; i < state->ranks; i++)
        if (state->rank[i].state == RP_RANK_ABSENT || state->rank[i].state == RP_RANK_FREE)
            return false;
    return done == total || rp_state_is_stuck(state, RP_CERTAIN_CALL);
}

uint32_t rp_state_slowest(const struct rp_replay_state *state)
{
    uint32_t slowest = state->ranks;
    double least = 1;

    for (uint32_t i = 0; i < state->ranks; i++) {
        const struct rp_rank_slot *slot = &state->rank[i];
        double part = slot->total ? (double)slot->done / (double)slot->total : 1;
        if (part < least) {
            least = part;
            slowest = i;
        }
    }
    return slowest;
}

void rp_state_sum(const struct rp_replay_state *state, uint64_t *done, uint64_t *total)
{
    *done = *total = 0;
    for (uint32_t i = 0; i < state->ranks; i++) {
        *done += state->rank[i].done;
        *total += state->rank[i].total;
    }
}
