/* SPDX-License-Identifier: MIT */
/*
 * An error handler that the program set in MPI runs inside the call that failed, and so inside
 * ours. If it leaves by longjmp, or throws an exception, neither call returns, and the thread's
 * depth stays raised. All later calls would then be taken for calls made inside that one, and would
 * not be recorded. The stack shows the difference: of a call inside another one, the outer call's
 * frame, which is in this library, is further out. Only a walk that reached the stack's end counts.
 *
 * A recording enters no sends and no collective calls, but what it enters it must know the outcome
 * of. A replay enters sends too, only to wake receivers: there nothing is lost.
 */
#define UNW_LOCAL_ONLY
#include "entry/escaped_call.h"

#include <dlfcn.h>
#include <libunwind.h>
#include <stddef.h>
#include <string.h>

#include "base/diagnostics.h"
#include "job/settings.h"
#include "entry/refuse.h"
#include "peers/peer_reprise.h"
#include "entry/thread_state.h"
#include "entry/threads.h"
#include "reprise.h"

static bool is_watched;

void rp_escaped_call_watch(void)
{
    is_watched = true;
}

static bool is_ours(unw_word_t address)
{
    Dl_info it, own;

    return dladdr((void *)(uintptr_t)address, &it) &&
           dladdr((void *)(uintptr_t)rp_call_escaped, &own) && it.dli_fbase == own.dli_fbase;
}

/* Whether no function of this library is on the stack, but the entry that was called last and what
 * it calls. */
static bool is_outermost(void)
{
    unw_context_t context;
    unw_cursor_t cursor;
    bool was_outside = false;
    int more;

    if (unw_getcontext(&context) != 0 || unw_init_local(&cursor, &context) != 0)
        return false;
    do {
        unw_word_t address;
        if (unw_get_reg(&cursor, UNW_REG_IP, &address) != 0)
            return false;
        bool ours = is_ours(address);
        if (ours && was_outside)
            return false;
        was_outside = was_outside || !ours;
        more = unw_step(&cursor);
    } while (more > 0);
    return more == 0;
}

bool rp_call_escaped(const char *name)
{
    const char *mode = rp_setting("REPRISE_MODE");

    if (!is_watched || !is_outermost())
        return false;
    if (rp_threads_on || !mode || strcmp(mode, "record") == 0) {
        rp_error("before %s, an error handler left an MPI call by longjmp or an exception: what "
                 "that call had received is not known, so the program is stopped here rather than "
                 "replayed wrongly; "
                 "let the handler return, or use MPI_ERRORS_RETURN",
                 name);
        reprise_refused(name);
        rp_end_job(REPRISE_EXIT_UNSUPPORTED);
    }
    rp_thread_state.depth = 0;
    return true;
}
