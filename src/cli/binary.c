/* SPDX-License-Identifier: MIT */
/* The libraries of a dynamic program are asked of its own loader, as ldd does, so that what comes
 * through other libraries is seen too. */
#include "cli/binary.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/compound_names.h"
#include "cli/refused_calls.h"

static char *search_path(const char *name)
{
    if (strchr(name, '/'))
        return access(name, F_OK) == 0 ? strdup(name) : NULL;
    const char *path = getenv("PATH");
    for (const char *at = path; at && *at; at += strspn(at, ":")) {
        size_t length = strcspn(at, ":");
        char *whole;
        if (asprintf(&whole, "%.*s/%s", (int)length, at, name) < 0)
            return NULL;
        if (access(whole, X_OK) == 0)
            return whole;
        free(whole);
        at += length;
    }
    return NULL;
}

/* Imports */

static Elf_Scn *dynamic_symbols(Elf *elf, GElf_Shdr *header)
{
    Elf_Scn *section = NULL;

    while ((section = elf_nextscn(elf, section)))
        if (gelf_getshdr(section, header) && header->sh_type == SHT_DYNSYM)
            return section;
    return NULL;
}

/* Of a program: what it loads later is not seen. */
static bool may_load(const char *name)
{
    return rp_is_compound(name) || strcmp(name, "dlopen") == 0;
}

static bool imports(Elf *elf, bool (*is_meant)(const char *))
{
    GElf_Shdr header;
    GElf_Sym symbol;
    Elf_Scn *section = elf ? dynamic_symbols(elf, &header) : NULL;
    Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;

    for (int i = 0; data && gelf_getsym(data, i, &symbol); i++) {
        const char *name = elf_strptr(elf, header.sh_link, symbol.st_name);
        if (symbol.st_shndx == SHN_UNDEF && name && is_meant(name))
            return true;
    }
    return false;
}

static bool library_has_compounds(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    Elf *elf = fd >= 0 ? elf_begin(fd, ELF_C_READ_MMAP, NULL) : NULL;
    bool found = imports(elf, rp_is_compound);

    if (elf)
        elf_end(elf);
    if (fd >= 0)
        close(fd);
    return found;
}

/* Libraries */

static bool starts_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

static const char *mpi_of_library(const char *soname)
{
    static const char *const open_mpi[] = {"libmpi.so.40",       "libmpi.so.80",
                                           "libmpi.so.20",       "libmpi_cxx.so.40",
                                           "libmpi_mpifh.so.40", "libmpi_usempif08.so.40"};
    static const char *const mpich[] = {"libmpich.so.", "libmpi.so.12", "libpmpich.so.",
                                        "libmpichfort.so.", "libmpichcxx.so."};

    if (starts_with(soname, "libmpi_abi.so."))
        return "abi";
    for (size_t i = 0; i < sizeof open_mpi / sizeof *open_mpi; i++)
        if (starts_with(soname, open_mpi[i]))
            return "openmpi";
    for (size_t i = 0; i < sizeof mpich / sizeof *mpich; i++)
        if (starts_with(soname, mpich[i]))
            return "mpich";
    return NULL;
}

/* A line of the loader: `	libmpi.so.40 => /lib/.../libmpi.so.40 (0x...)` */
static void note_library(struct rp_binary *b, char *line)
{
    char soname[256], path[PATH_MAX] = "";

    if (sscanf(line, " %255s => %4095s", soname, path) < 1)
        return;
    const char *mpi = mpi_of_library(soname);
    if (mpi && !b->mpi) {
        b->mpi = mpi;
        b->mpi_library = strdup(path);
    }
    if (starts_with(soname, "libasan.so") && !b->asan)
        b->asan = strdup(path);
    b->fortran |= starts_with(soname, "libgfortran.so") || starts_with(soname, "libmpi_mpifh") ||
                  starts_with(soname, "libmpichfort");
    b->shmem |= starts_with(soname, "liboshmem.so");
    if (!b->compounds && !mpi && !starts_with(soname, "libmpi"))
        b->compounds = library_has_compounds(path);
    b->cxx |= starts_with(soname, "libstdc++.so");
}

static void run_loader(const char *path, int out)
{
    char *const arguments[] = {(char *)path, NULL};
    char *const environment[] = {"LD_TRACE_LOADED_OBJECTS=1", NULL, NULL};
    const char *library_path = getenv("LD_LIBRARY_PATH");
    char *setting = NULL;

    if (library_path && asprintf(&setting, "LD_LIBRARY_PATH=%s", library_path) > 0)
        ((char **)environment)[1] = setting;
    dup2(out, STDOUT_FILENO);
    int null = open("/dev/null", O_RDWR);
    dup2(null, STDERR_FILENO);
    dup2(null, STDIN_FILENO);
    execve(path, arguments, environment);
    _exit(127);
}

static void read_libraries(struct rp_binary *b)
{
    int ends[2];
    char *line = NULL;
    size_t room = 0;

    if (pipe(ends) != 0)
        return;
    pid_t child = fork();
    if (child == 0)
        run_loader(b->path, ends[1]);
    close(ends[1]);
    FILE *in = child > 0 ? fdopen(ends[0], "r") : NULL;
    while (in && getline(&line, &room, in) > 0)
        note_library(b, line);
    free(line);
    in ? fclose(in) : close(ends[0]);
    if (child > 0)
        waitpid(child, NULL, 0);
}

