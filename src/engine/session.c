/* SPDX-License-Identifier: MIT */
#define XXH_INLINE_ALL
#include "engine/session.h"

#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/diagnostics.h"
#include "base/text.h"
#include "job/settings.h"
#include "log/jobs.h"
#include "log/replaystate.h"
#include "log/rundir.h"
#include "preload/constants.h"
#include "entry/engine.h"

static bool is_partial; /* no other rank is there */

/* The version without what packagers append. */
static int length_shown(const char *version)
{
    return (int)strcspn(version, ",");
}

static void say_other_version(const struct rp_manifest *m)
{
    char *here = rp_session_mpi_version();

    if (strcmp(here, m->mpi_version) != 0)
        rp_note("the MPI is another: it is '%.*s', and was '%.*s' in the recording",
                length_shown(here), here, length_shown(m->mpi_version),
                rp_text_shown(m->mpi_version));
    free(here);
}

static enum rp_status check_manifest(const struct rp_session *session, const struct rp_manifest *m,
                                     struct rp_problem *why)
{
    char *build_id = rp_session_build_id();
    bool forced = rp_setting("REPRISE_FORCE") != NULL;
    enum rp_status status = RP_OK;

    if (strcmp(m->mpi, rp_session_mpi()) != 0)
        status = rp_fail(why, RP_USAGE, "%s was recorded with %s, this program uses %s",
                         session->directory, m->mpi, rp_session_mpi());
    else if (m->ranks != (uint32_t)session->ranks)
        status = rp_fail(why, RP_USAGE, "%s was recorded with %u ranks, this is a job of %d",
                         session->directory, m->ranks, session->ranks);
    else if (!forced && strcmp(m->build_id, build_id) != 0)
        status = rp_fail(why, RP_USAGE,
                         "this is not the program that was recorded (%s, build id %s; here %s): "
                         "--force replays all the same",
                         m->program, m->build_id, build_id);
    free(build_id);
    if (status == RP_OK && (session->rank == 0 || is_partial))
        say_other_version(m);
    return status;
}

static bool single; /* nor was there ever another. MPICH 4.0 crashes when it is to complete a
                       request in a session of one process */

bool rp_session_is_partial(void)
{
    return is_partial;
}

/* Messages begin with `rank 0.1.2`. */
static void name_job(const char *job)
{
    static char prefix[RP_JOB_NAME + 1];

    snprintf(prefix, sizeof prefix, "%s%s", job, *job ? "." : "");
    rp_diagnostics_job(prefix);
}

enum rp_status rp_session_open_partial(struct rp_session *session, struct rp_problem *why)
{
    struct rp_manifest manifest;
    const char *output = rp_setting("REPRISE_OUTPUT");

    memset(session, 0, sizeof *session);
    session->rank = (int)strtol(rp_setting("REPRISE_SOLO"), NULL, 10);
    rp_diagnostics_process("rank", session->rank);
    is_partial = true;
    enum rp_status status = rp_manifest_read(rp_setting("REPRISE_RUN"), &manifest, why);
    if (status != RP_OK)
        return status;
    session->ranks = (int)manifest.ranks;
    session->run = manifest.run;
    snprintf(session->job, sizeof session->job, "%s", manifest.job);
    rp_process_name(session->job, session->rank, session->name);
    name_job(session->job);
    snprintf(session->directory, sizeof session->directory, "%s", rp_setting("REPRISE_RUN"));
    status = check_manifest(session, &manifest, why);
    snprintf(session->directory, sizeof session->directory, "%s", output ? output : "");
    rp_manifest_free(&manifest);
    return status;
}

void rp_session_open(struct rp_session *session)
{
    memset(session, 0, sizeof *session);
    rp_pmpi.Comm_rank(rp_constant.world, &session->rank);
    rp_pmpi.Comm_size(rp_constant.world, &session->ranks);
    single = session->ranks == 1;
    snprintf(session->job, sizeof session->job, "%s", rp_job_own());
    rp_process_name(session->job, session->rank, session->name);
    name_job(session->job);
    rp_diagnostics_process("rank", session->rank);
}

