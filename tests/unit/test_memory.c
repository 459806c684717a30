/* SPDX-License-Identifier: MIT */
/*
 * Every allocation fails once. The linker sends the core's calls here (--wrap); each piece of work
 * is done as often as it allocates, with another allocation refused each time. It must say
 * RP_MEMORY or do without, tell nothing wrong, and leave nothing allocated.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/wait.h>

#include "base/file.h"
#include "base/json.h"
#include "cdc/codec/cdc.h"
#include "cdc/codec/raw_rows.h"
#include "log/manifest.h"
#include "match/matcher.h"
#include "rowsample.h"
#include "sample.h"

static _Atomic long calls, refused_call, live;

void *__real_malloc(size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
char *__real_strdup(const char *string);
char *__real_strndup(const char *string, size_t most);
void __real_free(void *memory);
void *__wrap_malloc(size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);
char *__wrap_strdup(const char *string);
char *__wrap_strndup(const char *string, size_t most);
int __wrap_asprintf(char **out, const char *format, ...);
void __wrap_free(void *memory);

static bool refuse(void)
{
    return ++calls == refused_call;
}

static void *count(void *memory)
{
    live += memory != NULL;
    return memory;
}

void *__wrap_malloc(size_t size)
{
    return refuse() ? NULL : count(__real_malloc(size));
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    return refuse() ? NULL : count(__real_aligned_alloc(alignment, size));
}

void *__wrap_calloc(size_t number, size_t size)
{
    return refuse() ? NULL : count(__real_calloc(number, size));
}

void *__wrap_realloc(void *memory, size_t size)
{
    if (refuse())
        return NULL;
    return memory ? __real_realloc(memory, size) : count(__real_realloc(NULL, size));
}

char *__wrap_strdup(const char *string)
{
    return refuse() ? NULL : count(__real_strdup(string));
}

char *__wrap_strndup(const char *string, size_t most)
{
    return refuse() ? NULL : count(__real_strndup(string, most));
}

int __wrap_asprintf(char **out, const char *format, ...)
{
    va_list arguments;

    if (refuse())
        return -1;
    va_start(arguments, format);
    int length = vasprintf(out, format, arguments);
    va_end(arguments);
    live += length >= 0;
    return length;
}

void __wrap_free(void *memory)
{
    live -= memory != NULL;
    __real_free(memory);
}

/* What a piece of work answers when it got a wrong result and no error. */
enum { WRONG = 99 };

static const char *here; /* a directory for the work, another each time */

struct tally {
    const char *what;
    long times, first;
};

static void add(struct tally *tally, bool bad, long n)
{
    if (bad && tally->times++ == 0)
        tally->first = n;
}

static void refuse_each(const char *name, int (*work)(void))
{
    struct tally wrong = {"a wrong result", 0, 0},
                 other = {"a failure that is not RP_MEMORY", 0, 0},
                 left = {"something left allocated", 0, 0};
    struct tally *const all[] = {&wrong, &other, &left};
    long most = 1;

    for (long n = 0; n <= most; n++) {
        here = unit_temporary();
        calls = 0;
        refused_call = n;
        long before = live;
        int status = work();
        refused_call = 0;
        most = n == 0 ? calls : most;
        add(&wrong, status == WRONG, n);
        add(&other, status != WRONG && status != RP_MEMORY && status != RP_OK, n);
        add(&left, live != before, n);
        CHECK(n > 0 || status == RP_OK);
    }
    CHECK(most > 0);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i]->times > 0)
            unit_fail(__FILE__, __LINE__,
                      "%s: %s, %ld times of %ld, first when allocation %ld fails", name,
                      all[i]->what, all[i]->times, most, all[i]->first);
}

/* Buffers */

static int fill_buffer(void)
{
    struct rp_buffer out = {0};

    for (int i = 0; i < 300; i++)
        rp_buffer_varint(&out, 1000);
    rp_buffer_printf(&out, "%5000d", 7);
    int status = out.failed ? RP_MEMORY : out.length == 5600 ? RP_OK : WRONG;
    rp_buffer_free(&out);
    return status;
}

TEST(buffers)
{
    refuse_each("buffer", fill_buffer);
}

/* JSON */

#define LONG                                                                                       \
    "a string of more than sixty-four bytes, so that the buffer of its bytes must grow once"

static int parse_json(void)
{
    static const char text[] = "{\"key\": [1, \"" LONG "\", {\"x\": null}], \"y\": \"\"}";
    struct rp_json *json = NULL;
    struct rp_problem why;
    int status = (int)rp_json_parse(text, sizeof text - 1, &json, &why);

    if (status == RP_OK) {
        const struct rp_json *array = rp_json_member(json, "key", RP_JSON_ARRAY),
                             *y = rp_json_member(json, "y", RP_JSON_STRING);
        bool good = array && array->child && array->child->next &&
                    strcmp(array->child->next->string, LONG) == 0 && y && !*y->string;
        rp_json_free(json);
        status = good ? RP_OK : WRONG;
    }
    return status;
}

