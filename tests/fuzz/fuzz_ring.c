/* SPDX-License-Identifier: MIT */
/* A ring file. First byte: 0 the rest as it is; else the header's checksum is made right first.
 * Second byte: first event to be asked for. */
#include "base/crc32c.h"
#include "event/ring.h"
#include "fuzz.h"

enum { RUN = 7, RANK = 1, MOST = RP_RING_HEADER + 64 * 32 };

/* The input is a header of 240 bytes and slots: zeros in between would only slow the fuzzer
 * down. */
static size_t unpack(const uint8_t *bytes, size_t length, uint8_t *out)
{
    size_t header = length < 240 ? length : 240, rest = length - header;

    memset(out, 0, MOST);
    memcpy(out, bytes, header);
    if (length <= 240)
        return length == 240 ? RP_RING_HEADER : length;
    rest = rest < MOST - RP_RING_HEADER ? rest : MOST - RP_RING_HEADER;
    memcpy(out + RP_RING_HEADER, bytes + 240, rest);
    return RP_RING_HEADER + rest;
}

static void make_right(uint8_t *bytes)
{
    uint32_t crc = rp_crc32c(bytes, 60);

    for (int i = 0; i < 4; i++)
        bytes[60 + i] = (uint8_t)(crc >> 8 * i);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    static uint8_t image[MOST];
    struct rp_ring_rest rest = {0};
    struct rp_problem why = {""};
    char path[8192];

    if (length < 2)
        return 0;
    size_t size = unpack(bytes + 2, length - 2, image);
    if (bytes[0])
        make_right(image);
    fuzz_write("rank-00001.0.ring", image, size);
    snprintf(path, sizeof path, "%s/rank-00001.0.ring", fuzz_directory());
    enum rp_status status = rp_ring_read(path, RUN, RANK, 0, bytes[1], &rest, &why);
    fuzz_check_status(status, &why);
    if (status != RP_OK)
        return 0;
    FUZZ_CHECK(rest.count <= 65);
    for (size_t i = 0; i < rest.count; i++)
        FUZZ_CHECK(rp_event_is_valid(&rest.events[i]));
    for (size_t i = 1; rest.times && i < rest.count; i++)
        FUZZ_CHECK(rest.times[i] >= rest.times[i - 1]);
    free(rest.events);
    free(rest.times);
    return 0;
}