/* The ranks may be more than the cores, and MPI's own waits may not let others run. */
static void complete(MPI_Request request)
{
    enum { PAUSE_US = 50 };

    for (int done = 0; rp_pmpi.Test(&request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && !done;)
        usleep(PAUSE_US);
}

static void broadcast(void *data, int bytes)
{
    MPI_Request request;

    if (!single && rp_pmpi.Ibcast(data, bytes, rp_constant.byte, 0, rp_constant.world, &request) ==
                       MPI_SUCCESS)
        complete(request);
}

static int32_t largest(int32_t own)
{
    MPI_Request request;
    int32_t all = own;

    if (is_partial || single)
        return own;
    if (rp_pmpi.Iallreduce(&own, &all, 1, rp_constant.int32, rp_constant.max, rp_constant.world,
                           &request) == MPI_SUCCESS)
        complete(request);
    return all;
}

void rp_session_sum(const uint64_t *own, uint64_t *sum, int count)
{
    MPI_Request request;

    if (is_partial || single)
        memcpy(sum, own, (size_t)count * sizeof *own);
    else if (rp_pmpi.Ireduce(own, sum, count, rp_constant.uint64, rp_constant.sum, 0,
                             rp_constant.world, &request) == MPI_SUCCESS)
        complete(request);
}

void rp_session_meet(void)
{
    largest(0);
}

enum rp_status rp_session_share(struct rp_session *session, enum rp_status status)
{
    struct {
        int32_t status;
        uint64_t run;
        char directory[PATH_MAX], record[PATH_MAX], wrappers[PATH_MAX];
    } shared = {.status = status, .run = session->run};

    memcpy(shared.directory, session->directory, sizeof shared.directory);
    memcpy(shared.record, session->record, sizeof shared.record);
    memcpy(shared.wrappers, session->wrappers, sizeof shared.wrappers);
    broadcast(&shared, sizeof shared);
    session->run = shared.run;
    memcpy(session->directory, shared.directory, sizeof shared.directory);
    memcpy(session->record, shared.record, sizeof shared.record);
    memcpy(session->wrappers, shared.wrappers, sizeof shared.wrappers);
    return (enum rp_status)shared.status;
}

void rp_session_share_text(char text[PATH_MAX])
{
    broadcast(text, PATH_MAX);
}

/* Some launchers return another status than that with which all processes end. */
static void tell_command(int exit_status)
{
    const char *path = rp_setting("REPRISE_STATE");
    struct rp_replay_state *state;
    struct rp_problem why;

    if (path && rp_state_map(path, 0, &state, &why) == RP_OK)
        state->left_with = exit_status;
}

static void leave(int exit_status)
{
    tell_command(exit_status);
    rp_pmpi.Finalize();
    _exit(exit_status);
}

enum rp_status rp_session_find_record(struct rp_session *session, struct rp_manifest *manifest,
                                      struct rp_problem *why)
{
    char *directory;
    enum rp_status status = rp_run_find(rp_setting("REPRISE_RUN"), &directory, why);

    if (status != RP_OK)
        return status;
    char *own = rp_job_directory(directory, session->job);
    snprintf(session->record, sizeof session->record, "%s", directory);
    snprintf(session->directory, sizeof session->directory, "%s", own ? own : "");
    free(own);
    free(directory);
    status = rp_manifest_read(session->directory, manifest, why);
    if (status != RP_OK)
        return status;
    session->run = manifest->run;
    snprintf(session->wrappers, sizeof session->wrappers, "%s", manifest->wrappers);
    status = check_manifest(session, manifest, why);
    if (status != RP_OK)
        rp_manifest_free(manifest);
    return status;
}

void rp_session_leave_unless_ok(enum rp_status status)
{
    if (status != RP_OK)
        leave(rp_exit_status(status));
}

void rp_session_agree(enum rp_status status, void (*undo)(void))
{
    int32_t worst = largest(rp_exit_status(status));

    if (worst == 0)
        return;
    if (undo)
        undo();
    leave(worst);
}

char *rp_session_mpi_version(void)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length;

    rp_pmpi.Get_library_version(version, &length);
    version[strcspn(version, "\n")] = 0;
    char *line = strdup(version);
    if (!line)
        rp_bug(__FILE__, __LINE__, "out of memory");
    return line;
}

const char *rp_session_mpi(void)
{
#if defined(RP_STANDARD_ABI)
    return "abi";
#elif defined(OPEN_MPI)
    return "openmpi";
#else
    return "mpich";
#endif
}

static uint64_t hash_of_program(void)
{
    char bytes[65536];
    ssize_t count;
    int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    XXH64_state_t state;

    XXH64_reset(&state, 0);
    while (fd >= 0 && (count = read(fd, bytes, sizeof bytes)) > 0)
        XXH64_update(&state, bytes, (size_t)count);
    if (fd >= 0)
        close(fd);
    return XXH64_digest(&state);
}

char *rp_session_build_id(void)
{
    struct rp_buffer text = {0};
    struct rp_module program;

    if (!rp_site_program(&program) || program.build_id_length == 0)
        rp_buffer_printf(&text, "xxh64:%016llx", (unsigned long long)hash_of_program());
    else
        for (size_t i = 0; i < program.build_id_length; i++)
            rp_buffer_printf(&text, "%02x", program.build_id[i]);
    rp_buffer_byte(&text, 0);
    if (text.failed)
        rp_bug(__FILE__, __LINE__, "out of memory");
    return (char *)text.bytes;
}
