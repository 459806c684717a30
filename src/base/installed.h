/* SPDX-License-Identifier: MIT */
/* Where the libraries of reprise are, for its programs: in the build tree and in any prefix. */
#ifndef RP_INSTALLED_H
#define RP_INSTALLED_H

/* Returns the folder of our libraries, with a folder for each MPI and `cc`, which the caller frees.
 * If there is none, returns a path that does not exist. NULL: out of memory. */
char *rp_installed_folder(void);

#endif
