/* SPDX-License-Identifier: MIT */
/*
 * usage: codec NAME RUN...: encodes the events of records with every codec, decodes them again, and
 * prints what each took.
 *
 * The records hold the clocks of messages (CLOCK events), which raw, gzip and cdc need; mix and
 * tables are given the events without them, which is what they would have recorded. Chunks are
 * those of a recording: 4096 events, of which mix forgets what it has learnt after 262,144. A
 * chunk's header and index entry count, too.
 *
 * Lines: NAME codec CODEC events rows receives bytes encode-seconds decode-seconds, then NAME part
 * CODEC PART bytes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <zstd.h>

#include "cdc/codec/cdc.h"
#include "codec/codec.h"
#include "cdc/codec/raw_rows.h"
#include "log/logreader.h"
#include "log/manifest.h"

enum { CHUNK = 4096, CHUNK_COST = RP_CHUNK_HEADER + 5 };

struct tally {
    uint64_t events, rows, receives, bytes;
    double encode, decode;
};

struct stream {
    struct rp_event *all, *without; /* with CLOCK and without */
    size_t all_count, without_count, room;
};

static const char *const part_names[RP_PARTS] = {"frame", "matched", "with_next", "unmatched",
                                                 "epoch", "late",    "others",    "index"};

/* What mix tells of its bits (codec_fields.c); the names are those of docs/format.md. */
extern const struct rp_codec codec_mix_that_tells;
double codec_field_bits[32];
static const char *const field_names[] = {"shape",       "shape_tree", "site",   "plain",
                                          "scope",       "posts",      "group",  "thread",
                                          "polls_near",  "polls",      "count",  "choice",
                                          "choice_tree", "choice_neg", "tag",    "post_new",
                                          "post",        "rest_b",     "rest_c", "grows",
                                          "growth"};

static void need(int good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "codec: %s\n", what);
    exit(1);
}

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void read_stream(const char *directory, const struct rp_manifest *m, uint32_t rank,
                        struct stream *s)
{
    static struct rp_event block[RP_CHUNK_EVENTS_LIMIT];
    struct rp_problem why = {""};
    struct rp_log *log;
    size_t count;

    s->all_count = s->without_count = 0;
    need(rp_log_open(directory, m->run, rank, m->ranks, &log, &why) == RP_OK, why.text);
    while (need(rp_log_next_block(log, block, &count, &why) == RP_OK, why.text), count > 0) {
        if (s->all_count + count > s->room) {
            s->room = 2 * (s->all_count + count);
            s->all = realloc(s->all, s->room * sizeof *s->all);
            s->without = realloc(s->without, s->room * sizeof *s->without);
            need(s->all && s->without, "out of memory");
        }
        for (size_t i = 0; i < count; i++) {
            s->all[s->all_count++] = block[i];
            if (block[i].kind != RP_CLOCK)
                s->without[s->without_count++] = block[i];
        }
    }
    rp_log_free(log);
}

/* Codecs of events */

static void measure_events(const struct rp_codec *codec, const struct stream *s,
                           struct tally *tally)
{
    static struct rp_event again[CHUNK];
    void *encoder = codec->open(), *decoder = codec->open();
    struct rp_buffer out = {0};
    struct rp_problem why = {""};

    for (size_t at = 0, in_span = RP_SPAN_EVENTS; at < s->without_count; at += CHUNK) {
        size_t count = s->without_count - at < CHUNK ? s->without_count - at : CHUNK;
        if (in_span >= RP_SPAN_EVENTS || !codec->continues) {
            codec->reset(encoder);
            codec->reset(decoder);
            in_span = 0;
        }
        in_span += count;
        rp_buffer_clear(&out);
        double start = now();
        need(codec->encode(encoder, s->without + at, count, &out) == RP_OK, "encode");
        double middle = now();
        need(codec->decode(decoder, out.bytes, out.length, count, again, &why) == RP_OK, why.text);
        tally->encode += middle - start;
        tally->decode += now() - middle;
        need(memcmp(again, s->without + at, count * sizeof *again) == 0, "other events came back");
        tally->bytes += out.length + CHUNK_COST;
    }
    rp_buffer_free(&out);
    codec->close(encoder);
    codec->close(decoder);
}

/* Codecs of rows */

struct row_codec {
    const char *name;
    enum rp_status (*encode)(struct rp_row_coder *, const struct rp_row_tables *,
                             struct rp_buffer *, struct rp_row_sizes *);
};

static const struct row_codec row_codecs[] = {{"raw", rp_raw_encode},
                                              {"gzip", rp_gzip_encode},
                                              {"cdc", rp_cdc_encode}};
enum { ROW_CODECS = sizeof row_codecs / sizeof *row_codecs };

static int same_tables(const struct rp_row_tables *one, const struct rp_row_tables *other)
{
    if (one->table_count != other->table_count)
        return 0;
    for (size_t i = 0; i < one->table_count; i++) {
        const struct rp_row_table *a = &one->tables[i], *b = &other->tables[i];
        if (a->site != b->site || a->count != b->count ||
            memcmp(a->rows, b->rows, a->count * sizeof *a->rows) != 0)
            return 0;
    }
    return 1;
}

static void decode_rows(const struct row_codec *codec, const struct rp_row_tables *tables,
                        const struct rp_buffer *bytes, const struct rp_row_sizes *sizes)
{
    static struct rp_buffer scratch;
    struct rp_problem why = {""};
    struct rp_row_tables back;
    struct rp_cdc_chunk chunk;

    if (codec->encode == rp_cdc_encode) {
        need(rp_cdc_decode(bytes->bytes, bytes->length, sizes->before, tables->row_count, &scratch,
                           &chunk, &why) == RP_OK,
             why.text);
        rp_cdc_chunk_free(&chunk);
        return;
    }
    need((codec->encode == rp_raw_encode
              ? rp_raw_decode(bytes->bytes, bytes->length, tables->row_count, &back, &why)
              : rp_gzip_decode(bytes->bytes, bytes->length, sizes->before, tables->row_count,
                               &scratch, &back, &why)) == RP_OK,
         why.text);
    need(same_tables(&back, tables), "other rows came back");
    rp_row_tables_free(&back);
}

