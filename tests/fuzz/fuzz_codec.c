/* SPDX-License-Identifier: MIT */
/*
 * Codec tables. First byte: 0 decodes the rest as it is; 1 puts the rest into a zstd frame first, so that the columns are reached; 2 takes the rest
 * for events, which must come back. Second byte: the number of events.
 */
#include <zstd.h>

#include "codec/codec.h"
#include "fuzz.h"

static struct rp_event events[256], again[256];

static enum rp_status decode(const uint8_t *bytes, size_t length, uint32_t raw, size_t count)
{
    struct rp_buffer scratch = {0};
    struct rp_problem why = {""};
    enum rp_status status = rp_codec_tables.decode(bytes, length, raw, count, &scratch, events, &why);

    fuzz_check_status(status, &why);
    FUZZ_CHECK(scratch.room <= count * 82 + 64);
    for (size_t i = 0; status == RP_OK && i < count; i++)
        FUZZ_CHECK(rp_event_is_valid(&events[i]));
    rp_buffer_free(&scratch);
    return status;
}

/* What was decoded is encoded and decoded again. */
static void round_trip(size_t count)
{
    struct rp_buffer scratch = {0}, payload = {0};
    struct rp_problem why;
    uint32_t raw;

    FUZZ_CHECK(rp_codec_tables.encode(events, count, &scratch, &payload, &raw) == RP_OK);
    FUZZ_CHECK(rp_codec_tables.decode(payload.bytes, payload.length, raw, count, &scratch, again, &why) == RP_OK);
    FUZZ_CHECK(memcmp(events, again, count * sizeof *events) == 0);
    rp_buffer_free(&scratch);
    rp_buffer_free(&payload);
}

static enum rp_status decode_columns(const uint8_t *bytes, size_t length, size_t count)
{
    size_t room = ZSTD_compressBound(length);
    uint8_t *frame = malloc(room);
    size_t stored = ZSTD_compress(frame, room, bytes, length, 1);
    enum rp_status status = decode(frame, stored, (uint32_t)length, count);

    free(frame);
    return status;
}

static size_t take_events(const uint8_t *bytes, size_t length)
{
    size_t count = 0;

    for (; length >= sizeof *events && count < 256; bytes += sizeof *events, length -= sizeof *events) {
        memcpy(&events[count], bytes, sizeof *events);
        events[count].kind %= 16;
        count += (size_t)rp_event_is_valid(&events[count]);
    }
    return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    if (length < 6)
        return 0;
    size_t count = (size_t)bytes[1] + 1;
    if (bytes[0] % 3 == 0) {
        if (decode(bytes + 6, length - 6, rp_load_u32(bytes + 2), count) == RP_OK)
            round_trip(count);
    } else if (bytes[0] % 3 == 1) {
        if (decode_columns(bytes + 2, length - 2, count) == RP_OK)
            round_trip(count);
    } else {
        count = take_events(bytes + 2, length - 2);
        if (count > 0)
            round_trip(count);
    }
    return 0;
}
