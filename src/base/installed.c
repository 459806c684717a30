/* SPDX-License-Identifier: MIT */
/*
 * Programs find the libraries from their own place, so that a prefix can be moved. An installation
 * has them where RP_LIBRARY_FOLDER says, such as ../lib/x86_64-linux-gnu/reprise for /usr/bin; a
 * build tree has them in ../lib/reprise.
 */
#include "base/installed.h"

#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

char *rp_installed_folder(void)
{
    static const char *const places[] = {RP_LIBRARY_FOLDER, "../lib/reprise"};
    char self[PATH_MAX], *path = NULL, *real = NULL;
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);

    self[length > 0 ? length : 0] = 0;
    const char *beside = dirname(self);
    for (size_t i = 0; i < sizeof places / sizeof *places && !real; i++) {
        free(path);
        if (asprintf(&path, "%s/%s", beside, places[i]) < 0)
            return NULL;
        real = realpath(path, NULL);
    }
    if (!real)
        return path;
    free(path);
    return real;
}
