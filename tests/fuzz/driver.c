/* SPDX-License-Identifier: MIT */
/* Runs a fuzz target over the files of a directory, once each: the corpus as an ordinary test,
 * without libFuzzer. */
#include <dirent.h>

#include "base/file.h"
#include "fuzz.h"

static int run_file(const char *directory, const char *name)
{
    struct rp_buffer bytes = {0};
    struct rp_problem why;
    char path[8192];

    snprintf(path, sizeof path, "%s/%s", directory, name);
    if (rp_read_file(path, 1 << 20, &bytes, &why) != RP_OK) {
        fprintf(stderr, "%s\n", why.text);
        return 1;
    }
    uint8_t *exact = malloc(bytes.length ? bytes.length
                                         : 1); /* exactly as long as the input, for the sanitizer */
    memcpy(exact, bytes.bytes, bytes.length);
    LLVMFuzzerTestOneInput(exact, bytes.length);
    free(exact);
    rp_buffer_free(&bytes);
    return 0;
}

int main(int argc, char **argv)
{
    DIR *directory = argc == 2 ? opendir(argv[1]) : NULL;
    struct dirent *entry;
    int files = 0, failed = 0;

    if (!directory) {
        fprintf(stderr, "usage: %s CORPUS\n", argv[0]);
        return 2;
    }
    while ((entry = readdir(directory)))
        if (entry->d_name[0] != '.')
            failed += run_file(argv[1], entry->d_name), files++;
    closedir(directory);
    printf("%d inputs, %d failed\n", files, failed);
    return failed > 0 || files == 0;
}
