/* SPDX-License-Identifier: MIT */
/*
 * An entry is its length, a checksum and its bytes. The length is stored last, so an entry with a
 * length is complete. Zeros behind the last entry are free room. The checksum covers the number of
 * the entry, so that an entry in the wrong place is found.
 */
#include "base/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/crc32c.h"
#include "base/reopen_file.h"
#include "base/diagnostics.h"

static const uint8_t magic[8] = {0x89, 'R', 'P', 'R', 'J', 'N', 'L', '\n'};
enum { HEAD = 8, ALIGN = 4, STEP = 1 << 20 };

struct rp_journal {
    char *path;
    struct rp_reopen file;
    uint8_t *memory;
    size_t room, used;
    uint64_t number;
    bool stopped;
};

static size_t footprint(size_t length)
{
    return HEAD + (length + ALIGN - 1) / ALIGN * ALIGN;
}

static uint32_t checksum(uint64_t number, const uint8_t *bytes, size_t length)
{
    uint32_t crc = rp_crc32c(bytes, length);

    return crc ^ (uint32_t)(number * UINT64_C(0x9e3779b97f4a7c15) >> 32);
}

/* Extends the file and its mapping. Returns 0 or an errno. The disk blocks are allocated: a write
 * to a hole would raise SIGBUS when the disk is full. */
static int grow(struct rp_journal *journal)
{
    size_t room = journal->room + STEP;
    int fd = rp_reopen_fd(&journal->file),
        error = fd < 0 ? errno : posix_fallocate(fd, 0, (off_t)room);

    if (error)
        return error;
    void *memory = journal->memory ? mremap(journal->memory, journal->room, room, MREMAP_MAYMOVE)
                                   : mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED)
        return errno;
    journal->memory = memory;
    journal->room = room;
    return 0;
}

enum rp_status rp_journal_create(const char *path, struct rp_journal **out, struct rp_problem *why)
{
    struct rp_journal *journal = calloc(1, sizeof *journal);
    int error;

    if (!journal || !(journal->path = strdup(path))) {
        free(journal);
        return rp_fail(why, RP_MEMORY, "%s: no memory", path);
    }
    error = rp_reopen_open(&journal->file, journal->path, O_RDWR | O_CREAT | O_EXCL);
    bool made = !error;
    if (error || (error = grow(journal)) != 0) {
        rp_fail(why, RP_SYSTEM, "%s: cannot create: %s", path, strerror(error));
        rp_journal_close(journal, made);
        return RP_SYSTEM;
    }
    memcpy(journal->memory, magic, sizeof magic);
    journal->used = sizeof magic;
    *out = journal;
    return RP_OK;
}

void rp_journal_put(struct rp_journal *journal, const void *bytes, size_t length)
{
    RP_BUG_ON(length == 0 || length > RP_JOURNAL_MOST);
    if (!journal->stopped && journal->room - journal->used < footprint(length)) {
        int error = grow(journal);
        journal->stopped = error != 0;
        if (error)
            rp_error("%s: cannot grow: %s; what follows is not recorded", journal->path,
                     strerror(error));
    }
    if (journal->stopped)
        return;
    uint8_t *at = journal->memory + journal->used;
    uint32_t crc = checksum(journal->number++, bytes, length);
    memcpy(at + HEAD, bytes, length);
    memcpy(at + 4, &crc, sizeof crc);
    atomic_store_explicit((_Atomic uint32_t *)(void *)at, (uint32_t)length, memory_order_release);
    journal->used += footprint(length);
}

void rp_journal_close(struct rp_journal *journal, bool remove)
{
    int error;

    if (journal->memory)
        munmap(journal->memory, journal->room);
    if (remove)
        unlink(journal->path);
    else if (journal->file.fd >= 0 &&
             (error = rp_reopen_truncate(&journal->file, (off_t)journal->used)) != 0)
        rp_error("%s: %s", journal->path, strerror(error));
    rp_reopen_close(&journal->file);
    free(journal->path);
    free(journal);
}

bool rp_journal_is(const uint8_t *bytes, size_t length)
{
    return length >= sizeof magic && memcmp(bytes, magic, sizeof magic) == 0;
}

bool rp_journal_is_blank(const uint8_t *bytes, size_t length)
{
    size_t at = rp_journal_is(bytes, length) ? sizeof magic : 0;

    for (size_t i = at; i < length && i < at + sizeof(uint32_t);
         i++) /* the length field, which is stored last */
        if (bytes[i] != 0)
            return false;
    return true;
}

struct rp_journal_view rp_journal_view_of(const uint8_t *bytes, size_t length)
{
    return (struct rp_journal_view){.at = bytes + sizeof magic, .end = bytes + length};
}

bool rp_journal_next(struct rp_journal_view *view, const uint8_t **bytes, size_t *length)
{
    size_t left = (size_t)(view->end - view->at), said = left >= HEAD ? rp_load_u32(view->at) : 0;

    if (said == 0)
        return false;
    if (said > RP_JOURNAL_MOST || footprint(said) > left ||
        rp_load_u32(view->at + 4) != checksum(view->number, view->at + HEAD, said)) {
        view->damaged = true;
        return false;
    }
    *bytes = view->at + HEAD;
    *length = said;
    view->at += footprint(said);
    view->number++;
    return true;
}
