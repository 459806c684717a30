/* SPDX-License-Identifier: MIT */
/*
 * What libreprise-det.so offers to the libraries in front of it, mostly to the recorder in
 * libreprise.so. A recorded run must make the same decisions as one that is not recorded. So the
 * recorder uses these functions to keep its own calls out of the logical time. Where
 * libreprise-det.so is not preloaded, they are NULL.
 */
#ifndef RP_PEER_DET_H
#define RP_PEER_DET_H

#include <mpi.h>
#include <stdint.h>

#define RP_DET_OFFERED __attribute__((weak, visibility("default")))

/* Begins (`begins` != 0) or ends a time in which calls go to MPI unchanged. All ranks must do so
 * together: the logical clock of this rank stands still, and others wait for it. */
RP_DET_OFFERED void reprise_det_pass(int begins);

/* From now on, calls are the program's (PROGRAMS); or they are the recorder's, and handled
 * deterministically but left out of the digest, without (BESIDE) or with (BESIDE_TIMED) a cost in
 * logical time. */
enum reprise_det_whose { REPRISE_DET_PROGRAMS, REPRISE_DET_BESIDE, REPRISE_DET_BESIDE_TIMED };
RP_DET_OFFERED void reprise_det_whose(enum reprise_det_whose whose);

/* The program made a call that does not reach MPI: adds its cost to logical time. */
RP_DET_OFFERED void reprise_det_takes_call(void);

/* The program makes no more MPI calls: from now on all calls go to MPI unchanged. */
RP_DET_OFFERED void reprise_det_end(void);

/*
 * For libreprise-compound.so. The ranks of `comm` do something whose order matters, without a
 * message: by the time that reprise_det_turn returns, all have done it that do it at earlier
 * logical times, and none that does it later. To be done before the next call of MPI.
 * `return_address` and `stack` say where the program called `function`. reprise_det_took adds to
 * the digest what came out.
 */
RP_DET_OFFERED void reprise_det_turn(const char *function, uintptr_t return_address,
                                     uintptr_t stack, MPI_Comm comm);
RP_DET_OFFERED void reprise_det_took(uint64_t value);

/* The ticket of this process's last MPI_Comm_connect: how many clients came to that port, with it.
 */
RP_DET_OFFERED uint64_t reprise_det_ticket(void);

/* What libreprise-compound.so offers to libreprise-ft.so: it forgets all requests, since none of
 * the program's is active any more. Where it is not preloaded, this is NULL. */
__attribute__((weak, visibility("default"))) void reprise_compound_forget(void);

#endif
