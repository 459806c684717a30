/* SPDX-License-Identifier: MIT */
/*
 * The environment variables of a recording. Ranks can only have had those of whoever started
 * `reprise record` and those that the launcher added; the first are recorded (by rank 0, in the
 * description of the run), so that a replay has them, too: OMP_NUM_THREADS=4 set for one command is
 * not set for the next. What belongs to the terminal, the login or the batch job, and what looks
 * like a secret, is not recorded.
 */
#ifndef RP_RECORDED_ENV_H
#define RP_RECORDED_ENV_H

/* Names those that are to be recorded, for the ranks (REPRISE_VARIABLES); none with
 * REPRISE_NO_ENVIRONMENT. */
void rp_recorded_env_note(void);

/* Sets the recorded ones that are not set. Those that are, stay as they are: they may be meant
 * so. */
void rp_recorded_env_take(char *const *recorded);

/* Says which are not as they were: a reason for a replay to leave its record. Nothing if nothing
 * was recorded. */
void rp_recorded_env_say_others(char *const *recorded);

#endif
