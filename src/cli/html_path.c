/* SPDX-License-Identifier: MIT */
#include "cli/html_path.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/text.h"

bool rp_ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), wanted = strlen(end);

    return length >= wanted && strcmp(text + length - wanted, end) == 0;
}

/* The last part of a path, without slashes at its end; "." and ".." by their real names. */
static char *name_of(const char *path)
{
    char *real = realpath(path, NULL);
    const char *slash = strrchr(real ? real : path, '/');
    char *name = strdup(slash ? slash + 1 : real ? real : path);

    free(real);
    return name;
}

char *rp_html_path(const char *wanted, const char *record)
{
    char *name = wanted ? strdup(wanted) : name_of(record), *path = NULL;

    if (wanted || !name)
        return name;
    if (asprintf(&path, "%s.html", name) < 0)
        path = NULL;
    free(name);
    return path;
}

char *rp_html_path_of_two(const char *wanted, const char *one, const char *other)
{
    char *names[2] = {wanted ? NULL : name_of(one), wanted ? NULL : name_of(other)}, *path = NULL;

    if (wanted)
        return strdup(wanted);
    if (names[0] && names[1] && asprintf(&path, "%s-%s.html", names[0], names[1]) < 0)
        path = NULL;
    free(names[0]);
    free(names[1]);
    return path;
}

void rp_page_tell(const char *path)
{
    struct stat of_file;
    char *real = realpath(path, NULL);
    double size = stat(path, &of_file) == 0 ? (double)of_file.st_size : 0;

    printf("%s (%.1f MB)\nopen it in any browser, for example: xdg-open %s\n",
           rp_text_shown(real ? real : path), size / 1e6, rp_text_shown(path));
    free(real);
}
