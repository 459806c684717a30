/* SPDX-License-Identifier: MIT */
/*
 * What libreprise-det.so offers to the recorder in libreprise.so, which stands in front of it: a
 * run that is recorded decides what it decides without that, so the recorder's own calls must not
 * count. Where it is not preloaded, these are NULL.
 */
#ifndef RP_PEER_DET_H
#define RP_PEER_DET_H

#define RP_DET_OFFERED __attribute__((weak, visibility("default")))

/* Between `begins` and its end: calls go to MPI as they are. Only while all ranks do the same,
 * since others wait for our clock. */
RP_DET_OFFERED void reprise_det_pass(int begins);

/* From now on, calls are answered as those of the program are, but are not in the digest, and take
 * no time unless that is wanted; or they are the program's again. */
enum reprise_det_whose { REPRISE_DET_PROGRAMS, REPRISE_DET_BESIDE, REPRISE_DET_BESIDE_TIMED };
RP_DET_OFFERED void reprise_det_whose(enum reprise_det_whose whose);

/* The program made a call that is kept from MPI: it takes its time. */
RP_DET_OFFERED void reprise_det_takes_call(void);

/* The program makes no more calls: from now on all go to MPI as they are. */
RP_DET_OFFERED void reprise_det_end(void);

/* What libreprise-isendrecv.so offers to libreprise-ft.so: no request of the program is under way
 * any more. Where it is not preloaded, this is NULL. */
__attribute__((weak, visibility("default"))) void reprise_isendrecv_forget(void);

#endif