static int put_json(void)
{
    struct rp_buffer out = {0};

    rp_json_put_string(&out, "\"\\\n\xff" LONG LONG);
    int status = out.failed                                           ? RP_MEMORY
                 : out.length == 2 + 2 + 2 + 6 + 6 + 2 * strlen(LONG) ? RP_OK
                                                                      : WRONG;
    rp_buffer_free(&out);
    return status;
}

TEST(json)
{
    refuse_each("json parse", parse_json);
    refuse_each("json put", put_json);
}

/* Manifests */

static char *command[] = {"mpirun", "-n", "4", "./a", NULL}, *none[] = {NULL};
static const struct rp_manifest manifest = {
    .run = 7, .ranks = 2, .mpi = "m", .program = "p", .command = command, .allowed = none};

static int write_manifest(void)
{
    struct rp_problem why;
    int status = (int)rp_manifest_write(here, &manifest, &why);

    return status == RP_OK ? (int)rp_manifest_complete(here, &why) : status;
}

static const char *manifest_directory;

static int read_manifest(void)
{
    struct rp_manifest again;
    struct rp_problem why;
    int status = (int)rp_manifest_read(manifest_directory, &again, &why);

    if (status != RP_OK)
        return status;
    bool good = again.run == 7 && again.ranks == 2 && strcmp(again.program, "p") == 0 &&
                again.command[3] && strcmp(again.command[3], "./a") == 0;
    rp_manifest_free(&again);
    return good ? RP_OK : WRONG;
}

TEST(manifests)
{
    struct rp_problem why;

    refuse_each("manifest write", write_manifest);
    manifest_directory = unit_temporary();
    CHECK_OK(rp_manifest_write(manifest_directory, &manifest, &why), why);
    refuse_each("manifest read", read_manifest);
}

/* Logs */

enum { EVENTS = 200 };

static const char *log_directory;
static struct rp_event *events;

/* As a process that closes its log, or one that is killed, leaves it. */
static void write_log(bool closed)
{
    struct rp_log_writer *writer;
    struct rp_ring *ring;
    struct rp_problem why;

    REQUIRE(sample_create(log_directory, &writer, &ring));
    for (int i = 0; i < 4; i++) {
        sample_push(ring, events + EVENTS / 4 * i, EVENTS / 4);
        if (i < 3)
            rp_log_drain(writer);
    }
    if (closed)
        CHECK_OK(rp_log_close(writer, RP_END_FINALIZE, 0, &why), why);
    else
        unit_child_exit();
}

static int read_late(struct rp_log *log)
{
    struct rp_late *late;
    struct rp_problem why;
    size_t late_count;
    int status = (int)rp_log_late(log, &late, &late_count, &why);

    if (status != RP_OK)
        return status;
    bool good = late_count > 0 && late[0].post == 0 && late[0].source == 99;
    free(late);
    return good ? RP_OK : WRONG;
}

static int read_blocks(struct rp_log *log)
{
    static struct rp_event block[RP_CHUNK_EVENTS_LIMIT];
    struct rp_problem why;
    size_t at = 0, n = 1;

    while (n > 0) {
        int status = (int)rp_log_next_block(log, block, &n, &why);
        if (status != RP_OK)
            return status;
        if (at + n > EVENTS || memcmp(block, events + at, n * sizeof *block) != 0)
            return WRONG;
        at += n;
    }
    return at == EVENTS ? RP_OK : WRONG;
}

static int read_log(void)
{
    struct rp_log *log;
    struct rp_problem why;
    struct rp_log_sum sum;
    int status = (int)sample_open(log_directory, &log, &why);

    if (status != RP_OK)
        return status;
    status = read_blocks(log);
    if (status == RP_OK)
        status = read_late(log);
    if (status == RP_OK)
        status = (int)rp_log_verify(log, &sum, &why);
    rp_log_free(log);
    return status;
}

TEST(readers)
{
    int status;

    events = sample_stream(61, EVENTS);
    log_directory = unit_temporary();
    write_log(true);
    refuse_each("closed log", read_log);
    log_directory = unit_temporary();
    pid_t child = unit_fork();
    if (child == 0)
        write_log(false);
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    refuse_each("log and ring", read_log);
    free(events);
}

/* Writers: few enough events that the encoder sleeps, so that all allocations are on this
 * thread. */

static struct rp_buffer site_records[SAMPLE_SITES];

static bool says_memory(const struct rp_problem *why)
{
    return strstr(why->text, strerror(ENOMEM)) != NULL;
}

