/* SPDX-License-Identifier: MIT */
/*
 * A process is under reprise if REPRISE_MODE says so when it initialises MPI. The thread that does
 * so gets the stream; every other thread stays untracked, whose calls pass as long as nothing
 * depends on them.
 */
#include "entry/life.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/diagnostics.h"
#include "job/job_names.h"
#include "job/settings.h"
#include "peers/peer_det.h"
#include "peers/peer_partial.h"
#include "entry/captured.h"
#include "preload/constants.h"
#include "entry/engine.h"
#include "entry/escaped_call.h"
#include "entry/refuse.h"
#include "preload/modules.h"
#include "preload/own_session.h"
#include "preload/unknown_functions.h"
#include "peers/peer_reprise.h"
#include "entry/thread_state.h"
#include "entry/threads.h"
#include "reprise.h"

static pid_t owner; /* a forked child has our memory, but is not the rank */

struct mode {
    const char *name;
    void (*start)(void);
};

static const struct mode modes[] = {{"record", rp_record_start},
                                    {"replay", rp_replay_start},
                                    {"clocked", rp_cdc_replay_start}};

static const struct mode *chosen_mode(void)
{
    const char *name = rp_setting("REPRISE_MODE");

    if (!name)
        return NULL;
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        if (strcmp(modes[i].name, name) == 0)
            return &modes[i];
    rp_error("REPRISE_MODE=%s: no such mode", name);
    rp_end_job(REPRISE_EXIT_USAGE);
}

/* Whether the calling thread may end the record: the one that has the stream, or any that is
 * followed, under the lock, which it keeps. */
static bool may_end(void)
{
    if (!rp_threads_on)
        return &rp_thread_state == rp_owner;
    if (rp_thread_state.number < 0)
        return false;
    rp_threads_lock();
    return true;
}

/* Destructors of static objects may still communicate and call MPI_Finalize, and run after handlers
 * that were registered when MPI was there already. So the handler only takes the status; the record
 * ends when the library is closed: after the program, before MPI. */

static struct {
    bool is_told;
    int status;
} leaving;

static void at_exit(int status, void *unused)
{
    (void)unused;
    leaving.is_told = true;
    leaving.status = status;
}

__attribute__((destructor)) static void end_of_process(void)
{
    if (!leaving.is_told || !rp_engine || getpid() != owner)
        return;
    if (!may_end()) {
        rp_engine->end_elsewhere();
        return;
    }
    rp_thread_state.depth = 1;
    rp_engine->exit(leaving.status);
    rp_engine = NULL;
}

/* MPI_Finalize deletes the attributes of MPI_COMM_SELF first, the last set first: ours comes after
 * all of the program's, whose delete functions may still communicate. */

static int copy_nothing(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag)
{
    (void)comm, (void)key, (void)extra, (void)in, (void)out;
    *flag = 0;
    return MPI_SUCCESS;
}

static bool has_ended;     /* the record is complete */
static bool is_in_init;    /* between MPI_Init and MPI_Finalize */
static bool is_in_session; /* the record began with a session */
static bool is_in_world;   /* and we called MPI_Init */

static void finish(void)
{
    rp_thread_state.depth = 1;
    rp_threads_enter();
    rp_engine->finalize();
    rp_engine = NULL;
    has_ended = true;
    rp_threads_leave();
    rp_thread_state.depth = RP_UNTRACKED_THREAD;
}

static int at_finalize(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)value, (void)extra;
    if (!rp_engine || (rp_is_inside() && !rp_call_escaped("MPI_Finalize")))
        return MPI_SUCCESS;
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

/* What comes behind the end of a record is in none, so a replay could not be called identical. */
static void refuse(const char *function, const char *when)
{
    if (rp_is_allowed(function))
        return;
    rp_error("%s %s cannot be replayed yet, so the program is stopped here; '--allow %s' lets it "
             "through unrecorded",
             function, when, function);
    reprise_refused(function);
    rp_end_job(REPRISE_EXIT_UNSUPPORTED);
}

static void begin(const char *function)
{
    if (has_ended)
        refuse(function, "after the program has finalized MPI once");
    rp_job_enter();
}

/* Sessions. What begins with the program's first session ends with its last one, or with
 * MPI_Finalize, if that comes later. */

#if RP_HAS_SESSIONS
static unsigned sessions; /* of the program */

/* Alone, MPI_COMM_WORLD stands for all sets: a process that no launcher started gets no
 * communicator of a set from Open MPI, and MPICH 5 has no MPI_COMM_SELF without MPI_Init. As in the
 * recording, our communicator is not MPI_COMM_WORLD itself, which the program may use later. */
static bool open_world(void)
{
    is_in_world = rp_setting("REPRISE_SOLO") != NULL;
    if (!is_in_world || rp_pmpi.Init(NULL, NULL) != MPI_SUCCESS)
        return false;
    rp_pmpi.Comm_dup(rp_constant.world, &rp_constant.world);
    return true;
}

/* The deterministic library has a session of its own, and these calls are not the program's. */
static void pass(int begins)
{
    if (reprise_det_pass)
        reprise_det_pass(begins);
}

