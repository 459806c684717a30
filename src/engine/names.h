/* SPDX-License-Identifier: MIT */
/*
 * Published names (MPI_Publish_name). Which publication a lookup found is what a recording says,
 * and a replay returns the port of that one: when it is withdrawn does not matter then. What a
 * process publishes is in files beside those of ports (ports.h, docs/format.md, section 17).
 */
#ifndef RP_NAMES_H
#define RP_NAMES_H

#include <stdbool.h>
#include <stdint.h>

/* In a recording, before `process` publishes it; and which publication has this name and port: its
 * number, the same in a replay, or 0 if it is not known. */
void rp_names_record(const char *process, const char *service, const char *port);
uint64_t rp_names_recorded(const char *service, const char *port);

/* In a replay: the next publication of `process` has this port; and the port of a publication,
 * which has room for MPI_MAX_PORT_NAME bytes. False: it is not published yet. */
void rp_names_replay(const char *process, const char *port);
bool rp_names_replayed(uint64_t publication, char *port);

/* Removes the files of this process. */
void rp_names_end(void);

#endif
