/* SPDX-License-Identifier: MIT */
#include "cli/refused_calls.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

static const char *const refused[] = {
#include "refused.inc"
};

static const char *const known[] = {
#include "known.inc"
};

static const char *const refused_alone[] = {
#include "refused_alone.inc"
};

/* Returns the name without the P of PMPI. */
static const char *plain_name(const char *function)
{
    return function[0] == 'P' || function[0] == 'p' ? function + 1 : function;
}

static bool is_among(const char *const *names, size_t count, const char *function)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], plain_name(function)) == 0)
            return true;
    return false;
}

/* A function of MPI that api/functions.table does not have. */
static bool is_unknown(const char *function)
{
    const char *name = plain_name(function);
    size_t prefix = strncmp(name, "MPI_", 4) == 0 ? 4 : strncmp(name, "MPIX_", 5) == 0 ? 5 : 0;

    return prefix && isupper((unsigned char)name[prefix]) && strncmp(name, "MPI_T_", 6) != 0 &&
           !is_among(known, sizeof known / sizeof *known, name);
}

bool rp_refused_call_is_refused(const char *function)
{
    return is_among(refused, sizeof refused / sizeof *refused, function) || is_unknown(function);
}

bool rp_refused_call_is_refused_alone(const char *function)
{
    return !rp_refused_call_is_refused(function) &&
           is_among(refused_alone, sizeof refused_alone / sizeof *refused_alone, function);
}

bool rp_refused_call_shares_window(const char *function)
{
    return strcmp(function, "MPI_Win_allocate_shared") == 0 ||
           strcmp(function, "MPI_Win_allocate_shared_c") == 0;
}

/* Fortran's names are those of C in lower case, with endings such as _, _f08_ and _cptr_. */
bool rp_refused_call_makes_window(const char *function)
{
    static const char *const makers[] = {"mpi_win_create", "mpi_win_allocate"};
    static const char *const others[] = {"mpi_win_create_errhandler", "mpi_win_create_keyval"};
    const char *name = plain_name(function);

    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strncasecmp(name, others[i], strlen(others[i])) == 0)
            return false;
    for (size_t i = 0; i < sizeof makers / sizeof *makers; i++) {
        size_t length = strlen(makers[i]);
        if (strncasecmp(name, makers[i], length) == 0 && (name[length] == 0 || name[length] == '_'))
            return true;
    }
    return false;
}
