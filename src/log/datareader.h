/* SPDX-License-Identifier: MIT */
/* Reads the data log of one rank, entry by entry (docs/format.md, section 10). The log may be
 * whole, or that of a process that died. Damaged or hostile bytes give an error that says where. */
#ifndef RP_DATAREADER_H
#define RP_DATAREADER_H

#include <stdint.h>

#include "base/status.h"
#include "log/dataformat.h"

struct rp_data_reader;

/* Opens the data log of `rank` in the record `directory`; `run` and `ranks` are those of the
 * manifest. rp_data_free frees *out. Returns RP_USAGE if the rank has no data log. */
enum rp_status rp_data_open(const char *directory, uint64_t run, uint32_t rank, uint32_t ranks,
                            struct rp_data_reader **out, struct rp_problem *why);
/* Opens the log of the rank's loads in the same way. */
enum rp_status rp_data_open_loads(const char *directory, uint64_t run, uint32_t rank,
                                  uint32_t ranks, struct rp_data_reader **out,
                                  struct rp_problem *why);
/* Opens the log of its threads' turns in the same way. */
enum rp_status rp_data_open_turns(const char *directory, uint64_t run, uint32_t rank,
                                  uint32_t ranks, struct rp_data_reader **out,
                                  struct rp_problem *why);
void rp_data_free(struct rp_data_reader *reader);

const struct rp_data_place *rp_data_place(const struct rp_data_reader *reader);
uint64_t rp_data_size(const struct rp_data_reader *reader);   /* bytes on disk */
uint64_t rp_data_length(const struct rp_data_reader *reader); /* of the stream */
/* Whether the rank made windows for one-sided communication. */
bool rp_data_has_windows(const struct rp_data_reader *reader);
/* Whether the program was tracked: then the rank must have a log of loads, too. */
bool rp_data_is_tracked(const struct rp_data_reader *reader);
/* Of a log of loads that was not closed: how many loads the process had made. */
uint64_t rp_data_loads_made(const struct rp_data_reader *reader);
bool rp_data_tells_handlers(const struct rp_data_reader *reader);  /* it has entries `handler` */
bool rp_data_is_ended(const struct rp_data_reader *reader);        /* the process closed it */
uint64_t rp_data_all_entries(const struct rp_data_reader *reader); /* 0: it was not closed */

/* Begins the next entry. Sets *name to the name of its MPI function, or to NULL at the end of the
 * stream. All parts of the entry before must have been read. Fails as rp_data_failed says. */
enum rp_status rp_data_next(struct rp_data_reader *reader, const char **name,
                            struct rp_problem *why);

/* Returns the name of the next entry without beginning it; NULL if there is no further entry. */
const char *rp_data_peek(struct rp_data_reader *reader);

/* Read the parts of an entry, in the order in which they were put. After the first part that cannot
 * be read, all further parts are zero; rp_data_failed returns the reason. */
void rp_data_get(struct rp_data_reader *reader, void *bytes, size_t count);
uint64_t rp_data_get_number(struct rp_data_reader *reader);
int64_t rp_data_get_signed(struct rp_data_reader *reader);

/* Returns the bytes of a content and their *count; valid until the next content is read. */
const uint8_t *rp_data_get_content(struct rp_data_reader *reader, size_t *count);

/* Returns the first failure of reading: RP_OK if there was none, RP_BUSY if the stream ends inside
 * an entry since the process died there, else RP_DAMAGED or the error of the file. */
enum rp_status rp_data_failed(const struct rp_data_reader *reader, struct rp_problem *why);

uint64_t rp_data_read_entries(const struct rp_data_reader *reader); /* that were begun */

/* Reads and checks everything that can be checked without the program. */
enum rp_status rp_data_verify(struct rp_data_reader *reader, struct rp_problem *why);

#endif
