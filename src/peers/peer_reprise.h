/* SPDX-License-Identifier: MIT */
/* What libreprise.so offers to the libraries behind it. These are NULL where it is not preloaded.
 */
#ifndef RP_PEER_REPRISE_H
#define RP_PEER_REPRISE_H

/* `function` was refused, and the message is printed: the caller is about to end the job. */
__attribute__((weak, visibility("default"))) void reprise_refused(const char *function);

/* From now on, the library may cancel receives with a named source that the program itself does not
 * cancel, so a recording must keep their handles. To be called before the first of them is posted.
 */
__attribute__((weak, visibility("default"))) void reprise_receives_may_be_cancelled(void);

#endif
