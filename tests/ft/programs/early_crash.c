/* SPDX-License-Identifier: MIT */
/* A library that kills rank CRASH before its program begins. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

__attribute__((constructor)) static void crash(void)
{
    const char *rank = getenv("OMPI_COMM_WORLD_RANK"), *who = getenv("CRASH");
    if (rank && who && strcmp(rank, who) == 0)
        raise(SIGKILL);
}
