/* SPDX-License-Identifier: MIT */
#include "preload/constants.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "base/diagnostics.h"
#include "preload/family.h"
#include "reprise.h"

struct rp_constants rp_constant;

static void *library_handle(void)
{
#if defined(RP_STANDARD_ABI)
    static const char *const names[] = {"libmpi_abi.so.1", "libmpi_abi.so"};
#elif defined(OPEN_MPI)
    static const char *const names[] = {"libmpi.so.40", "libmpi.so.80", "libmpi.so"};
#else
    static const char *const names[] = {"libmpich.so.12", "libmpi.so.12", "libmpich.so"};
#endif
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        void *handle = dlopen(names[i], RTLD_LAZY | RTLD_NOLOAD);
        if (handle)
            return handle;
    }
    return NULL;
}

void *rp_library_symbol(const char *name)
{
    void *symbol = dlsym(RTLD_NEXT, name);

    return symbol ? symbol : rp_library_own_symbol(name);
}

void *rp_library_own_symbol(const char *name)
{
    void *handle = library_handle();

    return handle ? dlsym(handle, name) : NULL;
}

#if defined(RP_STANDARD_ABI)
bool rp_is_openmpi(void)
{
    static int is; /* 0: not known yet; 1: no; 2: yes */
    int (*version)(char *, int *), length;
    void *symbol = is ? NULL : rp_library_symbol("MPI_Get_library_version");

    if (symbol) {
        char text[MPI_MAX_LIBRARY_VERSION_STRING];
        memcpy(&version, &symbol, sizeof version);
        is = version(text, &length) == MPI_SUCCESS && strncmp(text, "Open MPI", 8) == 0 ? 2 : 1;
    }
    return is == 2;
}
#endif

/* A program that was not compiled as position-independent may hold the library's objects itself
 * (copy relocations, usual on x86_64), and all libraries use those. So the program is searched
 * first. */
void *rp_library_object(const char *name)
{
    void *symbol = dlsym(RTLD_DEFAULT, name);

    return symbol ? symbol : rp_library_symbol(name);
}

/* A script does not show which MPI its program has. The launcher's may be the wrong one: one of the
 * standard ABI runs with the launchers of all MPIs. */
static void check_family(void)
{
#if defined(RP_STANDARD_ABI)
    static const char family[] = "abi";
#elif defined(OPEN_MPI)
    static const char family[] = "openmpi";
#else
    static const char family[] = "mpich";
#endif
    void *function = rp_library_symbol("PMPI_Init");
    Dl_info library;

    if (!function || !dladdr(function, &library) || !library.dli_fname ||
        strstr(library.dli_fname, "/libreprise")) /* which looks itself */
        return;
    bool is_abi = strstr(library.dli_fname, "libmpi_abi") != NULL;
    if (is_abi == (strcmp(family, "abi") == 0))
        return;
    rp_error("the program is linked with %s, and reprise was started for %s: say %s",
             library.dli_fname, family, is_abi ? "'--mpi abi'" : "by --mpi which MPI it is");
    _exit(REPRISE_EXIT_USAGE);
}

void rp_constants_find(void)
{
    check_family();
#ifdef OPEN_MPI
    rp_constant.world = rp_library_object("ompi_mpi_comm_world");
    rp_constant.self = rp_library_object("ompi_mpi_comm_self");
    rp_constant.comm_null = rp_library_object("ompi_mpi_comm_null");
    rp_constant.request_null = rp_library_object("ompi_request_null");
    rp_constant.byte = rp_library_object("ompi_mpi_byte");
    rp_constant.packed = rp_library_object("ompi_mpi_packed");
    rp_constant.uint64 = rp_library_object("ompi_mpi_uint64_t");
    rp_constant.int32 = rp_library_object("ompi_mpi_int32_t");
    rp_constant.sum = rp_library_object("ompi_mpi_op_sum");
    rp_constant.max = rp_library_object("ompi_mpi_op_max");
    rp_constant.datatype_null = rp_library_object("ompi_mpi_datatype_null");
    rp_constant.errors_return = rp_library_object("ompi_mpi_errors_return");
    rp_constant.message_no_proc = rp_library_object("ompi_message_no_proc");
    rp_constant.info_null = rp_library_object("ompi_mpi_info_null");
    rp_constant.unweighted = MPI_UNWEIGHTED;
#else
    rp_constant.world = MPI_COMM_WORLD;
    rp_constant.self = MPI_COMM_SELF;
    rp_constant.comm_null = MPI_COMM_NULL;
    rp_constant.request_null = MPI_REQUEST_NULL;
    rp_constant.byte = MPI_BYTE;
    rp_constant.packed = MPI_PACKED;
    rp_constant.uint64 = MPI_UINT64_T;
    rp_constant.int32 = MPI_INT32_T;
    rp_constant.sum = MPI_SUM;
    rp_constant.max = MPI_MAX;
    rp_constant.datatype_null = MPI_DATATYPE_NULL;
    rp_constant.errors_return = MPI_ERRORS_RETURN;
    rp_constant.message_no_proc = MPI_MESSAGE_NO_PROC;
    rp_constant.info_null = MPI_INFO_NULL;
#ifdef RP_STANDARD_ABI
    rp_constant.unweighted = MPI_UNWEIGHTED;
#else
    int *const *unweighted = rp_library_object("MPI_UNWEIGHTED");
    rp_constant.unweighted = unweighted ? *unweighted : NULL;
#endif
#endif
}
