/* SPDX-License-Identifier: MIT */
/*
 * usage: databytes RUN EMPTY-FOLDER: what it takes to write the bytes of a run's data logs once
 * more: processor seconds of the writer alone, over all ranks, and the bytes before compression.
 *
 * The streams are read and unpacked first. Then they are given to the writer in pieces of 4 KiB: it
 * copies, compresses, sums and writes them as in a recording. What a recording does besides, to
 * know what an MPI call gave to the program and to tell it, is not in it.
 */
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <zstd.h>

#include "base/file.h"
#include "log/datawriter.h"

enum { PIECE = 4096 };

static void need(int good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "databytes: %s\n", what);
    exit(1);
}

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void unpack(const char *path, struct rp_buffer *stream)
{
    struct rp_buffer file = {0};
    struct rp_data_chunk chunk;
    struct rp_problem why;

    need(rp_read_file(path, SIZE_MAX / 2, &file, &why) == RP_OK, path);
    stream->length = 0;
    for (size_t at = RP_DATA_HEADER; at < file.length; at += RP_DATA_CHUNK_HEADER + chunk.stored) {
        need(file.length - at >= RP_DATA_CHUNK_HEADER &&
                 rp_data_get_chunk(file.bytes + at, stream->length, &chunk),
             "not a chunk");
        if (chunk.kind != RP_DATA_BYTES)
            continue;
        need(file.length - at - RP_DATA_CHUNK_HEADER >= chunk.stored &&
                 rp_buffer_reserve(stream, chunk.length),
             "no room");
        size_t got = ZSTD_decompress(stream->bytes + stream->length, chunk.length,
                                     file.bytes + at + RP_DATA_CHUNK_HEADER, chunk.stored);
        need(got == chunk.length, "a chunk is damaged");
        stream->length += chunk.length;
    }
    rp_buffer_free(&file);
}

static double write_again(const char *folder, uint32_t rank, uint32_t ranks,
                          const struct rp_buffer *stream)
{
    struct rp_data_place nowhere = {.program = "",
                                    .directory = "",
                                    .host = "",
                                    .arguments = (char *[]){NULL},
                                    .environment = (char *[]){NULL}};
    struct rp_data_writer *writer;
    struct rp_problem why;

    need(rp_data_create(folder, 1, rank, ranks, &nowhere, &writer, &why) == RP_OK, "cannot write");
    double start = now();
    for (size_t at = 0; at < stream->length; at += PIECE) {
        rp_data_begin(writer, 0, "bytes");
        rp_data_put_content(writer, stream->bytes + at,
                            stream->length - at < PIECE ? stream->length - at : PIECE);
        rp_data_end(writer);
    }
    need(rp_data_close(writer, NULL, &why) == RP_OK, "cannot write to its end");
    return now() - start;
}

int main(int argc, char **argv)
{
    struct rp_buffer stream = {0};
    char pattern[4096];
    double seconds = 0;
    size_t bytes = 0;
    glob_t logs;

    need(argc == 3, "usage: databytes RUN EMPTY-FOLDER");
    snprintf(pattern, sizeof pattern, "%s/*.data", argv[1]);
    need(glob(pattern, 0, NULL, &logs) == 0, "no data logs");
    for (size_t i = 0; i < logs.gl_pathc; i++) {
        unpack(logs.gl_pathv[i], &stream);
        seconds += write_again(argv[2], (uint32_t)i, (uint32_t)logs.gl_pathc, &stream);
        bytes += stream.length;
    }
    printf("%.6f %zu\n", seconds, bytes);
    globfree(&logs);
    rp_buffer_free(&stream);
    return 0;
}