/* Symbols */

static void note_symbols(struct rp_binary *b, Elf *elf, Elf_Scn *section, const GElf_Shdr *header)
{
    Elf_Data *data = elf_getdata(section, NULL);
    size_t count = header->sh_entsize ? header->sh_size / header->sh_entsize : 0, found = 0;

    if (!data)
        return;
    b->refused = calloc(count + 1, sizeof *b->refused);
    for (size_t i = 0; i < count && b->refused; i++) {
        GElf_Sym symbol;
        if (!gelf_getsym(data, (int)i, &symbol) || symbol.st_shndx != SHN_UNDEF ||
            GELF_ST_TYPE(symbol.st_info) == STT_OBJECT)
            continue;
        const char *name = elf_strptr(elf, header->sh_link, symbol.st_name);
        if (!name)
            continue;
        if (rp_refused_call_is_refused(name))
            b->refused[found++] = strdup(name);
        if (!b->makes_window && rp_refused_call_makes_window(name))
            b->makes_window = strdup(name);
        if (!b->refused_alone && rp_refused_call_is_refused_alone(name))
            b->refused_alone = strdup(name);
    }
}

static void read_sections(struct rp_binary *b, Elf *elf)
{
    Elf_Scn *section = NULL;
    GElf_Shdr header;

    while ((section = elf_nextscn(elf, section)))
        if (gelf_getshdr(section, &header) && header.sh_type == SHT_DYNSYM && !b->refused)
            note_symbols(b, elf, section, &header);
}

static bool has_interpreter(Elf *elf)
{
    size_t count = 0;
    GElf_Phdr segment;

    elf_getphdrnum(elf, &count);
    for (size_t i = 0; i < count; i++)
        if (gelf_getphdr(elf, (int)i, &segment) && segment.p_type == PT_INTERP)
            return true;
    return false;
}

static void read_elf(struct rp_binary *b, int fd)
{
    GElf_Ehdr header;

    elf_version(EV_CURRENT);
    Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
    if (elf && elf_kind(elf) == ELF_K_ELF && gelf_getehdr(elf, &header) &&
        (header.e_type == ET_EXEC || header.e_type == ET_DYN)) {
        b->kind = has_interpreter(elf) ? RP_BINARY_DYNAMIC : RP_BINARY_STATIC;
        read_sections(b, elf);
        b->compounds = imports(elf, may_load);
    }
    if (elf)
        elf_end(elf);
}

static void read_start(struct rp_binary *b)
{
    char start[2] = "";
    int fd = open(b->path, O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return;
    if (read(fd, start, 2) == 2 && start[0] == '#' && start[1] == '!')
        b->kind = RP_BINARY_SCRIPT;
    else
        read_elf(b, fd);
    close(fd);
}

bool rp_binary_is_static(const char *path)
{
    struct rp_binary binary = {.path = (char *)path};

    read_start(&binary);
    bool is_static = binary.kind == RP_BINARY_STATIC;
    binary.path = NULL;
    rp_binary_free(&binary);
    return is_static;
}

enum rp_status rp_binary_look(const char *name, struct rp_binary *out, struct rp_problem *why)
{
    struct stat st;

    memset(out, 0, sizeof *out);
    out->path = search_path(name);
    if (!out->path || stat(out->path, &st) != 0 || !S_ISREG(st.st_mode)) {
        rp_binary_free(out);
        return rp_fail(why, RP_USAGE, "%s: no such program", name);
    }
    out->setuid = st.st_mode & (S_ISUID | S_ISGID);
    out->executable = access(out->path, X_OK) == 0;
    read_start(out);
    if (out->kind == RP_BINARY_DYNAMIC && out->executable && !out->setuid)
        read_libraries(out);
    return RP_OK;
}

void rp_binary_free(struct rp_binary *b)
{
    for (char **name = b->refused; name && *name; name++)
        free(*name);
    free(b->refused);
    free(b->makes_window);
    free(b->refused_alone);
    free(b->path);
    free(b->mpi_library);
    free(b->asan);
    memset(b, 0, sizeof *b);
}

const char *rp_binary_launcher_mpi(const char *name)
{
    static const char *const open_mpi[] = {"openmpi", "orterun", "prterun", "ompi"};
    static const char *const mpich[] = {"mpich", "hydra"};
    char *path = search_path(name);
    char *real = path ? realpath(path, NULL) : NULL;
    const char *base = real ? (strrchr(real, '/') ? strrchr(real, '/') + 1 : real) : "";
    const char *mpi = NULL;

    for (size_t i = 0; i < sizeof open_mpi / sizeof *open_mpi; i++)
        if (strstr(base, open_mpi[i]))
            mpi = "openmpi";
    for (size_t i = 0; i < sizeof mpich / sizeof *mpich; i++)
        if (strstr(base, mpich[i]))
            mpi = "mpich";
    free(path);
    free(real);
    return mpi;
}
