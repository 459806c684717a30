/* SPDX-License-Identifier: MIT */
/* Starting a program, or its launcher, with the right libreprise.so in front of its MPI. */
#ifndef RP_LAUNCH_H
#define RP_LAUNCH_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/status.h"
#include "log/manifest.h"

/* Whether a launcher started this very process as a rank. */
bool rp_launch_is_inside(void);

/* Sets LD_PRELOAD for the command: `mpi` says which flavour, or NULL to find out; `usual` is taken
 * where it cannot be seen, and may be NULL. */
enum rp_status rp_launch_preload(const char *mpi, const char *usual, char **command,
                                 struct rp_problem *why);

/* The program among the words of a command: the first that is linked with an MPI, or else the first
 * behind a launcher that can be executed. */
const char *rp_launch_program(char **command);

/* Sets LD_PRELOAD without a command, for `reprise env`: `mpi` must be known. `library` is the file
 * of the MPI library that the program is linked with, or NULL; `asan` that of AddressSanitizer. */
enum rp_status rp_launch_preload_for(const char *mpi, const char *library, const char *asan,
                                     struct rp_problem *why);

/* Makes Open MPI's launcher pass our settings to ranks on other hosts. For commands that preload
 * nothing. */
void rp_launch_for_openmpi(void);

/* Whether it is a shell, or the interpreter of another language: what it will run is not seen. */
bool rp_launch_is_interpreter(const char *path);

/* The commands for gdb; to be freed. NULL: they are not where they are looked for. */
char *rp_launch_gdb_script(void);

/* Sets what a replay must do as the record did: what it captures, which threads it follows, by what
 * it goes. */
void rp_launch_as_recorded(const struct rp_manifest *manifest);

/* Notes for the ranks, which may start in another directory, where records are and where the
 * command was started. */
void rp_launch_note_place(void);

/* Puts the command line into REPRISE_COMMAND. */
enum rp_status rp_launch_note_command(char **command, bool inside, struct rp_problem *why);

/* Sets argument 0 of the commands that are run from now on; NULL: the name of the command. The
 * caller keeps `name`. */
void rp_launch_call_it(char *name);

/* Sets the standard output and standard error of the commands that are run from now on; -1: ours.
 */
void rp_launch_into(int out, int err);

/* Sets the standard input of the commands that are run from now on; -1: ours. */
void rp_launch_from(int in);

/* Whether it runs scripts, by its name. */
bool rp_launch_is_interpreter(const char *path);

/* Runs the command and waits for it; `watch` is called some times a second. Returns its exit status
 * as a shell gives it. */
int rp_launch_run(char **command, void (*watch)(void *), void *data);

/* Returns the signal that asked the command, or us, to end meanwhile; 0: none. */
int rp_launch_was_stopped(void);

/* Says that the command ran without our library, though it was to be `done` (such as "recorded").
 * Returns its exit status, or that of an unsupported program. */
int rp_launch_say_untouched(const char *done, char **command, int status);

/* Sends a signal to what rp_launch_run started; for its `watch`. */
void rp_launch_signal(int signal);
pid_t rp_launch_process(void);

/* The signal that ended it; 0: it ended by itself. */
int rp_launch_ended_by(void);

/* Becomes the command. Returns only on failure, with the exit status. */
int rp_launch_become(char **command);

#endif
