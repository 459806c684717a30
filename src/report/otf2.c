/* SPDX-License-Identifier: MIT */
/* The Open Trace Format 2, by its own library: a location for each thread of each rank, a region
 * for each call site and one for sends, MPI_COMM_WORLD, and the messages whose sends are known. */
#include "report/intervals.h"

#ifndef RP_OTF2

enum rp_status rp_trace_write_otf2(const struct rp_trace *trace, const char *directory,
                                   struct rp_problem *why)
{
    (void)trace;
    return rp_fail(why, RP_UNSUPPORTED,
                   "%s: this reprise was built without OTF2; with Debian's libotf2-trace-dev "
                   "installed, build it again",
                   directory);
}

#else

#include <otf2/otf2.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/text.h"

enum {
    EVENT_CHUNK = 1 << 20,
    DEFINITION_CHUNK = 4 << 20,
    THREAD_BITS = 32,
    THREADS_MOST = 1 << 16
};

struct writing {
    const struct rp_trace *trace;
    OTF2_Archive *archive;
    OTF2_GlobalDefWriter *definitions;
    OTF2_ErrorCode error; /* the first */
    uint32_t strings;
    uint32_t *threads;  /* by rank: how many locations */
    uint64_t **records; /* by rank and thread: how many records */
};

static void note(struct writing *w, OTF2_ErrorCode code)
{
    if (w->error == OTF2_SUCCESS)
        w->error = code;
}

static OTF2_FlushType before_flush(void *data, OTF2_FileType type, OTF2_LocationRef location,
                                   void *caller, bool final)
{
    (void)data, (void)type, (void)location, (void)caller, (void) final;
    return OTF2_FLUSH;
}

static OTF2_TimeStamp after_flush(void *data, OTF2_FileType type, OTF2_LocationRef location)
{
    (void)data, (void)type, (void)location;
    return 0;
}

static uint32_t regions(const struct writing *w)
{
    return (uint32_t)w->trace->report->sites.count;
}

static OTF2_LocationRef location_of(uint32_t rank, uint32_t thread)
{
    return (OTF2_LocationRef)thread << THREAD_BITS | rank;
}

/* Events */

/* The receives of a call, at its end. */
static uint64_t put_receives(struct writing *w, OTF2_EvtWriter *out, const struct rp_timeline *t,
                             const struct rp_interval *span)
{
    uint64_t records = 0;

    for (size_t i = span->first; i < span->first + span->count; i++) {
        const struct rp_moment *m = &t->at[i];
        if (m->kind != RP_CLOCK || m->send < 0)
            continue;
        note(w, OTF2_EvtWriter_MpiRecv(out, NULL, span->end, (uint32_t)m->source, 0,
                                       (uint32_t)m->tag, 0));
        records++;
    }
    return records;
}

static uint64_t put_span(struct writing *w, OTF2_EvtWriter *out, const struct rp_timeline *t,
                         const struct rp_interval *span)
{
    uint32_t region = t->at[span->first].site;

    note(w, OTF2_EvtWriter_Enter(out, NULL, span->start, region));
    uint64_t records = put_receives(w, out, t, span);
    note(w, OTF2_EvtWriter_Leave(out, NULL, span->end, region));
    return records + 2;
}

static uint64_t put_send(struct writing *w, OTF2_EvtWriter *out,
                         const struct rp_trace_message *message)
{
    uint32_t tag = (uint32_t)w->trace->report->timelines[message->receiver].at[message->moment].tag;

    note(w, OTF2_EvtWriter_Enter(out, NULL, message->sent, regions(w)));
    note(w, OTF2_EvtWriter_MpiSend(out, NULL, message->sent, message->receiver, 0, tag, 0));
    note(w, OTF2_EvtWriter_Leave(out, NULL, message->sent, regions(w)));
    return 3;
}

/* Sends are the first thread's. `next` is the first message of the rank, and is moved behind its
 * last. */
