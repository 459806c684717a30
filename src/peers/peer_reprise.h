/* SPDX-License-Identifier: MIT */
/* What libreprise.so offers to the libraries behind it; NULL where it is not preloaded. */
#ifndef RP_PEER_REPRISE_H
#define RP_PEER_REPRISE_H

/* A call was refused, which was said: the job is about to be ended. */
__attribute__((weak, visibility("default"))) void reprise_refused(const char *function);

/* From now on, named receives may be cancelled that the program itself does not cancel: a recording
 * notes their handles. To be called before the first of them is posted. */
__attribute__((weak, visibility("default"))) void reprise_receives_may_be_cancelled(void);

#endif
