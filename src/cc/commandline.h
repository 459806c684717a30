/* SPDX-License-Identifier: MIT */
/* What a compiler's command line asks for, as far as reprise-cc needs to know. GCC and clang
 * interpret these options alike. */
#ifndef RP_COMMANDLINE_H
#define RP_COMMANDLINE_H

#include <stdbool.h>

struct rp_commandline {
    bool compiles; /* code is made of a source in a language whose code can be counted or tracked */
    bool links;    /* an executable or a shared library is made */
    bool scripted; /* a shared library with a version script, which says what it exports */
    bool strict;   /* the linker rejects undefined symbols */
    bool asks;     /* only a question, as --version */
    bool sanitizes; /* by -fsanitize=, the compiler is to add code of its own */
    bool adds; /* an option says already that code is to be counted or tracked: another reprise-cc
                  was here */
};

/* Reads the `count` words behind the compiler's name, and those in response files (@file). A word
 * that cannot be read is skipped: the compiler will report it. */
void rp_commandline_read(int count, char *const words[], struct rp_commandline *out);

#endif
