/* SPDX-License-Identifier: MIT */
/* Start and end of a deterministic run. */
#include "det/det_life.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/diagnostics.h"
#include "det/det_collectives.h"
#include "det/det_comms.h"
#include "det/det_copies.h"
#include "det/det_costs.h"
#include "det/det_matching.h"
#include "det/det_operations.h"
#include "det/det_request_table.h"
#include "det/det_sites.h"
#include "det/det_spawn.h"
#include "det/det_status.h"
#include "det/det_unreceived.h"
#include "det/det_wait.h"
#include "det/leader.h"
#include "job/host_connections.h"
#include "job/host_identity.h"
#include "job/settings.h"
#include "log/det_digest.h"
#include "peers/peer_det.h"
#include "preload/constants.h"
#include "preload/own_session.h"
#include "preload/unknown_functions.h"
#include "reprise.h"

enum { THRESHOLD = 65536 };

static struct {
    bool is_checked, leads_host, has_ended;
    long played_hosts, children;
} life;

static void must(enum rp_status status, const struct rp_problem *why)
{
    if (status == RP_OK)
        return;
    rp_error("cannot run deterministically: %s", why->text);
    rp_det_end_job(rp_exit_status(status));
}

static void read_settings(void)
{
    struct rp_problem why;
    long latency, threshold, limit;
    const char *reductions = rp_setting("REPRISE_REDUCTIONS");

    must(rp_settings_check(&why), &why);
    must(rp_setting_number("REPRISE_LATENCY", 1, 3 * RP_DET_CALL, &latency, &why), &why);
    must(rp_setting_bytes("REPRISE_THRESHOLD", THRESHOLD, &threshold, &why), &why);
    must(rp_setting_bytes("REPRISE_BUFFER", 16L << 20, &limit, &why), &why);
    must(rp_det_costs_start(&why), &why);
    must(rp_setting_number("REPRISE_DELAY", 0, 0, &rp_det.delay, &why), &why);
    must(rp_setting_number("REPRISE_HOSTS", 1, 1, &life.played_hosts, &why), &why);
    must(rp_setting_number("REPRISE_CHILDREN", 0, 64, &life.children, &why), &why);
    rp_shared.latency = (uint64_t)latency;
    rp_det.threshold = (uint64_t)threshold;
    rp_det.buffer_bytes = (uint64_t)limit;
    rp_det.fixed_reductions = reductions && strcmp(reductions, "fixed") == 0;
    life.is_checked = rp_setting("REPRISE_CHECK") != NULL;
}

static void *need(void *memory)
{
    if (!memory)
        rp_bug(__FILE__, __LINE__, "out of memory at the start");
    return memory;
}

/* Hosts are counted in the order of their first ranks, which lead them. `leaders` is by rank, and
 * becomes the number of its host. */
static uint32_t number_hosts(uint32_t *leaders, uint32_t ranks)
{
    uint32_t hosts = 0;

    for (uint32_t i = 0; i < ranks; i++)
        leaders[i] = leaders[i] == i ? hosts++ : leaders[leaders[i]];
    return hosts;
}

static uint32_t find_hosts(int rank, int ranks, MPI_Comm host)
{
    uint32_t leader = (uint32_t)rank, *host_of = need(calloc((size_t)ranks, sizeof *host_of));

    rp_pmpi.Bcast(&leader, sizeof leader, rp_constant.byte, 0, host);
    rp_pmpi.Allgather(&leader, sizeof leader, rp_constant.byte, host_of, sizeof leader,
                      rp_constant.byte, rp_det.own);
    uint32_t hosts = number_hosts(host_of, (uint32_t)ranks);
    if (hosts > 1)
        rp_shared_set_hosts(host_of, hosts, host_of[rank]);
    else
        free(host_of);
    return hosts;
}

