/* SPDX-License-Identifier: MIT */
#include "event/ring.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/crc32c.h"
#include "base/file.h"

static const uint8_t ring_magic[8] = {0x89, 'R', 'P', 'R', 'R', 'N', 'G', '\n'};

enum { RING_MAJOR = 1, RING_MINOR = 1, CAPACITY_LIMIT = 1 << 24 };

_Static_assert(offsetof(struct rp_ring_header, crc) == 60, "docs/format.md, section 8");
_Static_assert(offsetof(struct rp_ring_header, head) == 64, "docs/format.md, section 8");
_Static_assert(offsetof(struct rp_ring_header, tail) == 128, "docs/format.md, section 8");
_Static_assert(offsetof(struct rp_ring_header, open_at) == 192, "docs/format.md, section 8");
_Static_assert(offsetof(struct rp_ring_header, open_run) == 256, "docs/format.md, section 8");
_Static_assert(offsetof(struct rp_ring_header, stopped) == 240, "docs/format.md, section 8");
_Static_assert(offsetof(struct rp_ring_header, stopped_head) == 248, "docs/format.md, section 8");

static size_t file_size(uint32_t capacity, uint32_t features)
{
    return RP_RING_HEADER + (size_t)capacity * (sizeof(struct rp_event) +
                                                (features & RP_RING_TIMES ? sizeof(uint64_t) : 0));
}

static void use_memory(struct rp_ring *ring, void *memory, uint32_t features)
{
    ring->shared = memory;
    ring->slots = (struct rp_event *)((char *)memory + RP_RING_HEADER);
    ring->times = features & RP_RING_TIMES ? (uint64_t *)(ring->slots + RP_RING_CAPACITY) : NULL;
}

static uint32_t features_of(const struct rp_ring *ring)
{
    return ring->times ? RP_RING_TIMES : 0;
}

static enum rp_status map_new_file(int fd, const char *path, size_t size, void **memory,
                                   struct rp_problem *why)
{
    /* Allocates the disk blocks: when the disk is full, a write to a hole would raise SIGBUS in the
     * application. */
    int error = posix_fallocate(fd, 0, (off_t)size);

    if (error)
        return rp_fail(why, RP_SYSTEM, "%s: cannot allocate %zu bytes: %s", path, size,
                       strerror(error));
    *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (*memory == MAP_FAILED)
        return rp_fail(why, RP_SYSTEM, "%s: cannot map: %s", path, strerror(errno));
    return RP_OK;
}

enum rp_status rp_ring_create(struct rp_ring *ring, const char *path, uint64_t run, uint32_t rank,
                              uint32_t stream, uint32_t features, struct rp_problem *why)
{
    void *memory = NULL;
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, RP_PRIVATE_FILE);

    if (fd < 0)
        return rp_fail(why, RP_SYSTEM, "%s: cannot create: %s", path, strerror(errno));
    enum rp_status status =
        map_new_file(fd, path, file_size(RP_RING_CAPACITY, features), &memory, why);
    close(fd);
    if (status != RP_OK) {
        unlink(path);
        return status;
    }
    use_memory(ring, memory, features);
    memcpy(ring->shared->magic, ring_magic, sizeof ring_magic);
    ring->shared->major = RING_MAJOR;
    ring->shared->minor = RING_MINOR;
    ring->shared->capacity = RP_RING_CAPACITY;
    ring->shared->run = run;
    ring->shared->rank = rank;
    ring->shared->stream = stream;
    ring->shared->features = features;
    ring->shared->crc = rp_crc32c(ring->shared, 60);
    ring->head = 0;
    ring->ready = 0;
    ring->limit = RP_RING_CAPACITY / 2;
    ring->path = strdup(path);
    return RP_OK;
}

enum rp_status rp_ring_disconnect(struct rp_ring *ring)
{
    uint32_t features = features_of(ring);
    size_t size = file_size(RP_RING_CAPACITY, features);
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (memory == MAP_FAILED)
        return RP_MEMORY;
    munmap(ring->shared, size);
    use_memory(ring, memory, features);
    return RP_OK;
}

void rp_ring_close(struct rp_ring *ring, bool discard)
{
    if (!ring->shared)
        return;
    munmap(ring->shared, file_size(RP_RING_CAPACITY, features_of(ring)));
    ring->shared = NULL;
    ring->slots = NULL;
    if (discard && ring->path)
        unlink(ring->path);
    free(ring->path);
    ring->path = NULL;
}

static bool header_is_good(const struct rp_ring_header *h, uint64_t run, uint32_t rank,
                           uint32_t stream)
{
    return memcmp(h->magic, ring_magic, sizeof ring_magic) == 0 && h->crc == rp_crc32c(h, 60) &&
           h->run == run && h->rank == rank && h->stream == stream && h->capacity > 0 &&
           h->capacity <= CAPACITY_LIMIT && (h->capacity & (h->capacity - 1)) == 0;
}

/* Drops the events of an incomplete last call: it did not return to the program. */
static size_t drop_cut_call(const struct rp_event *events, size_t count)
{
    size_t at = count;

    while (at > 0 && events[at - 1].kind == RP_NEXT)
        at--;
    if (at > 0 && events[at - 1].kind == RP_YES && events[at - 1].yes.count > 0 &&
        count - at < (size_t)events[at - 1].yes.count - 1)
        return at - 1;
    return count;
}

