/* SPDX-License-Identifier: MIT */
/* Recoveries as text, as JSON, and as a page: a lane for each rank, in one picture without a
 * script. */
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "report/recovery.h"

static double milliseconds(int64_t since, int64_t until)
{
    return (double)(until - since) / 1e3;
}

/* Text */

static void put_step(struct rp_buffer *out, int64_t zero, int64_t time, const char *what)
{
    if (time >= 0)
        rp_buffer_printf(out, "  %+10.3f ms  %s\n", milliseconds(zero, time), what);
}

static void put_death(struct rp_buffer *out, const struct rp_incident *incident,
                      const struct rp_death *death)
{
    char text[128];

    snprintf(text, sizeof text, "rank %d killed", death->rank);
    put_step(out, incident->detected, death->killed, text);
    if (death->generation < 0)
        snprintf(text, sizeof text, "rank %d replaced, from the beginning of the program",
                 death->rank);
    else
        snprintf(text, sizeof text, "rank %d replaced, from checkpoint %lld: %s", death->rank,
                 (long long)death->generation,
                 death->is_global ? "all ranks go back" : "it alone runs again");
    put_step(out, incident->detected, death->replaced, text);
    snprintf(text, sizeof text, "rank %d begins with iteration %lld", death->rank,
             (long long)death->iteration);
    put_step(out, incident->detected, death->restored, text);
    snprintf(text, sizeof text, "rank %d has caught up", death->rank);
    put_step(out, incident->detected, death->caught_up, text);
}

static void put_incident(struct rp_buffer *out, const struct rp_incident *incident, size_t number)
{
    rp_buffer_printf(
        out,
        "\nrecovery %zu, %.6f s after the first event: rank %d saw it in %s, in iteration %lld\n",
        number + 1, (double)incident->detected / 1e6, incident->first_rank,
        incident->call && *incident->call ? rp_text_shown(incident->call) : "its setup",
        (long long)incident->iteration);
    for (size_t i = 0; i < incident->death_count; i++)
        put_death(out, incident, &incident->deaths[i]);
    put_step(out, incident->detected, incident->resumed, "the last rank goes on");
    for (size_t i = 0; i < incident->idle_count; i++)
        if (incident->idles[i].until >= 0)
            rp_buffer_printf(out, "  %10.3f ms  idle: rank %d\n",
                             milliseconds(incident->idles[i].since, incident->idles[i].until),
                             incident->idles[i].rank);
}

void rp_recovery_put_text(struct rp_output *out, const struct rp_recovery *recovery)
{
    rp_buffer_printf(&out->text, "run       %s\nranks     %d\nrecovered %zu times in %.6f s\n",
                     rp_text_shown(recovery->directory), recovery->ranks, recovery->count,
                     (double)recovery->duration / 1e6);
    for (size_t i = 0; i < recovery->count; i++)
        put_incident(&out->text, &recovery->incidents[i], i);
}

/* JSON */

static void put_time(struct rp_buffer *out, const char *name, int64_t time)
{
    rp_buffer_printf(out, ", \"%s\": ", name);
    if (time >= 0)
        rp_buffer_printf(out, "%lld", (long long)time);
    else
        rp_buffer_printf(out, "null");
}

static void put_incident_json(struct rp_buffer *out, const struct rp_incident *incident)
{
    rp_buffer_printf(out, "{\"first_rank\": %d, \"call\": ", incident->first_rank);
    rp_json_put_string(out, incident->call ? incident->call : "");
    rp_buffer_printf(out, ", \"iteration\": %lld", (long long)incident->iteration);
    put_time(out, "detected", incident->detected);
    put_time(out, "resumed", incident->resumed);
    rp_buffer_printf(out, ", \"deaths\": [");
    for (size_t i = 0; i < incident->death_count; i++) {
        const struct rp_death *death = &incident->deaths[i];
        rp_buffer_printf(out, "%s{\"rank\": %d, \"generation\": %lld, \"rollback\": \"%s\"",
                         i ? ", " : "", death->rank, (long long)death->generation,
                         death->is_global ? "global" : "local");
        put_time(out, "iteration", death->iteration);
        put_time(out, "killed", death->killed);
        put_time(out, "replaced", death->replaced);
        put_time(out, "restored", death->restored);
        put_time(out, "caught_up", death->caught_up);
        rp_buffer_byte(out, '}');
    }
    rp_buffer_printf(out, "], \"idle\": [");
    for (size_t i = 0; i < incident->idle_count; i++) {
        rp_buffer_printf(out, "%s{\"rank\": %d", i ? ", " : "", incident->idles[i].rank);
        put_time(out, "since", incident->idles[i].since);
        put_time(out, "until", incident->idles[i].until);
        rp_buffer_byte(out, '}');
    }
    rp_buffer_printf(out, "]}");
}