/* The leaders of the hosts connect to each other. */
static void connect_hosts(bool leads, int ranks)
{
    struct rp_problem why;
    struct rp_host_address own = {0}, *addresses = need(calloc((size_t)ranks, sizeof *addresses));
    uint8_t secret[RP_HOST_SECRET];
    int *sockets = need(calloc(rp_shared.hosts, sizeof *sockets)), listener = -1;

    if (rp_shared.rank == 0 && getrandom(secret, sizeof secret, 0) != sizeof secret)
        rp_bug(__FILE__, __LINE__, "no random numbers");
    must(leads ? rp_host_listen(&own, &listener, &why) : RP_OK, &why);
    rp_pmpi.Bcast(secret, sizeof secret, rp_constant.byte, 0, rp_det.own);
    rp_pmpi.Allgather(&own, sizeof own, rp_constant.byte, addresses, sizeof own, rp_constant.byte,
                      rp_det.own);
    for (int i = 0, host = 0; i < ranks; i++)
        if (addresses[i].port != 0)
            addresses[host++] = addresses[i];
    if (leads) {
        must(rp_host_connect(addresses, rp_shared.hosts, rp_shared.host, secret, listener, sockets,
                             &why),
             &why);
        must(rp_leader_start(sockets, &why), &why);
    }
    explicit_bzero(secret, sizeof secret);
    free(addresses);
    free(sockets);
}

/* The first rank of this host. For tests, one host plays several. */
static int first_here(int rank, int ranks)
{
    uint64_t own = rp_host_identity(), *all = need(calloc((size_t)ranks, sizeof *all));
    int first = 0;

    if (life.played_hosts > 1)
        own = (uint64_t)(rank % life.played_hosts);
    rp_pmpi.Allgather(&own, sizeof own, rp_constant.byte, all, sizeof own, rp_constant.byte,
                      rp_det.own);
    while (all[first] != own)
        first++;
    free(all);
    return first;
}

/* All ranks of the host map the memory that the first of them makes. */
static void open_shared_state(int rank, int ranks)
{
    struct rp_problem why;
    MPI_Comm host;
    int here;
    char name[64] = "";

    rp_pmpi.Comm_split(rp_det.own, first_here(rank, ranks), rank, &host);
    rp_pmpi.Comm_rank(host, &here);
    uint32_t hosts = find_hosts(rank, ranks, host),
             room =
                 (uint32_t)ranks + (hosts == 1 ? rp_shared_children((uint32_t)life.children) : 0);
    enum rp_status status =
        here == 0 ? rp_shared_create(room, hosts == 1, name, sizeof name, &why) : RP_OK;
    must(status, &why);
    rp_pmpi.Bcast(name, sizeof name, rp_constant.byte, 0, host);
    rp_pmpi.Bcast(&room, sizeof room, rp_constant.byte, 0, host);
    must(rp_shared_map(name, (uint32_t)ranks, room, (uint32_t)rank, &why), &why);
    must(rp_shared_bounds_start(&why), &why);
    rp_pmpi.Barrier(host);
    if (here == 0)
        rp_shared_remove(name);
    rp_pmpi.Comm_free(&host);
    life.leads_host = hosts > 1 && here == 0;
    if (hosts > 1)
        connect_hosts(life.leads_host, ranks);
}

static void join_parents(int rank, int ranks)
{
    struct rp_problem why;

    must(rp_det_spawned_join((uint32_t)ranks, (uint32_t)rank, &why), &why);
    must(rp_shared_bounds_start(&why), &why);
}

/* A program compiled for it counts its own time. */
static void adopt_counter(void)
{
    struct rp_problem why;
    void *page = dlsym(RTLD_DEFAULT, "reprise_ticks");

    if (page)
        must(rp_shared_adopt_counter(page, (size_t)sysconf(_SC_PAGESIZE), &why), &why);
}

/* MPI_Finalize deletes the attributes of MPI_COMM_SELF first, the last set first: ours comes after
 * those of the program, whose functions may still communicate. */

static void finish(void);

static int copy_nothing(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag)
{
    (void)comm, (void)key, (void)extra, (void)in, (void)out;
    *flag = 0;
    return MPI_SUCCESS;
}

static int at_finalize(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)value, (void)extra;
    if (rp_det.is_on)
        finish();
    return MPI_SUCCESS;
}

