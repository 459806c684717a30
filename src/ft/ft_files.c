/* SPDX-License-Identifier: MIT */
/*
 * Checkpoints in files: DIR/rank-RRRRR.GENERATION.checkpoint, a header and the checkpoint as it is
 * in memory. A thread writes the file under another name, which is changed when everything is on
 * the disk. A generation is whole when all ranks have its file; before a checkpoint's empty
 * messages each rank has waited for its file of the generation before. So when these have arrived,
 * the generation before is whole, and what is older can go.
 */
#include "ft/ft_files.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/crc32c.h"
#include "base/file.h"
#include "base/diagnostics.h"
#include "ft/ft_abort.h"
#include "ft/ft_state.h"
#include "job/settings.h"

struct file_header {
    char magic[8];
    uint32_t version, rank, ranks, crc;
    int64_t generation;
    uint64_t bytes;
};

static const char magic[8] = "RPRCKPT";
enum { VERSION = 2, PATH_ROOM = 4096 };

static struct {
    const char *directory; /* NULL: none */
    long keep;             /* so many generations */
    pthread_t writer;
    bool is_writing;
    const struct rp_ft_checkpoint *written;
    int error; /* of the writer: an errno */
} files = {.keep = 2};

static void path_of(int rank, int64_t generation, char path[PATH_ROOM])
{
    snprintf(path, PATH_ROOM, "%s/rank-%05d.%lld.checkpoint", files.directory, rank,
             (long long)generation);
}

bool rp_ft_files_on(void)
{
    return files.directory != NULL;
}

const char *rp_ft_files_restart_hint(void)
{
    return files.directory ? "to go on from the last checkpoint: the same command with --restart"
                           : "there are no checkpoints in files (--checkpoints) to go on from";
}

static int write_file(const char *path, const struct file_header *header, const void *blob)
{
    char temporary[PATH_ROOM + 8];
    int fd, error;

    snprintf(temporary, sizeof temporary, "%s.part", path);
    fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, RP_PRIVATE_FILE);
    if (fd < 0)
        return errno;
    error = rp_write_all(fd, header, sizeof *header, 0);
    if (!error)
        error = rp_write_all(fd, blob, header->bytes, sizeof *header);
    if (!error && fsync(fd) != 0)
        error = errno;
    if (close(fd) != 0 && !error)
        error = errno;
    if (!error && rename(temporary, path) != 0)
        error = errno;
    return error;
}

static int write_checkpoint(int rank, const struct rp_ft_checkpoint *one)
{
    struct file_header header = {.version = VERSION,
                                 .rank = (uint32_t)rank,
                                 .ranks = (uint32_t)rp_ft.ranks,
                                 .generation = one->generation,
                                 .bytes = one->bytes};
    char path[PATH_ROOM];

    memcpy(header.magic, magic, sizeof magic);
    header.crc = rp_crc32c(one->blob, one->bytes);
    path_of(rank, one->generation, path);
    return write_file(path, &header, one->blob);
}

static void *work(void *unused)
{
    files.error = write_checkpoint(rp_ft.rank, files.written);
    return unused;
}

void rp_ft_files_wait(void)
{
    if (!files.is_writing)
        return;
    pthread_join(files.writer, NULL);
    files.is_writing = false;
    if (files.error)
        rp_error(
            "the checkpoint of generation %lld could not be written to %s: %s; the run goes on",
            (long long)files.written->generation, files.directory, strerror(files.error));
}

void rp_ft_files_write(const struct rp_ft_checkpoint *checkpoint)
{
    if (!files.directory)
        return;
    rp_ft_files_wait();
    files.written = checkpoint;
    files.error = 0;
    files.is_writing = pthread_create(&files.writer, NULL, work, NULL) == 0;
    if (!files.is_writing)
        work(NULL);
}

