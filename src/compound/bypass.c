/* SPDX-License-Identifier: MIT */
/*
 * The command loads this library also where it cannot see what a script will run. When it is
 * loaded, it looks which functions the files of the process import. If none of them is a compound
 * one, the files' calls lead to the library behind this one.
 */
#include "compound/bypass.h"

#include <dlfcn.h>
#include <string.h>

#include "base/compound_names.h"
#include "preload/loaded_files.h"

static bool is_open;

static bool has_none(const struct rp_loaded_file *file, void *context)
{
    bool *none = context;
    bool is_program = !file->info->dlpi_name[0];

    *none = file->count > 0 || !(file->relocation_count[0] + file->relocation_count[1]);
    for (size_t i = 0; i < file->count && *none; i++) {
        const char *name = file->names + file->symbols[i].st_name;
        *none = file->symbols[i].st_shndx != SHN_UNDEF ||
                !(rp_is_compound(name) || (is_program && strcmp(name, "dlopen") == 0));
    }
    return *none;
}

/* The function behind this library, of a function whose calls enter it. */
static void *behind(const char *name)
{
    void *ours = dlsym(RTLD_DEFAULT, name);
    Dl_info info, own;

    if (!ours || !dladdr(ours, &info) || !dladdr(&is_open, &own) || info.dli_fbase != own.dli_fbase)
        return NULL;
    return dlsym(RTLD_NEXT, name);
}

static void *in_front(const char *name)
{
    return behind(name) ? dlsym(RTLD_DEFAULT, name) : NULL;
}

static bool redirect(const struct rp_loaded_file *file, void *target)
{
    rp_loaded_file_redirect(file, *(rp_redirect **)target);
    return true;
}

static void redirect_all(rp_redirect *target)
{
    rp_loaded_files(redirect, &target);
}

__attribute__((constructor)) static void open_bypass(void)
{
    rp_loaded_files(has_none, &is_open);
    if (is_open)
        redirect_all(behind);
}

void rp_bypass_end(void)
{
    if (is_open)
        redirect_all(in_front);
}

bool rp_bypass_was_open(void)
{
    return is_open;
}