static void hook_finalize(void)
{
    int key;

    rp_pmpi.Comm_create_keyval(copy_nothing, at_finalize, &key, NULL);
    rp_pmpi.Comm_set_attr(rp_constant.self, key, NULL);
    rp_pmpi.Comm_free_keyval(&key);
}

/* A child of fork has our memory, but is not the rank. */
static void in_child(void)
{
    rp_det.is_on = 0;
    rp_shared_leave_counter();
}

/* The command that started the job learns that it is entered, and by rank 0 what was decided.
 * Others may be nearer to it. */
static void tell_command(bool is_first, const struct rp_det_digest *each)
{
    struct rp_problem why;
    const char *path = rp_setting("REPRISE_DECISIONS");

    if (path &&
        (each ? rp_det_digest_add(path, each, rp_shared.ranks, &why)
              : rp_det_digest_open(path, &why)) != RP_OK &&
        is_first)
        rp_error("the command that started this job cannot be told: %s", why.text);
}

/* `by_world`: MPI_COMM_WORLD is there, and MPI_Finalize ends the run. */
static void start(bool by_world)
{
    int rank, ranks, level = MPI_THREAD_SINGLE;

    rp_unknown_functions_refuse(rp_det_refuse);
    rp_pmpi.Comm_rank(rp_constant.world, &rank);
    rp_pmpi.Comm_size(rp_constant.world, &ranks);
    rp_diagnostics_process("rank", rank);
    if (rank == 0)
        tell_command(true, NULL);
    rp_pmpi.Comm_dup(rp_constant.world, &rp_det.own);
    read_settings();
    if (rp_det_is_spawned())
        join_parents(rank, ranks);
    else
        open_shared_state(rank, ranks);
    if (life.leads_host && rank > 0)
        tell_command(false, NULL);
    adopt_counter();
    rp_det_status_open((uint32_t)ranks, rp_det_is_spawned());
    rp_pmpi.Query_thread(&level);
    rp_det.may_have_threads = level >= MPI_THREAD_SERIALIZED;
    rp_det_requests_start();
    rp_det_requests_learn();
    rp_det_sites_start();
    rp_det_operations_start();
    rp_det_comms_start();
    if (rp_det_is_spawned())
        rp_det_spawned_meet();
    rp_det_match_messages();
    if (by_world)
        hook_finalize();
    pthread_atfork(NULL, NULL, in_child);
    rp_pmpi.Barrier(rp_det.own);
    rp_det_is_owner = 1;
    rp_det.is_on = 1;
}

static void start_in_world(void)
{
    rp_constants_find();
    rp_next_resolve();
    start(true);
}

static bool is_wanted(void)
{
    return rp_setting("REPRISE_DET") != NULL;
}

__attribute__((constructor)) static void refuse_unknown(void)
{
    if (is_wanted() && rp_library_symbol("PMPI_Init"))
        rp_unknown_functions_refuse(rp_det_refuse);
}

/* As Open MPI's shared memory decides whether a receiver can read its message from the sender's
 * memory. */
static bool has_single_copies(void)
{
    const char *way = getenv("OMPI_MCA_btl_vader_single_copy_mechanism");
    FILE *file = fopen("/proc/sys/kernel/yama/ptrace_scope", "r");
    bool is_allowed = !file || fgetc(file) == '0';
    char from = 1, to = 0;
    struct iovec own = {&to, 1}, other = {&from, 1};

    if (file)
        fclose(file);
    return is_allowed && (!way || strcmp(way, "none") != 0) &&
           process_vm_readv(getpid(), &own, 1, &other, 1, 0) == 1;
}

/*
 * A message that is sent from a copy must leave while the program computes. Without single copies,
 * Open MPI's shared memory sends one that is longer than this limit in parts, inside the sender's
 * next calls; so that its receiver would wait for these. The limit that a user has set stays. With
 * single copies it would only take memory: up to a quarter more, where all send to all.
 */
