/* SPDX-License-Identifier: MIT */
/* Calls spin() of a library, or of one that it loads, and tells whether that counts ticks. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

uint64_t ticks_now(void);
int spin(const char *);
int main(int argc, char **argv)
{
    static char text[10001];
    memset(text, 'a', sizeof text - 1);
    int (*loaded)(const char *) = spin;
    if (argc > 1)
        *(void **)&loaded = dlsym(dlopen(argv[1], RTLD_NOW), "spin");
    if (!loaded)
        return puts(dlerror()), 1;
    uint64_t before = ticks_now();
    int n = loaded(text);
    printf("%s\n", ticks_now() - before > (uint64_t)n ? "counts" : "does not count");
    return n != 10000;
}
