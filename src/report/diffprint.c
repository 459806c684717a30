/* SPDX-License-Identifier: MIT */
/* Differences as text and as JSON. */
#include "base/json.h"
#include "base/text.h"
#include "event/describe.h"
#include "report/diff.h"
#include "report/facts.h"

#define U64(x) ((unsigned long long)(x))

static const struct {
    const char *name, *words;
} differences[] = {
    [RP_SAME] = {"none", "none"},
    [RP_DIFFERS_END] = {"end", "one of them ends here, or otherwise"},
    [RP_DIFFERS_POLLS] = {"polls", "other polls that answered no"},
    [RP_DIFFERS_FUNCTION] = {"function", "another MPI function"},
    [RP_DIFFERS_PLACE] = {"place", "called from another place"},
    [RP_DIFFERS_POSTS] = {"posts", "another number of receives posted since the event before"},
    [RP_DIFFERS_SCOPE] = {"scope", "another communicator or number of requests"},
    [RP_DIFFERS_MESSAGE] = {"message", "another message"},
    [RP_DIFFERS_THREAD] = {"thread", "another order of threads"},
    [RP_DIFFERS_OUTCOME] = {"outcome", "another outcome"},
};

static const char *const bases[] = {[RP_BY_NONE] = "events",
                                    [RP_BY_ONLY] = "only",
                                    [RP_BY_CLOCKS] = "clocks",
                                    [RP_BY_TIMES] = "times"};

static void put_side(struct rp_buffer *out, const char *record, const struct rp_diff_side *side,
                     bool with_stack)
{
    rp_buffer_printf(out, "  %s: ", rp_text_shown(record));
    if (!side->has_event) {
        rp_buffer_printf(out, "no further event after %llu: ", U64(side->number));
        rp_facts_put_end(out, side->reason, side->code);
        rp_buffer_byte(out, '\n');
        return;
    }
    rp_buffer_printf(out, "event %llu: %s ", U64(side->number), rp_text_shown(side->function));
    rp_event_put_words(&side->event, out);
    if (side->event.posts > 0)
        rp_buffer_printf(out, ", %u receives posted before", side->event.posts);
    if (side->thread != 0)
        rp_buffer_printf(out, ", thread %d", side->thread);
    rp_buffer_printf(out, "\n    in %s\n", side->place);
    if (!with_stack)
        return;
    for (const char *at = side->stack; *at;) {
        const char *end = at;
        while (*end && *end != '\n')
            end++;
        rp_buffer_printf(out, "      %.*s\n", (int)(end - at), at);
        at = *end ? end + 1 : end;
    }
}

static void put_ends(struct rp_buffer *out, const struct rp_divergence *d)
{
    rp_buffer_printf(out, ": the same %llu events, then it ", U64(d->side[0].number));
    rp_facts_put_end(out, d->side[0].reason, d->side[0].code);
    rp_buffer_printf(out, ", or ");
    rp_facts_put_end(out, d->side[1].reason, d->side[1].code);
    rp_buffer_byte(out, '\n');
}

static void put_divergence(struct rp_buffer *out, const struct rp_diff *diff,
                           const struct rp_divergence *d, bool with_stacks)
{
    rp_buffer_printf(out, "rank %u", d->rank);
    if (d->identity != 0)
        rp_buffer_printf(out, ", thread %016llx for itself", U64(d->identity));
    if (!d->side[0].has_event && !d->side[1].has_event) {
        put_ends(out, d);
        return;
    }
    rp_buffer_printf(out, ": %s\n", differences[d->difference].words);
    for (int i = 0; i < 2; i++)
        put_side(out, diff->directory[i], &d->side[i], with_stacks);
}

static void put_basis(struct rp_buffer *out, const struct rp_diff *diff)
{
    static const char *const words[] = {
        [RP_BY_NONE] = "which of them led to others is not known: the records have neither clocks "
                       "nor times ('record --clocks' or '--timestamps'); the least event number is",
        [RP_BY_ONLY] = "all others only by where or how they ended; it is",
        [RP_BY_CLOCKS] = "by the clocks of messages, no other can have led to",
        [RP_BY_TIMES] = "by the times of the events, the first is",
    };

    rp_buffer_printf(out, "%s:\n", diff->rank_count == 1 ? "it is" : words[diff->basis]);
    if (!diff->certain && diff->basis != RP_BY_NONE)
        rp_buffer_printf(out, "(that is so in %s, not in %s)\n", rp_text_shown(diff->directory[0]),
                         rp_text_shown(diff->directory[1]));
}

void rp_diff_put_text(struct rp_output *out, const struct rp_diff *diff)
{
    const struct rp_manifest *m = diff->manifest;

    if (!diff->same_program)
        rp_buffer_printf(&out->text,
                         "other programs: %s (build id %s) and %s (build id %s); places are "
                         "compared by line, where lines are known\n",
                         rp_text_shown(m[0].program), rp_text_shown(m[0].build_id),
                         rp_text_shown(m[1].program), rp_text_shown(m[1].build_id));
    if (diff->rank_count == 0) {
        rp_buffer_printf(&out->text, "no difference: %llu events on %u ranks\n",
                         U64(diff->events[0]), m[0].ranks);
        return;
    }
    rp_buffer_printf(&out->text, "%zu of %u ranks differ; ", diff->rank_count, m[0].ranks);
    put_basis(&out->text, diff);
    put_divergence(&out->text, diff, &diff->ranks[diff->earliest], true);
    for (size_t i = 0; i < diff->rank_count; i++) {
        if (i != diff->earliest)
            put_divergence(&out->text, diff, &diff->ranks[i], false);
        rp_output_spill(out);
    }
    for (size_t i = 0; i < diff->thread_count; i++)
        put_divergence(&out->text, diff, &diff->threads[i], false);
    if (diff->ranks[diff->earliest].difference == RP_DIFFERS_POLLS)
        rp_buffer_printf(&out->text, "'--ignore-polls' passes over polls that answered no\n");
    if (diff->threads_left_out > 0)
        rp_buffer_printf(&out->text, "%u ranks have more threads than are compared one by one\n",
                         diff->threads_left_out);
}

