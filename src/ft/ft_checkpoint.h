/* SPDX-License-Identifier: MIT */
/* Takes checkpoints with all other ranks, and goes back to them. */
#ifndef RP_FT_CHECKPOINT_H
#define RP_FT_CHECKPOINT_H

#include <stdbool.h>
#include <stdint.h>

/* Where this rank is among its checkpoints. */
struct rp_ft_checkpointing {
    int64_t generation;         /* of the last one; -1: none */
    int64_t restart_generation; /* with what the loop begins; -1: with none */
    long interval;              /* in iterations */
    bool has_chosen;            /* the interval follows from measurements */
    bool left_loop;             /* the program has left its loop */
    bool can_go_back;           /* to its beginning */
    double seconds;             /* that the last one took */
};
extern struct rp_ft_checkpointing rp_ft_checkpointing;

/* Begins; sets the handlers. */
void rp_ft_checkpoints_start(void);

/* Takes one at the beginning of this iteration. If it `settles`, all wait until all have it. Ends
 * the job if requests, messages or communicators are open that a checkpoint cannot hold. */
void rp_ft_checkpoint_take(long iteration, bool settles);

/* Goes on from the checkpoint `restart_generation`, from which memory and messages are restored.
 * Returns its iteration. */
long rp_ft_checkpoint_resume(void);

/* Begins the whole job again from files: the latest generation that all ranks have. Returns its
 * iteration. Ends the job if there is none. */
long rp_ft_checkpoint_restart_from_files(void);

/* Behind the loop, control cannot return to it: logs must reach back from here on. */
void rp_ft_checkpoint_end_loop(void);

/* Sends our buddies the last one, if they do not have it: in every new world. */
void rp_ft_checkpoint_send_copies(void);

/* This process took over a rank: its loop will begin with this checkpoint; -1: with none. */
void rp_ft_checkpoint_choose(int64_t generation);

/* Forgets all checkpoints, or those that are later than this one. */
void rp_ft_checkpoints_forget(void);
void rp_ft_checkpoints_forget_after(int64_t generation);

#endif