static size_t copy_open_runs(const struct rp_ring_header *h, struct rp_event *to)
{
    size_t count = 0;

    for (size_t i = 0; i < RP_OPEN_RUNS; i++)
        if (h->open_run[i].no.times > 0 && h->open_run[i].kind == RP_NO &&
            rp_event_is_valid(&h->open_run[i]))
            to[count++] = h->open_run[i];
    for (size_t i = 0; i < count; i++)
        to[i].no.group_left = (int32_t)(count - 1 - i);
    return count;
}

/* Copies the times of `count` events from `first` on, of which `slots` are in slots. Returns NULL
 * if there is no memory. */
static uint64_t *copy_times(const struct rp_ring_header *h, const uint64_t *times, uint64_t first,
                            size_t slots, size_t count)
{
    uint64_t *copy = calloc(count + 1, sizeof *copy), last = 0;

    for (size_t i = 0; copy && i < count; i++) {
        uint64_t time = i < slots ? times[(first + i) & (h->capacity - 1)] : 0;
        last = time > last ? time : last;
        copy[i] = last;
    }
    return copy;
}

static enum rp_status copy_rest(const struct rp_ring_header *h, const struct rp_event *slots,
                                const char *path, uint64_t first, struct rp_ring_rest *out,
                                struct rp_problem *why)
{
    uint64_t head = h->stopped && h->stopped_head < h->head ? h->stopped_head : h->head;
    if (head < first || head - first > h->capacity || h->tail > head)
        return rp_fail(why, RP_DAMAGED, "%s: the ring holds events up to %llu, the log %llu", path,
                       (unsigned long long)head, (unsigned long long)first);
    size_t count = (size_t)(head - first);
    struct rp_event *events = calloc(count + RP_OPEN_RUNS, sizeof *events);
    if (!events)
        return rp_fail(why, RP_MEMORY, "%s: out of memory", path);
    for (size_t i = 0; i < count; i++) {
        events[i] = slots[(first + i) & (h->capacity - 1)];
        if (rp_event_is_valid(&events[i]))
            continue;
        free(events);
        return rp_fail(why, RP_DAMAGED, "%s: event %llu is not an event", path,
                       (unsigned long long)(first + i));
    }
    size_t whole = drop_cut_call(events, count);
    if (whole == count && h->open_at == head)
        whole += copy_open_runs(h, events + whole);
    out->times = NULL;
    if (h->features & RP_RING_TIMES) {
        out->times = copy_times(h, (const uint64_t *)(slots + h->capacity), first, count, whole);
        if (!out->times) {
            free(events);
            return rp_fail(why, RP_MEMORY, "%s: out of memory", path);
        }
    }
    out->events = events;
    out->count = whole;
    out->stopped = h->stopped;
    return RP_OK;
}

static enum rp_status read_bytes(const char *path, struct rp_buffer *bytes, struct rp_problem *why)
{
    enum rp_status status =
        rp_read_file(path, file_size(CAPACITY_LIMIT, RP_RING_TIMES), bytes, why);

    if (status != RP_OK)
        return status;
    if (bytes->length < RP_RING_HEADER)
        return rp_fail(why, RP_DAMAGED, "%s: %zu bytes are no ring", path, bytes->length);
    return RP_OK;
}

enum rp_status rp_ring_read(const char *path, uint64_t run, uint32_t rank, uint32_t stream,
                            uint64_t first, struct rp_ring_rest *out, struct rp_problem *why)
{
    struct rp_buffer bytes = {0};
    enum rp_status status = read_bytes(path, &bytes, why);

    if (status != RP_OK)
        goto done;
    struct rp_ring_header header, *h = &header; /* a copy: the bytes are not aligned as it is */
    memcpy(h, bytes.bytes, sizeof header);
    if (h->major > RING_MAJOR && memcmp(h->magic, ring_magic, sizeof ring_magic) == 0)
        status =
            rp_fail(why, RP_DAMAGED, "%s: version %u.%u is newer than this reprise reads (%d.x)",
                    path, h->major, h->minor, RING_MAJOR);
    else if (!header_is_good(h, run, rank, stream))
        status = rp_fail(why, RP_DAMAGED, "%s: not the ring of rank %u, stream %u of this run",
                         path, rank, stream);
    else if (bytes.length < file_size(h->capacity, h->features))
        status = rp_fail(why, RP_DAMAGED, "%s: cut off at byte %zu", path, bytes.length);
    else
        status = copy_rest(h, (const void *)(bytes.bytes + RP_RING_HEADER), path, first, out, why);
done:
    rp_buffer_free(&bytes);
    return status;
}

enum rp_status rp_ring_peek(const char *path, uint64_t run, uint32_t rank, uint32_t stream,
                            struct rp_ring_place *out, struct rp_problem *why)
{
    struct rp_ring_header h;
    int fd = rp_open_regular(path, O_RDONLY);

    if (fd < 0)
        return rp_fail_open(why, path, errno);
    int error = rp_read_all(fd, &h, sizeof h, 0);
    close(fd);
    if (error || !header_is_good(&h, run, rank, stream))
        return rp_fail(why, RP_DAMAGED, "%s: not the ring of rank %u, stream %u of this run", path,
                       rank, stream);
    *out = (struct rp_ring_place){.events = h.stopped && h.stopped_head < h.head ? h.stopped_head
                                                                                 : h.head};
    for (size_t i = 0; h.open_at == h.head && i < RP_OPEN_RUNS; i++)
        out->polls += h.open_run[i].no.times;
    return RP_OK;
}