static void set_eager_limit(bool is_set)
{
    enum { MOST = 262144, HEADER = 1024 };
    static const char *const names[] = {"OMPI_MCA_btl_vader_eager_limit",
                                        "OMPI_MCA_btl_sm_eager_limit"};
    static bool is_ours[2];
    struct rp_problem why;
    char text[32];
    long threshold;

    if (!is_wanted() ||
        rp_setting_bytes("REPRISE_THRESHOLD", THRESHOLD, &threshold, &why) != RP_OK ||
        (is_set && has_single_copies()))
        return;
    snprintf(text, sizeof text, "%ld", (threshold < MOST ? threshold : MOST) + HEADER);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (is_set && !getenv(names[i]))
            is_ours[i] = setenv(names[i], text, 1) == 0;
        else if (!is_set && is_ours[i])
            unsetenv(names[i]);
    }
}

static void report(const struct rp_det_digest *each)
{
    struct rp_det_digest all = {0};

    for (uint32_t i = 0; i < rp_shared.ranks; i++) {
        all.digest = rp_det_digest_mix(all.digest, each[i].digest);
        all.matches += each[i].matches;
        all.answers += each[i].answers;
    }
    rp_diagnostics_process("rank", -1);
    rp_note("deterministic: %llu matches, %llu answers, digest %016llx",
            (unsigned long long)all.matches, (unsigned long long)all.answers,
            (unsigned long long)all.digest);
    if (all.matches == 0 && all.answers == 0)
        rp_note("MPI left nothing open in this run: there was nothing to make deterministic");
}

/* The digests of all jobs are in the memory, which the last job that ends reads: by rank, so that
 * it does not matter which one that is. */
static void read_decisions(void)
{
    if (rp_shared.rank != rp_shared.first || !rp_shared_job_ends())
        return;
    uint32_t ranks = rp_shared_see_jobs();
    struct rp_det_digest *each = need(calloc(ranks, sizeof *each));
    for (uint32_t i = 0; i < ranks; i++)
        each[i] = (struct rp_det_digest){rp_shared.all[i].matches, rp_shared.all[i].answers,
                                         rp_shared.all[i].digest};
    tell_command(true, each);
    if (life.is_checked)
        report(each);
    free(each);
}

static void gather_decisions(void)
{
    struct rp_det_digest own = {rp_shared.own->matches, rp_shared.own->answers,
                                rp_shared.own->digest};
    struct rp_det_digest *each =
        rp_shared.rank == 0 ? need(calloc(rp_shared.ranks, sizeof *each)) : NULL;

    rp_pmpi.Gather(&own, sizeof own, rp_constant.byte, each, sizeof own, rp_constant.byte, 0,
                   rp_det.own);
    if (rp_shared.rank == 0)
        tell_command(true, each);
    if (life.is_checked && rp_shared.rank == 0)
        report(each);
    free(each);
}

static void finish(void)
{
    rp_shared_finish();
    rp_det_status_ends();
    rp_det_look_for_deadlock();
    rp_det_flush();
    rp_det.is_on = 0;
    rp_pmpi.Barrier(rp_det.own);
    rp_det_report_unreceived();
    if (rp_shared.host_of)
        gather_decisions();
    else
        read_decisions();
    if (life.leads_host)
        rp_leader_stop();
    rp_pmpi.Comm_free(&rp_det.own);
    life.has_ended = true;
}

/* Sessions. A run that begins with the program's first one ends with its last one, or with
 * MPI_Finalize, if that comes later. */

static struct {
    unsigned open;   /* of the program */
    bool is_begun;   /* the run began with the first of them */
    bool is_in_init; /* between MPI_Init and MPI_Finalize */
} sessions;

static void refuse_second_start(const char *function)
{
    if (!life.has_ended)
        return;
    rp_error("%s after the program has finalized MPI once cannot be made deterministic", function);
    _exit(REPRISE_EXIT_UNSUPPORTED);
}