static int write_here(void)
{
    struct rp_log_writer *writer;
    struct rp_ring *ring;
    struct rp_problem why;
    int status = (int)rp_log_create(here, SAMPLE_RUN, SAMPLE_RANK, SAMPLE_RANKS,
                                    &(struct rp_log_manner){.codec = &rp_codec_mix}, &writer, &why);

    if (status != RP_OK)
        return says_memory(&why) ? RP_MEMORY : status;
    status = (int)rp_log_stream(writer, 0, &ring, &why);
    if (status != RP_OK) {
        rp_log_close(writer, RP_END_STOPPED, 0, &why);
        return status;
    }
    for (uint32_t i = 0; i < SAMPLE_SITES; i++)
        rp_log_sites(writer, &site_records[i], i, 1);
    for (int i = 0; i < 40; i++) { /* so many chunks that the index grows */
        sample_push(ring, events + EVENTS / 40 * i, EVENTS / 40);
        rp_log_drain(writer);
    }
    status = (int)rp_log_close(writer, RP_END_FINALIZE, 0, &why);
    refused_call = 0;
    log_directory = here;
    if (status == RP_OK)
        return read_log() == RP_OK ? RP_OK : WRONG;
    return says_memory(&why) ? RP_MEMORY : status;
}

/* Messages are expected, and are not for the reader of the tests. */
static int write_quietly(void)
{
    int saved = dup(STDERR_FILENO), quiet = open("/dev/null", O_WRONLY);

    dup2(quiet, STDERR_FILENO);
    int status = write_here();
    dup2(saved, STDERR_FILENO);
    close(saved);
    close(quiet);
    return status;
}

TEST(writers)
{
    events = sample_stream(62, EVENTS);
    for (uint32_t i = 0; i < SAMPLE_SITES; i++)
        sample_site(&site_records[i], i);
    refuse_each("writer", write_quietly);
    for (uint32_t i = 0; i < SAMPLE_SITES; i++)
        rp_buffer_free(&site_records[i]);
    free(events);
}

/* Sites: what was announced can be read, whatever was refused on the way. */

static struct rp_site_table *read_back;
static bool announced_well;

static void announce(void *owner, const struct rp_buffer *records, uint32_t first)
{
    long saved = refused_call;

    (void)owner;
    refused_call = 0;
    announced_well &= first == read_back->site_count &&
                      rp_site_read(read_back, records->bytes, records->length, 1);
    refused_call = saved;
}

static int find_sites(void)
{
    static const char *const functions[] = {"MPI_Recv", "MPI_Probe", "MPI_Wait"};
    struct rp_site_table table, other;
    long saved = refused_call;
    bool named = true;

    refused_call = 0;
    if (!rp_site_table_init(&other))
        return WRONG;
    refused_call = saved;
    read_back = &other;
    announced_well = true;
    if (!rp_site_table_init(&table)) {
        rp_site_table_free(&other);
        return RP_MEMORY;
    }
    table.announce = announce;
    for (uintptr_t i = 0; i < 60;
         i++) { /* addresses in this program and in nobody's, so that modules and sites are many */
        uint32_t site = rp_site_find(&table, functions[i % 3],
                                     i % 2 ? (uintptr_t)&find_sites + i : i + 1, 64 * i + 64);
        named &= site < other.site_count || site == 0; /* 0 if there is no memory for the first */
    }
    rp_site_table_free(&table);
    rp_site_table_free(&other);
    return announced_well && named ? RP_OK : WRONG;
}

TEST(sites)
{
    refuse_each("sites", find_sites);
}

/* Matchers */

static size_t at;

static enum rp_status next_block(void *owner, struct rp_event *out, size_t *number,
                                 struct rp_problem *why)
{
    (void)owner, (void)why;
    *number = EVENTS - at < 7 ? EVENTS - at : 7;
    memcpy(out, events + at, *number * sizeof *out);
    at += *number;
    return RP_OK;
}

static int follow(struct rp_matcher *m)
{
    const struct rp_event *event;
    struct rp_problem why;
    struct rp_match found;
    int status = RP_OK;

    if (!rp_matcher_find(m, 0, &found) || found.source != 99)
        return WRONG;
    for (size_t i = 0; i < EVENTS; i++) {
        status = (int)rp_matcher_peek(m, &event, &why);
        if (status != RP_OK)
            return status;
        if (!event || memcmp(event, &events[i], sizeof *event) != 0)
            return WRONG;
        if (event->kind == RP_YES && event->any.b > 1)
            status = (int)rp_matcher_ahead(m, (size_t)event->any.b - 1, &event, &why);
        if (status != RP_OK)
            return status;
        rp_matcher_take(m);
    }
    return RP_OK;
}

