/* SPDX-License-Identifier: MIT */
/* MPI_Get_library_version may be called before MPI_Init. A library that crashes does so in the
 * child. */
#include "cli/mpi_version.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SECONDS = 10, LONGEST = 8192 }; /* LONGEST: MPI_MAX_LIBRARY_VERSION_STRING of every MPI */

static void ask(const char *path, int out)
{
    static char text[LONGEST];
    int length = 0;

    alarm(SECONDS);
    unsetenv("LD_PRELOAD");
    void *library = dlopen(path, RTLD_LAZY | RTLD_GLOBAL), *symbol;
    int (*version)(char *, int *);
    if (!library || !(symbol = dlsym(library, "MPI_Get_library_version")))
        _exit(1);
    memcpy(&version, &symbol, sizeof version);
    if (version(text, &length) != 0)
        _exit(1);
    for (char *tab = text; (tab = strchr(tab, '\t'));)
        *tab = ' ';
    _exit(write(out, text, strcspn(text, "\n")) <= 0);
}

bool rp_mpi_version(const char *path, char *text, size_t size)
{
    int ends[2], status = 1;

    if (pipe(ends) != 0)
        return false;
    pid_t child = fork();
    if (child == 0)
        ask(path, ends[1]);
    close(ends[1]);
    ssize_t length = child > 0 ? read(ends[0], text, size - 1) : -1;
    close(ends[0]);
    text[length > 0 ? length : 0] = 0;
    return child > 0 && waitpid(child, &status, 0) == child && status == 0 && *text;
}
