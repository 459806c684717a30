/* SPDX-License-Identifier: MIT */
#include "preload/caller.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "base/visibility.h"

/* Looks in libraries that only a plugin sees (RTLD_LOCAL, as Python's modules are loaded): they
 * call us, but RTLD_NEXT does not find them. */
static void *find_in_plugins(const char *name)
{
    static const char *const libraries[] = {"libgomp.so.1", "libstdc++.so.6"};

    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++) {
        void *handle = dlopen(libraries[i], RTLD_LAZY | RTLD_NOLOAD),
             *found = handle ? dlsym(handle, name) : NULL;
        if (found)
            return found; /* the handle stays open: the function must stay */
        if (handle)
            dlclose(handle);
    }
    return NULL;
}

/* A look-up that fails allocates memory. So functions that only some libraries have are looked up
 * only where they may be. */
void *rp_caller_real(const char *name)
{
    /* The C library has two versions of condition variables, and dlsym may find the older one
     * first. */
    void *found =
        strncmp(name, "pthread_cond_", 13) == 0 ? dlvsym(RTLD_NEXT, name, "GLIBC_2.3.2") : NULL;

    if (!found)
        found = dlsym(RTLD_NEXT, name);
    return found ? found : find_in_plugins(name);
}

extern RP_HIDDEN struct rp_caller_function __start_rp_real[],
    __stop_rp_real[]; /* the linker's names for the section's ends */

__attribute__((constructor)) static void find_all(void)
{
    for (struct rp_caller_function *real = __start_rp_real; real < __stop_rp_real; real++)
        if (!real->found)
            real->found = rp_caller_real(real->name);
}

static bool starts_with_any(const char *name, const char *const *starts)
{
    for (; *starts; starts++)
        if (strncmp(name, *starts, strlen(*starts)) == 0)
            return true;
    return false;
}

static enum rp_caller ask_who(uintptr_t address)
{
    /* MPIs, what is below them down to the drivers of networks, and ours. */
    static const char *const others[] = {
        "libmpi",        "libopen-",  "libopen_", "libpmi",   "libprrte", "mca_",       "pmix_mca_",
        "prte_mca_",     "libevent",  "libhwloc", "libnuma",  "libuc",    "libfabric",  "libpsm",
        "libibverbs",    "librdmacm", "libnl-",   "libmlx",   "libefa",   "libhfi",     "libhns",
        "libinfinipath", "libhcoll",  "libsharp", "libocoms", "libyaksa", "libc.so",    "ld-linux",
        "libunwind",     "libgcc_s",  "libdw",    "libelf",   "liblzma",  "libreprise", NULL};
    static const char *const runtimes[] = {"libgfortran.", NULL};
    static const char *const openmp[] = {"libgomp.", "libomp.", "libomp-", "libiomp", NULL};
    Dl_info info;

    if (!dladdr((void *)address, &info) || !info.dli_fname)
        return RP_CALLER_PROGRAM;
    const char *slash = strrchr(info.dli_fname, '/'), *name = slash ? slash + 1 : info.dli_fname;
    return starts_with_any(name, others)     ? RP_CALLER_OTHER
           : starts_with_any(name, runtimes) ? RP_CALLER_RUNTIME
           : starts_with_any(name, openmp)   ? RP_CALLER_OPENMP
                                             : RP_CALLER_PROGRAM;
}

enum rp_caller rp_caller_who(uintptr_t address)
{
    enum { KNOWN = 256 };
    static _Atomic uintptr_t known[KNOWN]; /* addresses, with the answer in the lowest two bits */
    _Atomic uintptr_t *slot = &known[(address >> 2) % KNOWN];
    uintptr_t now = atomic_load_explicit(slot, memory_order_relaxed);

    if (now >> 2 != address) {
        now = address << 2 | ask_who(address);
        atomic_store_explicit(slot, now, memory_order_relaxed);
    }
    return now & 3;
}
