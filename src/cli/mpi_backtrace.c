/* SPDX-License-Identifier: MIT */
/*
 * Walks the stack of the process's first thread, from the innermost frame out. Of all frames with
 * the name of an MPI function the outermost is the call, since MPI calls itself, and our library
 * calls MPI under its own names. The first frame outside of it that has a name and belongs neither
 * to our library nor to a wrapper is the program's. libdw does the walk (it attaches by ptrace, and
 * detaches at the end). It is opened when it is first needed, as for lines of source
 * (event/source_lines.h).
 */
#include "cli/mpi_backtrace.h"

#include <dlfcn.h>
#include <elfutils/libdwfl.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "event/wrappers.h"

/* The functions of libdw that we use. */
#define FUNCTIONS(each)                                                                            \
    each(dwfl_begin) each(dwfl_end) each(dwfl_report_end) each(dwfl_linux_proc_report)             \
        each(dwfl_linux_proc_attach) each(dwfl_getthread_frames) each(dwfl_frame_pc)               \
            each(dwfl_addrmodule) each(dwfl_module_addrname) each(dwfl_module_getsrc)              \
                each(dwfl_module_info) each(dwfl_lineinfo) each(dwfl_linux_proc_find_elf)          \
                    each(dwfl_standard_find_debuginfo)

#define DECLARE(name) __typeof__(name) *name;

static struct {
    FUNCTIONS(DECLARE)
} dw;

struct walk {
    Dwfl *session;
    struct rp_mpi_backtrace *out;
    bool wants_caller; /* an MPI function was found; its caller was not, yet */
    int frames;
};

static bool find_functions(void)
{
    void *library = dlopen("libdw.so.1", RTLD_NOW | RTLD_LOCAL);
    bool all = library != NULL;

#define FIND(name) all = all && (dw.name = (__typeof__(name) *)dlsym(library, #name)) != NULL;
    FUNCTIONS(FIND)
#undef FIND
    return all;
}

/* Returns whether a function is one of MPI: MPI_Recv, PMPI_Recv, mpi_recv_, pmpi_recv_,
 * mpi_recv_f08_. */
static bool is_mpi(const char *name)
{
    return strncasecmp(name, "MPI_", 4) == 0 || strncasecmp(name, "PMPI_", 5) == 0;
}

static bool is_ours(Dwfl_Module *module)
{
    const char *path = dw.dwfl_module_info(module, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
    const char *slash = path ? strrchr(path, '/') : NULL;

    return slash && strncmp(slash, "/libreprise", 11) == 0;
}

/* Puts the wrapper in front of the list out->through. */
static void put_wrapper(struct walk *walk, const char *name)
{
    char *through = walk->out->through;
    size_t length = strcspn(name, "."), inner = strlen(through), comma = inner > 0 ? 2 : 0;

    if (length + comma + inner + 1 > sizeof walk->out->through)
        return;
    memmove(through + length + comma, through, inner + 1);
    memcpy(through + length, ", ", comma);
    memcpy(through, name, length);
}

/* Sets function, file and line of the caller, and ends the search. */
static void set_caller(struct walk *walk, Dwfl_Module *module, const char *name, Dwarf_Addr address)
{
    struct rp_mpi_backtrace *out = walk->out;
    Dwfl_Line *line = dw.dwfl_module_getsrc(module, address);
    const char *file = line ? dw.dwfl_lineinfo(line, NULL, &out->line, NULL, NULL, NULL) : NULL;

    snprintf(out->function, sizeof out->function, "%s", name);
    snprintf(out->file, sizeof out->file, "%s", file ? file : "");
    walk->wants_caller = false;
}

static int visit(Dwfl_Frame *frame, void *context)
{
    struct walk *walk = context;
    Dwarf_Addr address;
    bool is_innermost;

    if (!dw.dwfl_frame_pc(frame, &address, &is_innermost) || walk->frames++ > 200)
        return DWARF_CB_ABORT;
    if (!is_innermost)
        address--; /* inside the call */
    Dwfl_Module *module = dw.dwfl_addrmodule(walk->session, address);
    const char *name = module ? dw.dwfl_module_addrname(module, address) : NULL;
    if (name && is_mpi(name)) {
        *walk->out = (struct rp_mpi_backtrace){0};
        snprintf(walk->out->call, sizeof walk->out->call, "%s", name[0] == 'P' ? name + 1 : name);
        walk->wants_caller = true;
    } else if (name && walk->wants_caller && rp_wrappers_name(rp_wrappers_list(), name)) {
        put_wrapper(walk, name);
    } else if (name && walk->wants_caller && !is_ours(module)) {
        set_caller(walk, module, name, address);
    }
    return DWARF_CB_OK;
}

bool rp_mpi_backtrace_find(pid_t pid, struct rp_mpi_backtrace *out)
{
    static Dwfl_Callbacks callbacks;
    static int can; /* 0: not tried yet */
    struct walk walk = {.out = out};

    *out = (struct rp_mpi_backtrace){0};
    if (can == 0)
        can = find_functions() ? 1 : -1;
    if (can < 0)
        return false;
    callbacks.find_elf = dw.dwfl_linux_proc_find_elf;
    callbacks.find_debuginfo = dw.dwfl_standard_find_debuginfo;
    walk.session = dw.dwfl_begin(&callbacks);
    if (!walk.session)
        return false;
    bool attached = dw.dwfl_linux_proc_report(walk.session, pid) == 0 &&
                    dw.dwfl_report_end(walk.session, NULL, NULL) == 0 &&
                    dw.dwfl_linux_proc_attach(walk.session, pid, false) == 0;
    if (attached)
        dw.dwfl_getthread_frames(walk.session, pid, visit, &walk);
    dw.dwfl_end(walk.session);
    return attached && walk.frames > 1;
}
