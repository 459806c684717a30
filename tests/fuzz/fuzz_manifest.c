/* SPDX-License-Identifier: MIT */
/* Any description is read or refused; any whose checksum is right, too; one that was read is
 * written and read again the same. */
#include "base/crc32c.h"
#include "fuzz.h"
#include "log/manifest.h"

static bool same(const struct rp_manifest *a, const struct rp_manifest *b)
{
    size_t i = 0;

    while (a->command[i] && b->command[i] && strcmp(a->command[i], b->command[i]) == 0)
        i++;
    return a->run == b->run && a->ranks == b->ranks && a->launched_inside == b->launched_inside &&
           strcmp(a->mpi, b->mpi) == 0 && strcmp(a->program, b->program) == 0 && !a->command[i] &&
           !b->command[i];
}

static struct rp_manifest write_and_read(const struct rp_manifest *manifest)
{
    struct rp_manifest again;
    struct rp_problem why;
    char path[8192];

    snprintf(path, sizeof path, "%s/incomplete", fuzz_directory());
    unlink(path);
    snprintf(path, sizeof path, "%s/manifest.json", fuzz_directory());
    unlink(path);
    FUZZ_CHECK(rp_manifest_write(fuzz_directory(), manifest, &why) == RP_OK);
    FUZZ_CHECK(rp_manifest_read(fuzz_directory(), &again, &why) == RP_OK && !again.complete);
    return again;
}

static void read_one(const uint8_t *bytes, size_t length)
{
    struct rp_manifest first, second, third;
    struct rp_problem why = {""};

    fuzz_write("manifest.json", bytes, length);
    enum rp_status status = rp_manifest_read(fuzz_directory(), &first, &why);
    fuzz_check_status(status, &why);
    if (status != RP_OK)
        return;
    FUZZ_CHECK(first.complete && first.ranks > 0 && first.command && first.allowed && first.mpi);
    second = write_and_read(&first); /* what is not UTF-8 changes here, and then no more */
    third = write_and_read(&second);
    FUZZ_CHECK(same(&second, &third));
    rp_manifest_free(&first);
    rp_manifest_free(&second);
    rp_manifest_free(&third);
}

/* As it is, and with a right checksum in place of its last brace, behind which few would come. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct rp_buffer text = {0};
    const uint8_t *end = length > 0 ? memrchr(bytes, '}', length) : NULL;

    read_one(bytes, length);
    rp_buffer_put(&text, bytes, end ? (size_t)(end - bytes) : length);
    rp_buffer_printf(&text, ",\n  \"crc32c\": \"%08x\"\n}\n", rp_crc32c(text.bytes, text.length));
    if (!text.failed)
        read_one(text.bytes, text.length);
    rp_buffer_free(&text);
    return 0;
}