#if RP_HAS_SESSIONS
/* All processes are to begin now: we make a communicator of them. */
static void start_in_session(void)
{
    rp_constants_find();
    rp_next_resolve();
    const char *missing = rp_own_session_open("reprise.det");
    if (missing) {
        rp_error("MPI_Session_init: %s", missing);
        _exit(REPRISE_EXIT_UNSUPPORTED);
    }
    sessions.is_begun = true;
    start(false);
    rp_det.keeps_copies = rp_shared.size == 1;
}

static void end_sessions(void)
{
    if (rp_det.is_on)
        finish();
    rp_own_session_close();
    sessions.is_begun = false;
}

int rp_det_Session_init(const struct rp_next *next, MPI_Info info, MPI_Errhandler handler,
                        MPI_Session *session)
{
    if (rp_det.inside > 0 || !is_wanted())
        return next->Session_init(info, handler, session);
    refuse_second_start("MPI_Session_init");
    set_eager_limit(true);
    int rc = next->Session_init(info, handler, session);
    set_eager_limit(false);
    if (rc == MPI_SUCCESS && sessions.open++ == 0 && !rp_det.is_on)
        start_in_session();
    return rc;
}

int rp_det_Session_finalize(const struct rp_next *next, MPI_Session *session)
{
    if (rp_det.inside == 0 && sessions.open > 0 && --sessions.open == 0 && sessions.is_begun &&
        !sessions.is_in_init)
        end_sessions();
    return next->Session_finalize(session);
}
#else
static void end_sessions(void)
{
}
#endif

enum meeting { AT_INIT = 1, AT_FINALIZE };

/* In a run that began with a session: inside MPI, the ranks may wait for each other, while their
 * clocks stand still. So they wait here first. */
static void meet_before(const char *function, enum meeting meeting)
{
    struct rp_det_operation what = {meeting, RP_DET_NO_ROOT, 0};

    rp_det_enter(function);
    rp_det_collective_leave(rp_det_collective_enter(RP_DET_MAY_NOT, rp_det_comms_all(), what));
}

/* The result of MPI_Init, which it returns. */
static int initialised(int rc)
{
    set_eager_limit(false);
    if (rc != MPI_SUCCESS || !is_wanted())
        return rc;
    sessions.is_in_init = true;
    if (!rp_det.is_on)
        start_in_world();
    else if (sessions.is_begun)
        rp_det_comms_add_world();
    return rc;
}

static void initialise(const char *function)
{
    refuse_second_start(function);
    if (rp_det.is_on && sessions.is_begun)
        meet_before(function, AT_INIT);
    set_eager_limit(true);
    rp_det_spawned_enter();
}

int rp_det_Init(const struct rp_next *next, int *argc, char ***argv)
{
    if (rp_det.inside > 0)
        return next->Init(argc, argv);
    initialise("MPI_Init");
    return initialised(next->Init(argc, argv));
}

int rp_det_Init_thread(const struct rp_next *next, int *argc, char ***argv, int required,
                       int *provided)
{
    if (rp_det.inside > 0)
        return next->Init_thread(argc, argv, required, provided);
    initialise("MPI_Init_thread");
    return initialised(next->Init_thread(argc, argv, required, provided));
}

int rp_det_Finalize(const struct rp_next *next)
{
    if (rp_det.inside > 0 || !sessions.is_in_init)
        return next->Finalize();
    if (sessions.open > 0 && !sessions.is_begun)
        rp_det_refuse("MPI_Finalize while the program has a session open");
    sessions.is_in_init = false;
    if (sessions.is_begun && sessions.open > 0)
        meet_before("MPI_Finalize", AT_FINALIZE);
    else if (sessions.is_begun)
        end_sessions();
    return next->Finalize();
}

/* For the recorder */

void reprise_det_pass(int begins)
{
    rp_det.inside += begins ? 1 : -1;
}

void reprise_det_whose(enum reprise_det_whose whose)
{
    rp_det.whose = whose;
}

void reprise_det_takes_call(void)
{
    if (rp_det.is_on)
        rp_shared_tick(RP_DET_CALL);
}

void reprise_det_end(void)
{
    if (rp_det.is_on)
        finish();
}
