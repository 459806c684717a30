/* SPDX-License-Identifier: MIT */
/*
 * Ranks in one process, to run the code of src/det itself, without MPI, in as many orders as we
 * like. Each rank is a coroutine; what the code keeps in static variables is exchanged when another
 * rank goes on. Ranks may change at every atomic access to shared memory, and must wherever the
 * code waits. MPI is a stand-in that delivers at once.
 *
 * An order also says how many hosts there are, who is where, and how slow the network is. Each host
 * has memory of its own; its leader (leader.c) is one more coroutine, which sleeps where the
 * real one would. What is sent to another host comes in order, but in any pieces, and as late as it
 * likes.
 *
 * A program is made from bytes (model_make), an order from a seed (model_run). What a rank sees
 * (matches, payloads, answers, and its clock after every operation) is a list of facts. All orders
 * of one program must give the same.
 *
 * Not modelled: memory that is seen in another order than it was written, messages of MPI that are
 * slower than their envelopes.
 */
#ifndef DET_MODEL_H
#define DET_MODEL_H

#include "model_run.h"

                            ? 4000
                            : 8 * MODEL_RANKS); /* a leader takes many turns to look at its ranks */
                            }

                            /* Where everyone is, if a run does not come to an end. */
                            static void model_print_states(void)
                            {
                                static const char *const waits[] = {"message", "any", "taker",
                                                                    "meeting", "deaf"};

                                for (int i = 0; i < model.program->ranks; i++) {
                                    model_load(i);
                                    const struct rp_shared_rank *state = rp_shared.own;
                                    printf("  rank %d in operation %d at %llu, version %llu: %s, "
                                           "target %u, candidate %lld, "
                                           "inbox %s%s\n",
                                           i, model_op_now[i],
                                           (unsigned long long)rp_shared_clock_of((uint32_t)i),
                                           (unsigned long long)state->version, waits[state->wait],
                                           state->target, (long long)state->candidate,
                                           state->inbox ? "full" : "empty",
                                           model.ranks[i].is_in_mpi ? ", in MPI" : "");
                                }
                            }

                            static void model_schedule(void)
                            {
                                enum { MOST_TURNS = 4000000 };
                                unsigned rounds = 0;
                                int rank;

                                for (; (rank = model_choose(rounds > 0)) >= 0 &&
                                       !model_is_stuck(&rounds);
                                     model.turns++) {
                                    if (model.turns == MOST_TURNS) {
                                        model.result->hangs = true;
                                        model_print_states();
                                        return;
                                    }
                                    model_load(rank);
                                    model.now = rank;
                                    model_resume(&model.ranks[rank]);
                                    model.now = -1;
                                    if (model.ranks[rank].end == MODEL_REFUSED)
                                        return;
                                }
                            }

                            /* An order of steps: who goes on, and how often that changes, by a
                             * seed. */
                            static void model_run(const struct model_program *program,
                                                  uint64_t seed, struct model_result *result)
                            {
                                static const unsigned periods[] = {0, 2, 4, 16, 64};

                                memset(result->counts, 0, sizeof result->counts);
                                result->hangs = result->is_refused = result->mismatches =
                                    result->is_wrong = false;
                                model.result = result;
                                model.now = -1;
                                model.program = program;
                                model.seed = seed;
                                model_spread();
                                model_open(program);
                                model.period = periods[model_random() % 5];
                                model.odd_one =
                                    model_random() % 2
                                        ? (int)(model_random() % (unsigned)program->ranks)
                                        : -1;
                                if (model.odd_one >= 0 && model.hosts > 1 && model_random() % 2)
                                    model.odd_one =
                                        MODEL_RANKS + (int)(model_random() % (unsigned)model.hosts);
                                model.odd_times = model_random() % 2 ? 0 : 1u << model_random() % 7;
                                model_schedule();
                                for (int i = 0; i < program->ranks; i++) {
                                    model_load(i);
                                    result->ends[i] =
                                        model.ranks[i].end == MODEL_RUNS
                                            ? MODEL_DEADLOCK
                                            : model.ranks[i].end; /* some wait inside MPI, and
                                                                     cannot say so */
                                    result->is_refused |= result->ends[i] == MODEL_REFUSED;
                                    if (result->ends[i] != MODEL_ENDED)
                                        result->clocks[i] = rp_shared_now();
                                }
                                model_close_network();
                                model_load(-1);
                                memset(&matching, 0, sizeof matching);
                                model_free_all();
                            }

                            /* -1: the same. Else the rank in which they first differ. */
                            static int model_compare(const struct model_program *program,
                                                     const struct model_result *one,
                                                     const struct model_result *other, int *fact)
                            {
                                for (int i = 0; i < program->ranks; i++) {
                                    int least = one->counts[i] < other->counts[i]
                                                    ? one->counts[i]
                                                    : other->counts[i];
                                    for (*fact = 0; *fact < least; ++*fact) {
                                        const struct model_fact *a = &one->facts[i][*fact],
                                                                *b = &other->facts[i][*fact];
                                        if (a->op != b->op || a->what != b->what ||
                                            a->value != b->value || a->clock != b->clock)
                                            return i;
                                    }
                                    if (one->counts[i] != other->counts[i] ||
                                        one->ends[i] != other->ends[i] ||
                                        one->clocks[i] != other->clocks[i])
                                        return i;
                                }
                                return -1;
                            }

                            /* Programs from bytes */

                            struct model_bytes {
                                const uint8_t *at, *end;
                            };

                            static unsigned model_byte(struct model_bytes *bytes, unsigned limit)
                            {
                                return bytes->at < bytes->end ? *bytes->at++ % limit : 0;
                            }

                            static struct model_op *model_add(struct model_program *program,
                                                              int rank, enum model_kind kind,
                                                              int peer, int tag, int number,
                                                              int ticks)
                            {
                                static struct model_op none;

                                if (program->counts[rank] == MODEL_OPS)
                                    return &none;
                                struct model_op *op = &program->ops[rank][program->counts[rank]++];
                                *op = (struct model_op){kind, peer, tag, number, ticks};
                                return op;
                            }

                            /* A message, and a receive that may take it. */
                            static void model_add_message(struct model_program *program,
                                                          struct model_bytes *bytes)
                            {
                                static const enum model_kind sends[] = {MODEL_SEND,   MODEL_SEND,
                                                                        MODEL_SEND,   MODEL_SSEND,
                                                                        MODEL_ISSEND, MODEL_ISSEND};
                                static const enum model_kind receives[] = {MODEL_RECV,  MODEL_RECV,
                                                                           MODEL_IRECV, MODEL_IRECV,
                                                                           MODEL_IRECV, MODEL_PROBE,
                                                                           MODEL_IPROBE};
                                int ranks = program->ranks;
                                int from = (int)model_byte(bytes, (unsigned)ranks),
                                    to = (int)((unsigned)from + 1 +
                                               model_byte(bytes, (unsigned)ranks - 1)) %
                                         ranks;
                                int tag = (int)model_byte(bytes, 2),
                                    wild = (int)model_byte(bytes, 8),
                                    ticks = 1 + (int)model_byte(bytes, 3);
                                enum model_kind send = sends[model_byte(bytes, 6)],
                                                receive = receives[model_byte(bytes, 7)];
                                int source = wild & 3 ? -1 : from, its_tag = wild & 4 ? tag : -1;

                                if (wild == 3) /* the receive is posted later */
                                    model_add(program, to, MODEL_COMPUTE, 0, 0, ticks * 5, 1);
                                model_add(program, from, send, to, tag, 0, ticks);
                                if (receive == MODEL_PROBE || receive == MODEL_IPROBE)
                                    model_add(program, to, receive, source, its_tag, 1 + wild,
                                              ticks);
                                model_add(program, to,
                                          receive == MODEL_IRECV ? MODEL_IRECV : MODEL_RECV, source,
                                          its_tag, 0, ticks);
                            }

                            static void model_add_collective(struct model_program *program,
                                                             struct model_bytes *bytes,
                                                             enum model_kind kind)
                            {
                                unsigned mask = 1 + model_byte(bytes, (1u << program->ranks) - 1);

                                for (int i = 0; i < program->ranks; i++)
                                    if (mask >> i & 1)
                                        model_add(program, i, kind, (int)mask, 0, 0,
                                                  1 + (int)model_byte(bytes, 2));
                            }

                            /* A call that nobody may answer. */
                            static void model_add_alone(struct model_program *program,
                                                        struct model_bytes *bytes, int rank)
                            {
                                static const enum model_kind kinds[] = {MODEL_SEND, MODEL_IRECV,
                                                                        MODEL_RECV, MODEL_IPROBE,
                                                                        MODEL_ISSEND};
                                enum model_kind kind = kinds[model_byte(bytes, 5)];
                                int peer = (int)model_byte(bytes, (unsigned)program->ranks),
                                    tag = (int)model_byte(bytes, 3) - 1;
                                bool sends = kind == MODEL_SEND || kind == MODEL_ISSEND;

                                model_add(program, rank, kind,
                                          sends          ? peer
                                          : peer == rank ? -1
                                                         : peer,
                                          sends && tag < 0 ? 0 : tag, 1 + (int)model_byte(bytes, 4),
                                          1);
                            }

                            static void model_add_something(struct model_program *program,
                                                            struct model_bytes *bytes, bool cancels)
                            {
                                static const enum model_kind kinds[] = {
                                    MODEL_WAITANY, MODEL_WAITANY, MODEL_WAITSOME, MODEL_WAIT,
                                    MODEL_TEST,    MODEL_TEST,    MODEL_TESTANY,  MODEL_TESTSOME,
                                    MODEL_TESTALL, MODEL_WAITALL};
                                unsigned choice = model_byte(bytes, 32);
                                int rank = (int)model_byte(bytes, (unsigned)program->ranks);

                                if (choice < 16)
                                    model_add_message(program, bytes);
                                else if (choice < 18)
                                    model_add(program, rank, MODEL_COMPUTE, 0, 0,
                                              (int)model_byte(bytes, 24), 1);
                                else if (choice < 27)
                                    model_add(program, rank, kinds[model_byte(bytes, 10)], 0, 0,
                                              (int)model_byte(bytes, 48),
                                              1 + (int)model_byte(bytes, 3));
                                else if (choice < 30)
                                    model_add_collective(program, bytes,
                                                         choice == 27   ? MODEL_BARRIER
                                                         : choice == 28 ? MODEL_COLLECTIVE
                                                                        : MODEL_IBARRIER);
                                else if (choice == 30 || !cancels)
                                    model_add_alone(program, bytes, rank);
                                else
                                    model_add(program, rank, MODEL_CANCEL, 0, 0,
                                              (int)model_byte(bytes, MODEL_SLOTS), 1);
                            }

                            static void model_make(struct model_program *program,
                                                   struct model_bytes *bytes, bool cancels)
                            {
                                memset(program, 0, sizeof *program);
                                program->ranks = 2 + (int)model_byte(bytes, MODEL_RANKS - 1);
                                program->latency = 1 + model_byte(bytes, 8);
                                for (int i = 0; i < program->ranks; i++)
                                    program->begin[i] = 1 + model_byte(bytes, 6);
                                unsigned number = 2 + model_byte(bytes, 24);
                                for (unsigned i = 0; i < number && bytes->at < bytes->end; i++)
                                    model_add_something(program, bytes, cancels);
                            }

                            /* For people */

                            static void model_print(const struct model_program *program)
                            {
                                printf("latency %llu\n", (unsigned long long)program->latency);
                                for (int i = 0; i < program->ranks; i++) {
                                    printf("  rank %d from %llu:", i,
                                           (unsigned long long)program->begin[i]);
                                    for (int k = 0; k < program->counts[i]; k++) {
                                        const struct model_op *op = &program->ops[i][k];
                                        printf(" %s(%d,%d,%d)+%d", model_names[op->kind], op->peer,
                                               op->tag, op->number, op->ticks);
                                    }
                                    printf("\n");
                                }
                            }

                            static void model_print_result(const struct model_result *result,
                                                           int rank)
                            {
                                static const char *const ends[] = {"runs", "ended", "deadlock",
                                                                   "refused"};

                                printf("  rank %d %s at %llu:", rank, ends[result->ends[rank]],
                                       (unsigned long long)result->clocks[rank]);
                                for (int i = 0; i < result->counts[rank]; i++) {
                                    const struct model_fact *fact = &result->facts[rank][i];
                                    printf(" %d%c%d@%llu", fact->op, fact->what, fact->value,
                                           (unsigned long long)fact->clock);
                                }
                                printf("\n");
                            }

#endif
