/* SPDX-License-Identifier: MIT */
/*
 * Codecs tables and mix. First byte modulo 6, the codec by its lowest bit: 0 and 1 decode the rest
 * as it is; 2 puts the rest into a zstd frame first, so that the columns are reached; the others
 * take the rest for events, which must come back. Second byte: the number of events.
 */
#include <malloc.h>
#include <zstd.h>

#include "codec/codec.h"
#include "fuzz.h"

static struct rp_event events[256], again[256];

static enum rp_status decode(const struct rp_codec *codec, const uint8_t *bytes, size_t length,
                             size_t count)
{
    struct rp_problem why = {""};
    void *state = codec->open();

    codec->reset(state);
    size_t before = mallinfo2().uordblks + mallinfo2().hblkhd;
    enum rp_status status = codec->decode(state, bytes, length, count, events, &why);
    FUZZ_CHECK(mallinfo2().uordblks + mallinfo2().hblkhd <=
               before + count * 82 + (1 << 20)); /* zstd has tables of its own */
    fuzz_check_status(status, &why);
    for (size_t i = 0; status == RP_OK && i < count; i++)
        FUZZ_CHECK(rp_event_is_valid(&events[i]));
    codec->close(state);
    return status;
}

/* What was decoded is encoded and decoded again; with mix twice, so that something was learnt. */
static void round_trip(const struct rp_codec *codec, size_t count)
{
    struct rp_problem why;
    void *encoder = codec->open(), *decoder = codec->open();

    codec->reset(encoder);
    codec->reset(decoder);
    for (int i = 0; i < 2; i++) {
        struct rp_buffer payload = {0};
        FUZZ_CHECK(codec->encode(encoder, events, count, &payload) == RP_OK);
        FUZZ_CHECK(codec->decode(decoder, payload.bytes, payload.length, count, again, &why) ==
                   RP_OK);
        FUZZ_CHECK(memcmp(events, again, count * sizeof *events) == 0);
        rp_buffer_free(&payload);
    }
    codec->close(encoder);
    codec->close(decoder);
}

static enum rp_status decode_columns(const uint8_t *bytes, size_t length, size_t count)
{
    size_t room = ZSTD_compressBound(length);
    uint8_t *frame = malloc(room);
    size_t stored = ZSTD_compress(frame, room, bytes, length, 1);
    enum rp_status status = decode(&rp_codec_tables, frame, stored, count);

    free(frame);
    return status;
}

static size_t take_events(const uint8_t *bytes, size_t length)
{
    size_t count = 0;

    for (; length >= sizeof *events && count < 256;
         bytes += sizeof *events, length -= sizeof *events) {
        memcpy(&events[count], bytes, sizeof *events);
        events[count].kind %= 16;
        count += (size_t)rp_event_is_valid(&events[count]);
    }
    return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    if (length < 2)
        return 0;
    size_t count = (size_t)bytes[1] + 1;
    int way = bytes[0] % 6;
    const struct rp_codec *codec = way % 2 ? &rp_codec_mix : &rp_codec_tables;
    enum rp_status status = RP_DAMAGED;

    if (way < 2) {
        status = decode(codec, bytes + 2, length - 2, count);
    } else if (way == 2) {
        status = decode_columns(bytes + 2, length - 2, count);
    } else {
        count = take_events(bytes + 2, length - 2);
        status = count > 0 ? RP_OK : RP_DAMAGED;
    }
    if (status == RP_OK)
        round_trip(codec, count);
    return 0;
}
