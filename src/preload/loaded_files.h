/* SPDX-License-Identifier: MIT */
/* The files of this process that may call MPI: all that are loaded, but for those of the MPI
 * library and ours. */
#ifndef RP_LOADED_FILES_H
#define RP_LOADED_FILES_H

#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>

/* A loaded file: what the loader knows of it. */
struct rp_loaded_file {
    const struct dl_phdr_info *info;
    const ElfW(Sym) * symbols; /* its dynamic symbols */
    size_t count;              /* 0: their number cannot be found */
    const char *names;         /* of symbols */
    const ElfW(Rela) * relocations[2];
    size_t relocation_count[2];
};

/* Calls `visit` for each such file that has dynamic symbols, until one returns false. Files that
 * are loaded later are not seen. */
void rp_loaded_files(bool (*visit)(const struct rp_loaded_file *file, void *context),
                     void *context);

/* Returns the address to which calls of a function of another file are to lead; NULL: as before. */
typedef void *rp_redirect(const char *name);

/* Changes where the file's calls of other files' functions lead: its slots, which the loader has
 * filled. Addresses that the program has looked up stay as they are. */
void rp_loaded_file_redirect(const struct rp_loaded_file *file, rp_redirect *target);

#endif