static void put_thread(struct writing *w, uint32_t rank, uint32_t thread, size_t *next)
{
    const struct rp_trace *trace = w->trace;
    const struct rp_timeline *t = &trace->report->timelines[rank];
    const struct rp_intervals *spans = &trace->ranks[rank];
    OTF2_EvtWriter *out = OTF2_Archive_GetEvtWriter(w->archive, location_of(rank, thread));
    uint64_t records = 0;

    for (size_t i = 0; i <= spans->count; i++) {
        uint64_t until = i < spans->count ? spans->at[i].start : UINT64_MAX;
        for (; thread == 0 && *next < trace->message_count &&
               trace->messages[*next].sender == rank && trace->messages[*next].sent <= until;
             (*next)++)
            records += put_send(w, out, &trace->messages[*next]);
        if (i < spans->count && t->at[spans->at[i].first].thread == (int32_t)thread)
            records += put_span(w, out, t, &spans->at[i]);
    }
    w->records[rank][thread] = records;
    note(w, OTF2_Archive_CloseEvtWriter(w->archive, out));
}

static void put_events(struct writing *w)
{
    size_t next = 0;

    note(w, OTF2_Archive_OpenEvtFiles(w->archive));
    for (uint32_t rank = 0; rank < w->trace->report->facts.manifest.ranks; rank++)
        for (uint32_t thread = 0; thread < w->threads[rank]; thread++)
            put_thread(w, rank, thread, &next);
    note(w, OTF2_Archive_CloseEvtFiles(w->archive));
}

/* Definitions */

static uint32_t put_string(struct writing *w, const char *text)
{
    note(w, OTF2_GlobalDefWriter_WriteString(w->definitions, w->strings, rp_text_shown(text)));
    return w->strings++;
}

static void put_regions(struct writing *w, uint32_t empty)
{
    const struct rp_call_sites *sites = &w->trace->report->sites;

    for (uint32_t i = 0; i < sites->count; i++) {
        const struct rp_call_site *s = &sites->rows[i];
        uint32_t name = put_string(w, s->function), in = put_string(w, s->in ? s->in : ""),
                 file = put_string(w, s->file     ? s->file
                                      : s->module ? s->module
                                                  : "");
        note(w, OTF2_GlobalDefWriter_WriteRegion(w->definitions, i, name, name, in,
                                                 OTF2_REGION_ROLE_POINT2POINT, OTF2_PARADIGM_MPI,
                                                 OTF2_REGION_FLAG_NONE, file, (uint32_t)s->line,
                                                 (uint32_t)s->line));
    }
    uint32_t send = put_string(w, "send");
    note(w, OTF2_GlobalDefWriter_WriteRegion(w->definitions, regions(w), send, send, empty,
                                             OTF2_REGION_ROLE_POINT2POINT, OTF2_PARADIGM_MPI,
                                             OTF2_REGION_FLAG_NONE, empty, 0, 0));
}

static void put_locations(struct writing *w)
{
    char name[64];

    for (uint32_t rank = 0; rank < w->trace->report->facts.manifest.ranks; rank++) {
        snprintf(name, sizeof name, "rank %u", rank);
        note(w, OTF2_GlobalDefWriter_WriteLocationGroup(w->definitions, rank, put_string(w, name),
                                                        OTF2_LOCATION_GROUP_TYPE_PROCESS, 0,
                                                        OTF2_UNDEFINED_LOCATION_GROUP));
        for (uint32_t thread = 0; thread < w->threads[rank]; thread++) {
            snprintf(name, sizeof name, "rank %u thread %u", rank, thread);
            note(w, OTF2_GlobalDefWriter_WriteLocation(w->definitions, location_of(rank, thread),
                                                       put_string(w, name),
                                                       OTF2_LOCATION_TYPE_CPU_THREAD,
                                                       w->records[rank][thread], rank));
        }
    }
}

static void put_world(struct writing *w, uint32_t empty)
{
    uint32_t ranks = w->trace->report->facts.manifest.ranks;
    uint64_t *members = malloc(ranks * sizeof *members);

    for (uint32_t i = 0; members && i < ranks; i++)
        members[i] = i; /* location of thread 0, and rank */
    if (!members) {
        note(w, OTF2_ERROR_MEM_ALLOC_FAILED);
        return;
    }
    note(w,
         OTF2_GlobalDefWriter_WriteGroup(w->definitions, 0, empty, OTF2_GROUP_TYPE_COMM_LOCATIONS,
                                         OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE, ranks, members));
    note(w,
         OTF2_GlobalDefWriter_WriteGroup(w->definitions, 1, empty, OTF2_GROUP_TYPE_COMM_GROUP,
                                         OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE, ranks, members));
    note(w, OTF2_GlobalDefWriter_WriteComm(w->definitions, 0, put_string(w, "MPI_COMM_WORLD"), 1,
                                           OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE));
    free(members);
}