static int run_matcher(void)
{
    struct rp_match late = {0, RP_MATCH, 99, 98};
    struct rp_matcher *m;
    struct rp_problem why;

    at = 0;
    int status =
        (int)rp_matcher_create((struct rp_block_source){next_block, NULL, 7}, &late, 1, &m, &why);
    if (status != RP_OK)
        return status;
    status = follow(m);
    rp_matcher_free(m);
    return status;
}

TEST(matchers)
{
    events = sample_stream(63, EVENTS);
    refuse_each("matcher", run_matcher);
    free(events);
}

/* Rows, and the codecs that work on them */

static struct rp_row_tables tables;
static struct rp_row random_rows[EVENTS + 8];

static int make_rows(void)
{
    struct rp_rows rows = {0};
    int status = (int)rp_rows_add(&rows, events, EVENTS);

    if (status == RP_OK)
        status = (int)rp_rows_finish(&rows);
    if (status == RP_OK && rp_rows_count(&rows) == 0)
        status = WRONG;
    rp_rows_free(&rows);
    return status;
}

static int split_rows(void)
{
    struct rp_row_tables made;
    int status = (int)rp_row_tables_by_site(random_rows, EVENTS, &made);

    if (status != RP_OK)
        return status;
    bool good = made.table_count > 1 && made.row_count > 0;
    rp_row_tables_free(&made);
    return good ? RP_OK : WRONG;
}

static int pack_and_unpack(bool gzip)
{
    struct rp_row_coder coder = {0};
    struct rp_buffer out = {0}, scratch = {0};
    struct rp_row_tables again;
    struct rp_row_sizes sizes;
    struct rp_problem why;
    int status = (int)(gzip ? rp_gzip_encode : rp_raw_encode)(&coder, &tables, &out, &sizes);

    if (status == RP_OK)
        status = (int)(gzip ? rp_gzip_decode(out.bytes, out.length, sizes.before, EVENTS + 8,
                                             &scratch, &again, &why)
                            : rp_raw_decode(out.bytes, out.length, EVENTS + 8, &again, &why));
    if (status == RP_OK) {
        status = row_tables_same(&tables, &again) ? RP_OK : WRONG;
        rp_row_tables_free(&again);
    }
    rp_row_coder_free(&coder);
    rp_buffer_free(&out);
    rp_buffer_free(&scratch);
    return status;
}

static int raw_and_back(void)
{
    return pack_and_unpack(false);
}

static int gzip_and_back(void)
{
    return pack_and_unpack(true);
}

static int restore_table(const struct rp_row_table *table, const struct rp_cdc_table *decoded)
{
    static struct rp_row_message messages[EVENTS + 8];
    static struct rp_row again[EVENTS + 8];
    struct rp_problem why;
    size_t messages_taken = 0;

    for (size_t i = 0; i < table->count; i++)
        if (table->rows[i].kind == RP_ROW_MESSAGE)
            messages[messages_taken++] =
                (struct rp_row_message){table->rows[i].clock, table->rows[i].rank, 0};
    int status = (int)rp_cdc_restore(decoded, messages, messages_taken, again, &why);
    return status != RP_OK || memcmp(again, table->rows, table->count * sizeof *again) == 0 ? status
                                                                                            : WRONG;
}

static int cdc_and_back(void)
{
    struct rp_row_coder coder = {0};
    struct rp_buffer out = {0}, scratch = {0};
    struct rp_cdc_chunk chunk = {0};
    struct rp_row_sizes sizes;
    struct rp_problem why;
    int status = (int)rp_cdc_encode(&coder, &tables, &out, &sizes);

    if (status == RP_OK)
        status = (int)rp_cdc_decode(out.bytes, out.length, sizes.before, EVENTS + 8, &scratch,
                                    &chunk, &why);
    for (size_t i = 0; i < chunk.table_count && status == RP_OK; i++)
        status = restore_table(&tables.tables[i], &chunk.tables[i]);
    rp_cdc_chunk_free(&chunk);
    rp_row_coder_free(&coder);
    rp_buffer_free(&out);
    rp_buffer_free(&scratch);
    return status;
}

TEST(rows)
{
    uint64_t seed = 64;

    events = sample_stream(64, EVENTS);
    refuse_each("events to rows", make_rows);
    free(events);
    row_random_rows(&seed, &(struct row_style){3, 9, 2, 9, 3, false}, random_rows, EVENTS);
    REQUIRE(rp_row_tables_by_site(random_rows, EVENTS, &tables) == RP_OK);
    refuse_each("rows to tables", split_rows);
    refuse_each("raw", raw_and_back);
    refuse_each("gzip", gzip_and_back);
    refuse_each("cdc", cdc_and_back);
    rp_row_tables_free(&tables);
}