/* JSON */

static void put_json_end(struct rp_buffer *out, const struct rp_diff_side *side)
{
    struct rp_buffer end = {0};

    rp_facts_put_end(&end, side->reason, side->code);
    rp_buffer_byte(&end, 0);
    rp_json_put_string(out, end.failed ? "" : (char *)end.bytes);
    rp_buffer_free(&end);
}

static void put_json_words(struct rp_buffer *out, const struct rp_event *event)
{
    struct rp_buffer words = {0};

    rp_event_put_words(event, &words);
    rp_buffer_byte(&words, 0);
    rp_json_put_string(out, words.failed ? "" : (char *)words.bytes);
    rp_buffer_free(&words);
}

static void put_json_side(struct rp_buffer *out, const struct rp_diff_side *side)
{
    const struct rp_event *e = &side->event;

    rp_buffer_printf(out, "{\"event\": %llu, \"end\": ", U64(side->number));
    put_json_end(out, side);
    if (!side->has_event) {
        rp_buffer_printf(out, ", \"kind\": null}");
        return;
    }
    rp_buffer_printf(out,
                     ", \"kind\": \"%s\", \"thread\": %d, \"posts\": %u, \"scope\": %u, \"a\": %d, "
                     "\"b\": %d, \"c\": %llu, \"clock\": ",
                     rp_event_name(e->kind), side->thread, e->posts, e->scope, e->any.a, e->any.b,
                     U64(e->any.c));
    rp_buffer_printf(out, side->has_clock ? "%llu" : "null", U64(side->clock));
    rp_buffer_printf(out, ", \"time\": ");
    rp_buffer_printf(out, side->has_time ? "%llu" : "null", U64(side->time));
    rp_buffer_printf(out, ", \"words\": ");
    put_json_words(out, e);
    rp_buffer_printf(out, ", \"function\": ");
    rp_json_put_string(out, side->function);
    rp_buffer_printf(out, ", \"place\": ");
    rp_json_put_string(out, side->place);
    rp_buffer_printf(out, ", \"frames\": %s}", side->frames);
}

static void put_json_divergences(struct rp_output *out, const char *key,
                                 const struct rp_divergence *list, size_t count)
{
    rp_buffer_printf(&out->text, ",\n  \"%s\": [", key);
    for (size_t i = 0; i < count; i++) {
        const struct rp_divergence *d = &list[i];
        rp_buffer_printf(&out->text, "%s\n    {\"rank\": %u, \"identity\": ", i ? "," : "",
                         d->rank);
        rp_buffer_printf(&out->text, d->identity ? "\"%016llx\"" : "null", U64(d->identity));
        rp_buffer_printf(&out->text, ", \"difference\": \"%s\", \"sides\": [\n      ",
                         differences[d->difference].name);
        put_json_side(&out->text, &d->side[0]);
        rp_buffer_printf(&out->text, ",\n      ");
        put_json_side(&out->text, &d->side[1]);
        rp_buffer_printf(&out->text, "]}");
        rp_output_spill(out);
    }
    rp_buffer_printf(&out->text, count > 0 ? "\n  ]" : "]");
}

void rp_diff_put_json(struct rp_output *out, const struct rp_diff *diff)
{
    rp_buffer_printf(
        &out->text,
        "{\n  \"format\": \"reprise-diff\",\n  \"major\": 1,\n  \"minor\": 0,\n  \"runs\": [");
    for (int i = 0; i < 2; i++) {
        rp_buffer_printf(&out->text, "%s\n    {\"record\": ", i ? "," : "");
        rp_json_put_string(&out->text, diff->directory[i]);
        rp_buffer_printf(&out->text, ", \"program\": ");
        rp_json_put_string(&out->text, diff->manifest[i].program);
        rp_buffer_printf(&out->text, ", \"build_id\": ");
        rp_json_put_string(&out->text, diff->manifest[i].build_id);
        rp_buffer_printf(&out->text, ", \"events\": %llu}", U64(diff->events[i]));
    }
    rp_buffer_printf(&out->text,
                     "\n  ],\n  \"same_program\": %s,\n  \"ranks\": %u,\n  \"differing\": %zu,\n  "
                     "\"earliest\": ",
                     diff->same_program ? "true" : "false", diff->manifest[0].ranks,
                     diff->rank_count);
    if (diff->rank_count > 0)
        rp_buffer_printf(&out->text, "{\"rank\": %u, \"basis\": \"%s\", \"certain\": %s}",
                         diff->ranks[diff->earliest].rank, bases[diff->basis],
                         diff->certain ? "true" : "false");
    else
        rp_buffer_printf(&out->text, "null");
    put_json_divergences(out, "divergences", diff->ranks, diff->rank_count);
    put_json_divergences(out, "threads", diff->threads, diff->thread_count);
    rp_buffer_printf(&out->text, ",\n  \"threads_left_out\": %u\n}\n", diff->threads_left_out);
}
