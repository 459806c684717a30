/* SPDX-License-Identifier: MIT */
#include "interpose/imports.h"

#include <string.h>

#include "preload/loaded_files.h"

static bool is_cancel(const char *name)
{
    return strcasestr(name, "mpi_cancel") || strstr(name, "3MPI7Request6Cancel");
}

static bool look_for_cancel(const struct rp_loaded_file *file, void *found)
{
    *(bool *)found = file->count == 0;
    for (size_t i = 0; i < file->count && !*(bool *)found; i++)
        *(bool *)found = file->symbols[i].st_shndx == SHN_UNDEF &&
                         is_cancel(file->names + file->symbols[i].st_name);
    return !*(bool *)found;
}

bool rp_imports_cancel(void)
{
    bool found = false;

    rp_loaded_files(look_for_cancel, &found);
    return found;
}
