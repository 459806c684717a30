/* SPDX-License-Identifier: MIT */
/* What libreprise.so offers to other libraries of ours. These are NULL where it is not preloaded.
 */
#ifndef RP_PEER_REPRISE_H
#define RP_PEER_REPRISE_H

#include <stdint.h>

/* `function` was refused, and the message is printed: the caller is about to end the job. */
__attribute__((weak, visibility("default"))) void reprise_refused(const char *function);

/* From now on, the library may cancel receives with a named source that the program itself does not
 * cancel, so a recording must keep their handles. To be called before the first of them is posted.
 */
__attribute__((weak, visibility("default"))) void reprise_receives_may_be_cancelled(void);

/*
 * Threads of a rank that is recorded or fed with its data. The lock is the one under which they
 * make MPI calls; it may be taken several times. reprise_threads_give_way frees it altogether for a
 * while; `tries` counts how often, from 0, and `is_patient` has it sleep longer after many. A
 * thread is followed if the program created it. reprise_thread_number returns its number in the
 * record, and gives it the next one if it has none yet, at a call of this function at this place.
 */
__attribute__((weak, visibility("default"))) void reprise_threads_lock(void);
__attribute__((weak, visibility("default"))) void reprise_threads_unlock(void);
__attribute__((weak, visibility("default"))) unsigned reprise_threads_held(void);
__attribute__((weak, visibility("default"))) void reprise_threads_give_way(unsigned *tries,
                                                                           int is_patient);
__attribute__((weak, visibility("default"))) int reprise_threads_follow(void);
__attribute__((weak, visibility("default"))) uint64_t reprise_thread_identity(void);
__attribute__((weak, visibility("default"))) int
reprise_thread_number(const char *function, uintptr_t place, uintptr_t stack);

/*
 * An outcome that is not MPI's, of the program's call of `function` (`return_address` and `stack`
 * say where): a replay, and a rank that is replayed alone, ask for it by reprise_recall, which sets
 * *value and returns 1. It returns 0 in a recording, which then calls reprise_note, and behind the
 * end of a record.
 */
__attribute__((weak, visibility("default"))) int
reprise_recall(const char *function, uintptr_t return_address, uintptr_t stack, uint64_t *value);
__attribute__((weak, visibility("default"))) void
reprise_note(const char *function, uintptr_t return_address, uintptr_t stack, uint64_t value);

#endif