static void put_definitions(struct writing *w)
{
    const struct rp_report *r = w->trace->report;

    note(w, OTF2_Archive_OpenDefFiles(w->archive));
    for (uint32_t rank = 0; rank < r->facts.manifest.ranks; rank++)
        for (uint32_t thread = 0; thread < w->threads[rank]; thread++)
            note(w,
                 OTF2_Archive_CloseDefWriter(w->archive,
                                             OTF2_Archive_GetDefWriter(w->archive,
                                                                       location_of(rank, thread))));
    note(w, OTF2_Archive_CloseDefFiles(w->archive));
    w->definitions = OTF2_Archive_GetGlobalDefWriter(w->archive);
    note(w,
         OTF2_GlobalDefWriter_WriteClockProperties(w->definitions, 1000000000, 0, w->trace->end + 1,
                                                   r->timed ? r->first_time * 1000
                                                            : OTF2_UNDEFINED_TIMESTAMP));
    uint32_t empty = put_string(w, ""), host = put_string(w, r->facts.manifest.host),
             node = put_string(w, "node");
    note(w, OTF2_GlobalDefWriter_WriteSystemTreeNode(w->definitions, 0, host, node,
                                                     OTF2_UNDEFINED_SYSTEM_TREE_NODE));
    put_regions(w, empty);
    put_locations(w);
    put_world(w, empty);
    note(w, OTF2_Archive_CloseGlobalDefWriter(w->archive, w->definitions));
}

/* The archive */

static bool count_threads(struct writing *w)
{
    const struct rp_report *r = w->trace->report;
    uint32_t ranks = r->facts.manifest.ranks;

    w->threads = calloc(ranks, sizeof *w->threads);
    w->records = calloc(ranks, sizeof *w->records);
    for (uint32_t rank = 0; w->threads && w->records && rank < ranks; rank++) {
        const struct rp_timeline *t = &r->timelines[rank];
        w->threads[rank] = 1;
        for (size_t i = 0; i < t->count; i++)
            if (t->at[i].thread >= (int32_t)w->threads[rank] && t->at[i].thread < THREADS_MOST)
                w->threads[rank] = (uint32_t)t->at[i].thread + 1;
        w->records[rank] = calloc(w->threads[rank], sizeof **w->records);
        if (!w->records[rank])
            return false;
    }
    return w->threads && w->records;
}

static void free_counts(struct writing *w)
{
    for (uint32_t rank = 0; w->records && rank < w->trace->report->facts.manifest.ranks; rank++)
        free(w->records[rank]);
    free(w->records);
    free(w->threads);
}

enum rp_status rp_trace_write_otf2(const struct rp_trace *trace, const char *directory,
                                   struct rp_problem *why)
{
    static const OTF2_FlushCallbacks flush = {.otf2_pre_flush = before_flush,
                                              .otf2_post_flush = after_flush};
    struct writing w = {.trace = trace};
    enum rp_status status = rp_make_directory(directory, false, why);
    mode_t before = umask(S_IRWXG | S_IRWXO); /* OTF2 makes files as the umask says */

    if (status == RP_OK && !count_threads(&w))
        status = rp_fail(why, RP_MEMORY, "out of memory");
    if (status == RP_OK &&
        !(w.archive =
              OTF2_Archive_Open(directory, "traces", OTF2_FILEMODE_WRITE, EVENT_CHUNK,
                                DEFINITION_CHUNK, OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE)))
        status = rp_fail(why, RP_SYSTEM, "%s: OTF2 cannot make an archive there", directory);
    if (status == RP_OK) {
        note(&w, OTF2_Archive_SetFlushCallbacks(w.archive, &flush, NULL));
        note(&w, OTF2_Archive_SetSerialCollectiveCallbacks(w.archive));
        put_events(&w);
        put_definitions(&w);
        note(&w, OTF2_Archive_Close(w.archive));
        if (w.error != OTF2_SUCCESS)
            status =
                rp_fail(why, RP_SYSTEM, "%s: %s", directory, OTF2_Error_GetDescription(w.error));
    }
    free_counts(&w);
    umask(before);
    return status;
}

#endif