static void open_session(void)
{
    is_in_session = true;
    if (open_world())
        return;
    pass(1);
    const char *missing = rp_own_session_open("reprise");
    pass(0);
    if (missing) {
        rp_error("MPI_Session_init: %s", missing);
        rp_state.is_initialised = false; /* nothing that could be aborted */
        rp_end_job(REPRISE_EXIT_UNSUPPORTED);
    }
}

static void close_session(void)
{
    finish();
    is_in_session = false;
    pass(1);
    if (is_in_world)
        rp_pmpi.Finalize();
    else
        rp_own_session_close();
    pass(0);
    rp_state.is_initialised = false;
}
#else
static void open_session(void)
{
}
#endif

/* A forked child has our memory and shares our files, but is not the rank. */
static void forget_in_child(void)
{
    rp_engine = NULL;
    rp_threads_on = 0;
    rp_threads_forget();
    rp_sends_seen = 0;
    rp_captured = 0;
    rp_thread_state.depth = RP_UNTRACKED_THREAD;
}

/* `by_world`: MPI_COMM_WORLD is there. Else communicators of our own stand for it and for
 * MPI_COMM_SELF. */
static void start(bool by_world)
{
    const struct mode *mode = chosen_mode();
    struct rp_problem why;

    rp_state.is_initialised = true;
    if (!mode || rp_engine || has_ended)
        return;
    rp_next_resolve(); /* a tool behind us is found at once, the library perhaps only now */
    rp_constants_find();
    rp_unknown_functions_refuse(rp_refuse_unknown); /* in what was loaded since the start */
    if (rp_settings_check(&why) != RP_OK || rp_settings_check_capture(&why) != RP_OK) {
        rp_error("%s", why.text);
        rp_end_job(REPRISE_EXIT_USAGE);
    }
    owner = getpid();
    rp_owner = &rp_thread_state;
    rp_thread_state.depth = 1;
    rp_thread_state.number = 0;
    if (!rp_next_is_the_library() && !(reprise_partial_is_last && reprise_partial_is_last()))
        rp_slow_set(RP_SLOW_TOOL);
    rp_requests_init(&rp_state.requests);
    if (by_world)
        hook_finalize();
    else
        open_session();
    pthread_atfork(NULL, NULL, forget_in_child);
    mode->start();
    on_exit(at_exit, NULL);
    rp_threads_start();
    rp_thread_state.depth = 0;
}

void rp_life_begun(void)
{
    start(true);
}

bool rp_life_is_begun(void)
{
    return rp_state.is_initialised;
}

static int initialised(int rc)
{
    if (rc != MPI_SUCCESS)
        return rc;
    is_in_init = true;
    start(true);
    return rc;
}

int rp_life_Init(const struct rp_next *next, int *argc, char ***argv)
{
    if (rp_is_inside())
        return next->Init(argc, argv);
    begin("MPI_Init");
    rp_thread_state.depth++;
    int rc = is_in_world ? MPI_SUCCESS : next->Init(argc, argv);
    rp_thread_state.depth--;
    return initialised(rc);
}

int rp_life_Init_thread(const struct rp_next *next, int *argc, char ***argv, int required,
                        int *provided)
{
    if (rp_is_inside())
        return next->Init_thread(argc, argv, required, provided);
    begin("MPI_Init_thread");
    rp_thread_state.depth++;
    int rc = is_in_world ? rp_pmpi.Query_thread(provided)
                         : next->Init_thread(argc, argv, required, provided);
    rp_thread_state.depth--;
    return initialised(rc);
}

#if RP_HAS_SESSIONS
int rp_life_Session_init(const struct rp_next *next, MPI_Info info, MPI_Errhandler errhandler,
                         MPI_Session *session)
{
    if (rp_is_inside())
        return next->Session_init(info, errhandler, session);
    begin("MPI_Session_init");
    rp_thread_state.depth++;
    int rc = next->Session_init(info, errhandler, session);
    rp_thread_state.depth--;
    if (rc == MPI_SUCCESS && sessions++ == 0 && !rp_state.is_initialised)
        start(false);
    return rc;
}

int rp_life_Session_finalize(const struct rp_next *next, MPI_Session *session)
{
    if (!rp_is_inside() && --sessions == 0 && is_in_session && !is_in_init && rp_engine)
        close_session();
    return next->Session_finalize(session);
}

static void finalize_sessions(void)
{
    if (!rp_engine || rp_is_inside())
        return;
    if (sessions > 0 && !is_in_session)
        refuse("MPI_Finalize", "while the program has a session open");
    if (sessions == 0 && is_in_session)
        close_session();
    is_in_init = false;
}
#else
static void finalize_sessions(void)
{
}
#endif

int rp_life_Finalize(const struct rp_next *next)
{
    finalize_sessions();
    int rc = is_in_world ? MPI_SUCCESS : next->Finalize();

    rp_state.is_initialised = is_in_session && rp_engine;
    return rc;
}

int rp_life_Abort(const struct rp_next *next, MPI_Comm comm, int code)
{
    if (rp_engine && !may_end()) {
        rp_engine->end_elsewhere();
    } else if (rp_engine) {
        rp_thread_state.depth = 1; /* also from inside a call, by an error handler */
        rp_engine->abort(code);
        rp_engine = NULL;
    }
    return next->Abort(comm, code);
}