void rp_recovery_put_json(struct rp_output *out, const struct rp_recovery *recovery)
{
    rp_buffer_printf(&out->text, "{\"run\": ");
    rp_json_put_string(&out->text, recovery->directory);
    rp_buffer_printf(&out->text, ", \"ranks\": %d, \"microseconds\": %lld, \"recoveries\": [",
                     recovery->ranks, (long long)recovery->duration);
    for (size_t i = 0; i < recovery->count; i++) {
        rp_buffer_printf(&out->text, i ? ",\n  " : "\n  ");
        put_incident_json(&out->text, &recovery->incidents[i]);
    }
    rp_buffer_printf(&out->text, "\n]}\n");
}

/* HTML: each recovery has a picture, from the death to the last of its ends. */

enum { WIDTH = 900, LANE = 22, LEFT = 70, AXIS = 20, RANKS_DRAWN = 4096 };

static void put_escaped(struct rp_buffer *out, const char *text)
{
    for (; *text; text++)
        if (strchr("<>&\"'", *text))
            rp_buffer_printf(out, "&#%d;", *text);
        else
            rp_buffer_byte(out, (uint8_t)*text);
}

struct picture {
    struct rp_buffer *out;
    int64_t begin, end;
};

static double place(const struct picture *picture, int64_t time)
{
    double share = (double)(time - picture->begin) / (double)(picture->end - picture->begin + 1);

    return LEFT + share * (WIDTH - LEFT);
}

static void put_bar(const struct picture *picture, int rank, int64_t since, int64_t until,
                    const char *class, const char *what)
{
    if (since < 0)
        return;
    until = until < 0 ? picture->end : until;
    rp_buffer_printf(picture->out,
                     "<rect class=\"%s\" x=\"%.2f\" y=\"%d\" width=\"%.2f\" "
                     "height=\"%d\"><title>rank %d: %s, %.3f ms</title></rect>\n",
                     class, place(picture, since), rank * LANE + 3,
                     place(picture, until) - place(picture, since) + 0.5, LANE - 6, rank, what,
                     milliseconds(since, until));
}

/* In milliseconds since the failure was seen. */
static void put_axis(const struct picture *picture, int64_t zero, int ranks)
{
    int64_t span = picture->end - picture->begin, step = 1;

    while (step * 8 < span)
        step *= step * 40 < span ? 10 : step * 16 < span ? 5 : 2;
    for (int64_t time = -((zero - picture->begin) / step) * step; zero + time <= picture->end;
         time += step)
        rp_buffer_printf(
            picture->out,
            "<path d=\"M%.2f 0v%d\"/><text class=\"time\" x=\"%.2f\" y=\"%d\">%g ms</text>\n",
            place(picture, zero + time), ranks * LANE + 4, place(picture, zero + time),
            ranks * LANE + 15, (double)time / 1000);
}

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static struct picture picture_of(struct rp_buffer *out, const struct rp_incident *incident)
{
    struct picture picture = {out, incident->detected,
                              later(incident->detected, incident->resumed)};

    for (size_t i = 0; i < incident->death_count; i++) {
        const struct rp_death *death = &incident->deaths[i];
        if (death->killed >= 0 && death->killed < picture.begin)
            picture.begin = death->killed;
        picture.end =
            later(picture.end, later(death->replaced, later(death->restored, death->caught_up)));
    }
    for (size_t i = 0; i < incident->idle_count; i++)
        picture.end = later(picture.end, incident->idles[i].until);
    return picture;
}

