/* SPDX-License-Identifier: MIT */
#include "event/wrappers.h"

#include <dlfcn.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "job/settings.h"

enum { NAME_MOST = 512 };

/* hypre, AMG; Boost.MPI; PETSc; mpi4py; the C++ bindings of MPI. */
static const char known[] = "hypre_MPI_*,boost::mpi::*,MPIU_*,Petsc*MPI*,PetscCommGetNewTag,"
                            "PetscGatherMessageLengths*,PetscPostIrecv*,"
                            "__pyx_*mpi4py*,MPI::*";

const char *rp_wrappers_list(void)
{
    static char *list;
    const char *more = list ? NULL : rp_setting("REPRISE_WRAPPERS");

    if (more && asprintf(&list, "%s,%s", known, more) < 0)
        list = NULL;
    return list ? list : known;
}

/* C++ */

typedef char *demangle_function(const char *name, char *buffer, size_t *length, int *status);

/* Demangles a C++ name. C++ programs have this function; a command of ours may have to load it. */
static char *demangle(const char *symbol)
{
    static demangle_function *function;
    static bool asked;
    int status;

    if (strncmp(symbol, "_Z", 2) != 0)
        return NULL;
    if (!asked) {
        void *library = NULL;
        function = (demangle_function *)dlsym(RTLD_DEFAULT, "__cxa_demangle");
        if (!function && (library = dlopen("libstdc++.so.6", RTLD_NOW | RTLD_LOCAL)))
            function = (demangle_function *)dlsym(library, "__cxa_demangle");
        asked = true;
    }
    return function ? function(symbol, NULL, NULL, &status) : NULL;
}

/* Cuts `int ns::name<long (*)(int)>(double) const` down to `ns::name`: the arguments of templates,
 * the parameters with what is behind them, and what stands before the name are left out. */
static void cut(const char *whole, char out[NAME_MOST])
{
    size_t length = 0, depth = 0;

    for (const char *at = whole; *at && length + 1 < NAME_MOST; at++) {
        if (*at == '>' || *at == ')')
            depth -= depth > 0;
        else if (*at == '(' && depth == 0 && strncmp(at, "(anonymous namespace)", 21) != 0)
            break;
        else if (*at == '<' || *at == '(')
            depth++;
        else if (*at == ' ' && depth == 0)
            length = 0;
        else if (depth == 0)
            out[length++] = *at;
    }
    out[length] = 0;
}

/* Lists */

static bool matches(const char *list, const char *name)
{
    for (const char *at = list; *at; at += strspn(at, ",")) {
        char pattern[NAME_MOST];
        size_t length = strcspn(at, ",");
        if (length > 0 && length < sizeof pattern) {
            memcpy(pattern, at, length);
            pattern[length] = 0;
            if (fnmatch(pattern, name, 0) == 0)
                return true;
        }
        at += length;
    }
    return false;
}

bool rp_wrappers_name(const char *list, const char *symbol)
{
    char name[NAME_MOST];
    char *whole = list && symbol ? demangle(symbol) : NULL;

    if (!list || !symbol)
        return false;
    if (!whole)
        return matches(list, symbol);
    cut(whole, name);
    bool found = matches(list, name);
    free(whole);
    return found;
}
