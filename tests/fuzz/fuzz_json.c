/* SPDX-License-Identifier: MIT */
/* Any text parses or is refused; every string that was read is written and read again the same. */
#include "base/json.h"
#include "fuzz.h"

static void check_string(const char *string)
{
    struct rp_buffer out = {0};
    struct rp_json *one, *two;
    struct rp_problem why;

    rp_json_put_string(&out, string);
    FUZZ_CHECK(rp_json_parse((char *)out.bytes, out.length, &one, &why) == RP_OK &&
               one->kind == RP_JSON_STRING);
    rp_buffer_clear(&out);
    rp_json_put_string(&out, one->string);
    FUZZ_CHECK(rp_json_parse((char *)out.bytes, out.length, &two, &why) == RP_OK &&
               strcmp(one->string, two->string) == 0);
    rp_json_free(one);
    rp_json_free(two);
    rp_buffer_free(&out);
}

static void visit(const struct rp_json *value)
{
    for (; value; value = value->next) {
        if (value->key)
            check_string(value->key);
        FUZZ_CHECK((value->kind == RP_JSON_STRING) == (value->string != NULL));
        if (value->string)
            check_string(value->string);
        visit(value->child);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct rp_json *value = NULL;
    struct rp_problem why = {""};
    enum rp_status status = rp_json_parse((const char *)bytes, length, &value, &why);

    fuzz_check_status(status, &why);
    if (status == RP_OK)
        visit(value);
    rp_json_free(value);
    return 0;
}