static void measure_chunk(const struct row_codec *codec, struct rp_row_coder *coder,
                          const struct rp_row_tables *tables, struct tally *tally, uint64_t *parts)
{
    struct rp_row_sizes sizes = {0};
    struct rp_buffer out = {0};
    double start = now();

    need(codec->encode(coder, tables, &out, &sizes) == RP_OK, "encode");
    double middle = now();
    decode_rows(codec, tables, &out, &sizes);
    tally->encode += middle - start;
    tally->decode += now() - middle;
    tally->bytes += out.length + CHUNK_COST;
    for (int i = 0; i < RP_PARTS; i++)
        parts[i] += sizes.bytes[i];
    rp_buffer_free(&out);
}

/* What `zstd -19` makes of raw, a chunk at a time. */
static void measure_zstd(struct rp_row_coder *coder, const struct rp_row_tables *tables,
                         struct tally *tally)
{
    struct rp_buffer out = {0};

    need(rp_raw_encode(coder, tables, &out, NULL) == RP_OK, "encode");
    char *frame = malloc(ZSTD_compressBound(out.length));
    double start = now();
    tally->bytes +=
        ZSTD_compress(frame, ZSTD_compressBound(out.length), out.bytes, out.length, 19) +
        CHUNK_COST;
    tally->encode += now() - start;
    free(frame);
    rp_buffer_free(&out);
}

static void measure_rows(const struct stream *s, struct tally *tallies,
                         uint64_t parts[ROW_CODECS][RP_PARTS], struct tally *zstd,
                         struct tally *shared)
{
    struct rp_row_coder coders[ROW_CODECS + 1] = {0};
    struct rp_rows rows = {0};

    for (size_t at = 0; at < s->all_count; at += CHUNK) {
        size_t count = s->all_count - at < CHUNK ? s->all_count - at : CHUNK;
        struct rp_row_tables tables;
        need(rp_rows_add(&rows, s->all + at, count) == RP_OK &&
                 (at + count < s->all_count || rp_rows_finish(&rows) == RP_OK),
             "rows");
        need(rp_row_tables_by_site(rp_rows_of(&rows), rp_rows_count(&rows), &tables) == RP_OK,
             "tables");
        for (size_t i = 0; i < tables.table_count; i++) {
            shared->rows += tables.tables[i].count;
            for (size_t k = 0; k < tables.tables[i].count; k++)
                shared->receives += tables.tables[i].rows[k].kind == RP_ROW_MESSAGE;
        }
        for (int i = 0; i < ROW_CODECS; i++)
            measure_chunk(&row_codecs[i], &coders[i], &tables, &tallies[i], parts[i]);
        measure_zstd(&coders[ROW_CODECS], &tables, zstd);
        rp_row_tables_free(&tables);
        rp_rows_clear(&rows);
    }
    for (int i = 0; i <= ROW_CODECS; i++)
        rp_row_coder_free(&coders[i]);
    rp_rows_free(&rows);
}

static void print(const char *name, const char *codec, const struct tally *shared,
                  const struct tally *t)
{
    printf("%s\tcodec\t%s\t%llu\t%llu\t%llu\t%llu\t%.6f\t%.6f\n", name, codec,
           (unsigned long long)shared->events, (unsigned long long)shared->rows,
           (unsigned long long)shared->receives, (unsigned long long)t->bytes, t->encode,
           t->decode);
}

int main(int argc, char **argv)
{
    struct tally shared = {0}, unused = {0}, mix = {0}, tables = {0}, zstd = {0},
                 rows[ROW_CODECS] = {0};
    uint64_t parts[ROW_CODECS][RP_PARTS] = {0};
    struct stream stream = {0};

    need(argc > 2, "usage: codec NAME RUN...");
    for (int i = 2; i < argc; i++) {
        struct rp_manifest manifest;
        struct rp_problem why;
        need(rp_manifest_read(argv[i], &manifest, &why) == RP_OK, why.text);
        for (uint32_t rank = 0; rank < manifest.ranks; rank++) {
            read_stream(argv[i], &manifest, rank, &stream);
            shared.events += stream.without_count;
            measure_events(&rp_codec_mix, &stream, &mix);
            measure_events(&codec_mix_that_tells, &stream, &unused);
            measure_events(&rp_codec_tables, &stream, &tables);
            measure_rows(&stream, rows, parts, &zstd, &shared);
        }
        rp_manifest_free(&manifest);
    }
    print(argv[1], "mix", &shared, &mix);
    print(argv[1], "tables", &shared, &tables);
    print(argv[1], "zstd19", &shared, &zstd);
    for (int i = 0; i < ROW_CODECS; i++)
        print(argv[1], row_codecs[i].name, &shared, &rows[i]);
    for (int i = 0; i < ROW_CODECS; i++)
        for (int k = 0; k < RP_PARTS; k++)
            printf("%s\tpart\t%s\t%s\t%llu\n", argv[1], row_codecs[i].name, part_names[k],
                   (unsigned long long)parts[i][k]);
    for (size_t i = 0; i < sizeof field_names / sizeof *field_names; i++)
        printf("%s\tpart\tmix\t%s\t%.0f\n", argv[1], field_names[i], codec_field_bits[i] / 8);
    return 0;
}
