/* SPDX-License-Identifier: MIT */
/* The public face of reprise: its version and the exit statuses of its own. */
#ifndef REPRISE_H
#define REPRISE_H

#define REPRISE_VERSION_MAJOR 0
#define REPRISE_VERSION_MINOR 1
#define REPRISE_VERSION_PATCH 0
#define REPRISE_VERSION "0.1.0"

/* Launching commands return the application's status; these are ours. */
enum reprise_exit {
    REPRISE_EXIT_USAGE = 120,       /* wrong command line, setting or run */
    REPRISE_EXIT_DIVERGED = 121,    /* the replay was not the recorded run */
    REPRISE_EXIT_DAMAGED = 122,     /* the record is damaged or incomplete */
    REPRISE_EXIT_UNSUPPORTED = 123, /* the program needs what reprise refuses */
    REPRISE_EXIT_DEADLOCK = 124,    /* the ranks of a deterministic run wait for each other */
    REPRISE_EXIT_INTERNAL = 125,    /* a fault of reprise or of the system */
};

#endif