void rp_ft_files_write_for(int rank, const struct rp_ft_checkpoint list[RP_FT_GENERATIONS])
{
    char path[PATH_ROOM];

    for (int i = 0; i < RP_FT_GENERATIONS && files.directory; i++) {
        if (list[i].generation < 0)
            continue;
        path_of(rank, list[i].generation, path);
        int error = access(path, F_OK) == 0 ? 0 : write_checkpoint(rank, &list[i]);
        if (error)
            rp_error("%s: %s", path, strerror(error));
    }
}

void rp_ft_files_release(int64_t generation)
{
    char path[PATH_ROOM];

    if (!files.directory)
        return;
    for (int64_t old = generation - files.keep; old >= 0 && old > generation - files.keep - 3;
         old--) {
        path_of(rp_ft.rank, old, path);
        unlink(path);
    }
}

/* Returns 0 or says what is wrong. */
static const char *read_header(int fd, int rank, int64_t generation, struct file_header *header)
{
    if (rp_read_all(fd, header, sizeof *header, 0) != 0)
        return "it is too short";
    if (memcmp(header->magic, magic, sizeof magic) != 0)
        return "it is no checkpoint of reprise";
    if (header->version != VERSION)
        return "it is of another version";
    if (header->rank != (uint32_t)rank || header->generation != generation)
        return "it is of another rank or generation";
    if (header->ranks != (uint32_t)rp_ft.ranks)
        return "it is of a run with another number of ranks";
    return NULL;
}

bool rp_ft_files_read(int rank, int64_t generation, struct rp_ft_checkpoint list[RP_FT_GENERATIONS])
{
    struct file_header header = {.bytes = 0};
    const char *wrong = NULL;
    char path[PATH_ROOM];
    struct stat st;
    uint8_t *blob = NULL;

    path_of(rank, generation, path);
    int fd = rp_open_regular(path, O_RDONLY);
    if (fd < 0 && rp_not_regular(path))
        rp_error("%s is not used: it is %s, not a regular file", path, rp_not_regular(path));
    if (fd < 0)
        return false;
    wrong = read_header(fd, rank, generation, &header);
    if (!wrong && (fstat(fd, &st) != 0 || (uint64_t)st.st_size != sizeof header + header.bytes))
        wrong = "its length is not what it says";
    if (!wrong) {
        blob = rp_ft_alloc(header.bytes);
        if (rp_read_all(fd, blob, header.bytes, sizeof header) != 0 ||
            rp_crc32c(blob, header.bytes) != header.crc)
            wrong = "its checksum is wrong";
    }
    close(fd);
    if (wrong)
        rp_error("%s is not used: %s", path, wrong);
    else
        rp_ft_checkpoint_put(list, generation, blob, header.bytes);
    free(blob);
    return !wrong;
}

/* The latest that are there, whole or not. */
void rp_ft_files_list(int rank, int64_t out[RP_FT_GENERATIONS])
{
    char pattern[PATH_ROOM];
    glob_t found;

    for (int i = 0; i < RP_FT_GENERATIONS; i++)
        out[i] = -1;
    if (!files.directory)
        return;
    snprintf(pattern, sizeof pattern, "%s/rank-%05d.*.checkpoint", files.directory, rank);
    if (glob(pattern, 0, NULL, &found) == 0)
        for (size_t i = 0; i < found.gl_pathc; i++) {
            const char *dot = strstr(strrchr(found.gl_pathv[i], '/'), ".");
            int64_t generation = strtoll(dot + 1, NULL, 10),
                    *slot = out[0] < out[1] ? &out[0] : &out[1];
            if (generation > *slot)
                *slot = generation;
        }
    globfree(&found);
}

void rp_ft_files_start(void)
{
    const char *text = rp_setting("REPRISE_FT_KEEP");

    files.directory = rp_setting("REPRISE_FT_FILES");
    if (text)
        files.keep = strtol(text, NULL, 10);
    if (files.keep < 2)
        files.keep = 2;
}
