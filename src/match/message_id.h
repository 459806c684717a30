/* SPDX-License-Identifier: MIT */
/*
 * Names of messages that do not depend on the order of execution (Lifflander et al., section VI):
 * (SPE, SRN, CPI). SPE is the sending endpoint, SRN its sender region number, CPI the commutative
 * path identifier: empty outside commutative regions, else a string of bits that says by which
 * messages the sender was led to send.
 */
#ifndef RP_MESSAGE_ID_H
#define RP_MESSAGE_ID_H

#include <stdbool.h>
#include <stdint.h>

enum { RP_CPI_BITS = 448, RP_CPI_BYTES = RP_CPI_BITS / 8 };

struct rp_cpi {
    uint16_t bits;
    uint8_t
        bytes[RP_CPI_BYTES]; /* the first bit is the highest of the first byte; unused ones are 0 */
};

struct rp_message_id {
    uint32_t spe, srn;
    struct rp_cpi cpi;
};

/* Appends a number as an Elias gamma code, which shows its own end. False: there is no room;
 * nothing is appended. */
bool rp_cpi_number(struct rp_cpi *cpi, uint64_t number);

/*
 * The CPI of the `child`-th message that an endpoint sends while it handles `parent`, a message of
 * the commutative region `region` (regions that may overlap have different numbers). SPE is then
 * the endpoint. The end of a region has no parent: it takes an empty one, a number of its own, and
 * as SRN the how-many-th region of its kind it is. No two messages of a run have the same identity,
 * and each has the same in every order. False: the chain of regions is too long.
 */
bool rp_cpi_child(const struct rp_message_id *parent, uint32_t region, uint32_t child,
                  struct rp_cpi *cpi);

bool rp_message_id_same(const struct rp_message_id *one, const struct rp_message_id *other);
uint64_t rp_message_id_hash(const struct rp_message_id *identity);

/* A set of identities. All zero is empty. */
struct rp_message_ids {
    struct rp_message_id_slot *slots;
    uint64_t room, count;
};

/* False: it was there, or there is no memory (then `failed` is set, if given). */
bool rp_message_ids_add(struct rp_message_ids *set, const struct rp_message_id *identity,
                        bool *failed);
bool rp_message_ids_has(const struct rp_message_ids *set, const struct rp_message_id *identity);
void rp_message_ids_clear(struct rp_message_ids *set);

#endif
