/* SPDX-License-Identifier: MIT */
/*
 * Inside the tracking of loads (partial_tracking.h): its state, the log of loads, and what each
 * load of a tracked program does with it.
 */
#ifndef RP_PARTIAL_TRACKED_LOADS_H
#define RP_PARTIAL_TRACKED_LOADS_H

#include <pthread.h>

#include "partial/partial_state.h"
#include "window/tracked_regions.h"

/* Entries of the log of loads, by number and name. */
enum { RP_TRACK_LOAD, RP_TRACK_END, RP_TRACK_CALLS };
extern RP_HIDDEN const char *const rp_track_names[];

struct rp_tracking {
    struct reprise_track *track; /* the program's; NULL: nothing is tracked */
    pthread_t thread;            /* whose loads these are */
    bool is_parted; /* others do not store into the memory that the program works on: it calls
                       before its accesses */
    struct rp_tracked_regions regions;
    uint64_t last_logged; /* the number of the last load in the log that was written or read */
    uint64_t loads_made;
    struct rp_data_writer *writer; /* recording */
    /* Feeding */
    struct rp_data_reader *reader;
    bool was_parted;
    struct {
        uint64_t due; /* the number of the load that is to return it */
        bool is_end;
        uint64_t place;
        const uint8_t *bytes;
        size_t length;
    } next;
};
extern RP_HIDDEN struct rp_tracking rp_tracking;

/* Zeros; does not return if there is no memory. */
void *rp_track_allocate(size_t size);

/* Copies memory that others may change at any time: each byte is read once. Valid until the next
 * call. */
void *rp_track_copy_of(const void *bytes, size_t size);

/* Whether an access is none of the program's: it is inside an MPI call, or the recording is over.
 * Does not return if it is one of another thread, to window memory. */
bool rp_track_passes(const void *at, size_t size);

/* A load read this value, which is all in region t. Recording: logs it if it differs from the
 * shadow. Feeding: sets memory and value to what was recorded. */
void rp_track_record_load(const struct rp_tracked *t, uintptr_t from, uint8_t *value, size_t size);
void rp_track_feed_load(const struct rp_tracked *t, uintptr_t from, uint8_t *value, size_t size);

/* Feeding: the program makes other loads than were recorded. Ends the process with status 121. */
void rp_track_differs(const char *what);

/* Feeding: reads the next load in the log. */
void rp_track_read_next(void);

/* Feeding, traced: traces that the program loaded (`loads`) or stored `value` at `at`. */
void rp_track_tell(bool loads, const void *at, const void *value, size_t size);

#endif
