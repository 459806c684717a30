/* SPDX-License-Identifier: MIT */
/*
 * A file calls a function of another file through a slot of its own, which the loader fills. Each
 * unknown function gets a stand-in, which needs no prototype because it never returns, and its
 * address goes into all slots of that function. Calls that the MPI library makes itself have slots
 * in its own files, which stay as they are; so do addresses that a program looks up by dlsym.
 */
#include "preload/unknown_functions.h"

#include <ctype.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "job/settings.h"
#include "preload/loaded_files.h"

enum { MOST = 64 };

static struct {
    const char *names[MOST]; /* of the functions that stand-ins refuse */
    size_t count;
    void (*refuse)(const char *);
} unknown;

static void stop(size_t number)
{
    unknown.refuse(unknown.names[number]);
    abort();
}

#define STAND_IN(n)                                                                                \
    static void stand_in_##n(void)                                                                 \
    {                                                                                              \
        stop(0##n);                                                                                \
    }
#define EIGHT(DO, n) DO(n##0) DO(n##1) DO(n##2) DO(n##3) DO(n##4) DO(n##5) DO(n##6) DO(n##7)
#define ALL(DO)                                                                                    \
    EIGHT(DO, 0)                                                                                   \
    EIGHT(DO, 1) EIGHT(DO, 2) EIGHT(DO, 3) EIGHT(DO, 4) EIGHT(DO, 5) EIGHT(DO, 6) EIGHT(DO, 7)
ALL(STAND_IN) /* numbered in octal */

#define ADDRESS(n) stand_in_##n,
static void (*const stand_ins[MOST])(void) = {ALL(ADDRESS)};

static int compare(const void *name, const void *known)
{
    return strcmp(name, *(const char *const *)known);
}

static const char *plain_name(const char *name)
{
    return name[0] == 'P' ? name + 1 : name;
}

/* MPI_T_ functions only tell of the MPI library itself. */
static bool is_unknown(const char *name)
{
    const char *plain = plain_name(name);
    size_t prefix = strncmp(plain, "MPI_", 4) == 0 ? 4 : strncmp(plain, "MPIX_", 5) == 0 ? 5 : 0;

    return prefix && isupper((unsigned char)plain[prefix]) && strncmp(plain, "MPI_T_", 6) != 0 &&
           !bsearch(plain, rp_known_functions, rp_known_function_count, sizeof(char *), compare) &&
           !rp_list_has(rp_setting("REPRISE_ALLOW"), plain);
}

static bool is_our_library(const char *path)
{
    const char *slash = strrchr(path, '/');

    return strncmp(slash ? slash + 1 : path, "libreprise", 10) == 0;
}

/* Returns whether the name is that of a function (not of a variable) that another library has. One
 * of ours, in front of this one, may have it though mpi.h has not, as MPI_Isendrecv. */
static bool is_function(const char *name)
{
    void *address = dlsym(RTLD_DEFAULT, name), *entry = NULL;
    Dl_info info;

    if (!address || !dladdr1(address, &info, &entry, RTLD_DL_SYMENT) || !entry ||
        is_our_library(info.dli_fname))
        return false;
    unsigned char type = ELF64_ST_TYPE(((const ElfW(Sym) *)entry)->st_info);
    return type == STT_FUNC || type == STT_GNU_IFUNC;
}

/* Returns the stand-in of the function. The last one stands for all that are too many. */
static void *stand_in_of(const char *name)
{
    size_t i = 0;
    void *address;

    while (i < unknown.count && strcmp(unknown.names[i], plain_name(name)) != 0)
        i++;
    if (i == MOST)
        i = MOST - 1;
    if (i == unknown.count)
        unknown.names[unknown.count++] = plain_name(name);
    memcpy(&address, &stand_ins[i], sizeof address);
    return address;
}

static void *replacement(const char *name)
{
    return is_unknown(name) && is_function(name) ? stand_in_of(name) : NULL;
}

static bool has_unknown(const struct rp_loaded_file *file)
{
    for (size_t i = 0; i < file->count; i++)
        if (file->symbols[i].st_shndx == SHN_UNDEF &&
            is_unknown(file->names + file->symbols[i].st_name))
            return true;
    return false;
}

static bool look(const struct rp_loaded_file *file, void *unused)
{
    (void)unused;
    if (has_unknown(file))
        rp_loaded_file_redirect(file, replacement);
    return true;
}

void rp_unknown_functions_refuse(void (*refuse)(const char *))
{
    unknown.refuse = refuse;
    rp_loaded_files(look, NULL);
}