static void put_picture(struct rp_buffer *out, const struct rp_recovery *recovery,
                        const struct rp_incident *incident)
{
    struct picture picture = picture_of(out, incident);

    if (recovery->ranks > RANKS_DRAWN) {
        rp_buffer_printf(out, "<p>There are too many ranks for a picture.</p>\n");
        return;
    }
    rp_buffer_printf(out,
                     "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"what each rank did\">\n",
                     WIDTH + LEFT / 2, recovery->ranks * LANE + AXIS);
    put_axis(&picture, incident->detected, recovery->ranks);
    for (int rank = 0; rank < recovery->ranks; rank++) {
        rp_buffer_printf(out, "<text x=\"0\" y=\"%d\">rank %d</text>\n", rank * LANE + LANE - 7,
                         rank);
        put_bar(&picture, rank, picture.begin, picture.end, "runs", "runs");
    }
    for (size_t i = 0; i < incident->idle_count; i++)
        if (incident->idles[i].until >= 0)
            put_bar(&picture, incident->idles[i].rank, incident->idles[i].since,
                    incident->idles[i].until, "idle", "idle");
    for (size_t i = 0; i < incident->death_count; i++) {
        const struct rp_death *death = &incident->deaths[i];
        put_bar(&picture, death->rank, death->killed >= 0 ? death->killed : incident->detected,
                death->replaced, "dead", "dead");
        put_bar(&picture, death->rank, death->replaced, death->restored, "setup",
                "its setup again");
        put_bar(&picture, death->rank, death->restored, death->caught_up, "replay", "runs again");
    }
    rp_buffer_printf(out, "</svg>\n");
}

void rp_recovery_put_html(struct rp_output *out, const struct rp_recovery *recovery)
{
    rp_buffer_printf(
        &out->text, "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta "
                    "name=\"viewport\" content=\"width=device-width, initial-scale=1\"><meta "
                    "name=\"color-scheme\" content=\"light dark\">\n"
                    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                    "style-src 'unsafe-inline'; img-src data:\"><link rel=\"icon\" "
                    "href=\"data:,\"><title>reprise report</title>\n"
                    "<style>:root { color-scheme: light dark; } body { font: 14px/1.45 system-ui, "
                    "sans-serif; max-width: 1100px; margin: 1em auto; padding: 0 1em; }\n"
                    "svg { width: 100%%; } text { font-size: 12px; fill: currentColor; } .time { "
                    "text-anchor: middle; font-size: 10px; } path { stroke: currentColor; opacity: "
                    ".4; } pre { overflow-x: auto; }\n"
                    ".runs { fill: #137a4b; } .idle { fill: #c9cfd8; } .dead { fill: #c9252d; } "
                    ".setup { fill: #7a8698; } .replay { fill: #cf5a00; }\n"
                    ".key span { margin-right: 1.2em; } .key i { display: inline-block; width: "
                    "1em; height: 1em; margin-right: .3em; vertical-align: -2px; }</style></head>\n"
                    "<body><h1>Recoveries</h1><p><code>");
    put_escaped(&out->text, recovery->directory);
    rp_buffer_printf(&out->text,
                     "</code>: %d ranks, %zu recoveries in %.3f s</p>\n<p class=\"key\">",
                     recovery->ranks, recovery->count, (double)recovery->duration / 1e6);
    static const char *const keys[][2] = {{"#137a4b", "runs"},
                                          {"#c9cfd8", "idle"},
                                          {"#c9252d", "dead"},
                                          {"#7a8698", "its setup again"},
                                          {"#cf5a00", "runs again"}};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        rp_buffer_printf(&out->text, "<span><i style=\"background: %s\"></i>%s</span>", keys[i][0],
                         keys[i][1]);
    rp_buffer_printf(&out->text, "</p>\n");
    for (size_t i = 0; i < recovery->count; i++) {
        struct rp_buffer words = {0};
        put_incident(&words, &recovery->incidents[i], i);
        rp_buffer_byte(&words, 0);
        out->text.failed |= words.failed;
        put_picture(&out->text, recovery, &recovery->incidents[i]);
        rp_buffer_printf(&out->text, "<pre>");
        if (!words.failed)
            put_escaped(&out->text, (const char *)words.bytes + 1);
        rp_buffer_printf(&out->text, "</pre>\n");
        rp_buffer_free(&words);
        rp_output_spill(out);
    }
    rp_buffer_printf(&out->text, "</body></html>\n");
}
