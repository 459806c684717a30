/* SPDX-License-Identifier: MIT */
/*
 * Communicators get numbers that are the same in all ranks, without communication. A number is made
 * of the parent's number, how many communicators were made from the parent before, and the first
 * rank of the new one. All members of the parent make its children in one order. Where only some of
 * them take part, what they all know takes the place of the count.
 */
#include "det/det_comms.h"

#include <stdlib.h>
#include <string.h>

#include "base/diagnostics.h"
#include "base/text.h"
#include "preload/constants.h"

enum { PREDEFINED = 2 }; /* MPI_COMM_WORLD and MPI_COMM_SELF */

static struct {
    struct rp_det_comm **at;
    size_t count, room, made;
    struct rp_det_comm *last;
    struct known {
        MPI_Group group;
        uint32_t *ranks; /* of its processes, in the job */
        int size;
    } * known; /* groups whose ranks are known: MPI_COMM_WORLD, then those of other jobs */
    size_t known_count;
    struct {
        uint64_t key, count;
    } * apart; /* how often communicators with this key were made */
    size_t apart_count;
} comms;

uint64_t rp_det_mix(uint64_t a, uint64_t b)
{
    uint64_t x = a ^ (b + UINT64_C(0x9e3779b97f4a7c15) + (a << 6) + (a >> 2));

    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* FNV-1a */
uint64_t rp_det_hash(const void *bytes, size_t length)
{
    uint64_t hash = 0xcbf29ce484222325u;

    for (size_t i = 0; i < length; i++)
        hash = (hash ^ ((const uint8_t *)bytes)[i]) * 0x100000001b3u;
    return hash ? hash : 1;
}

static void *need(void *memory)
{
    if (!memory)
        rp_bug(__FILE__, __LINE__, "out of memory for communicators");
    return memory;
}

/* Takes both over. */
static void add_known(MPI_Group group, uint32_t *ranks, int size)
{
    comms.known = need(realloc(comms.known, (comms.known_count + 1) * sizeof *comms.known));
    comms.known[comms.known_count++] = (struct known){group, ranks, size};
}

/* Ranks of a group in the job, as far as this known group has them: how many are still open. */
static int translate(MPI_Group group, int size, const struct known *known, uint32_t *ranks)
{
    int *own = need(calloc((size_t)size + 1, sizeof *own)),
        *found = need(calloc((size_t)size + 1, sizeof *found)), open = 0;

    for (int i = 0; i < size; i++)
        own[i] = i;
    rp_pmpi.Group_translate_ranks(group, size, own, known->group, found);
    for (int i = 0; i < size; i++) {
        if (found[i] != MPI_UNDEFINED)
            ranks[i] = known->ranks[found[i]];
        open += ranks[i] == UINT32_MAX;
    }
    free(own);
    free(found);
    return open;
}

static uint32_t *ranks_of(MPI_Group group, int size)
{
    uint32_t *ranks = need(malloc(((size_t)size + 1) * sizeof *ranks));
    int open = size;

    memset(ranks, 0xff, ((size_t)size + 1) * sizeof *ranks);
    for (size_t i = 0; i < comms.known_count && open > 0; i++)
        open = translate(group, size, &comms.known[i], ranks);
    if (open > 0)
        rp_det_refuse("a communicator with processes of another job");
    return ranks;
}

/* Whether all processes of a group are in our MPI_COMM_WORLD. Frees the group. */
static bool is_of_world(MPI_Group group)
{
    int size;

    rp_pmpi.Group_size(group, &size);
    uint32_t *ranks = need(malloc(((size_t)size + 1) * sizeof *ranks));
    memset(ranks, 0xff, ((size_t)size + 1) * sizeof *ranks);
    bool is_all = translate(group, size, &comms.known[0], ranks) == 0;
    free(ranks);
    rp_pmpi.Group_free(&group);
    return is_all;
}

/* Whether an intercommunicator is of one job: all its processes see that alike. */
static bool is_of_one_job(MPI_Comm inter)
{
    MPI_Group local, remote;

    rp_pmpi.Comm_group(inter, &local);
    rp_pmpi.Comm_remote_group(inter, &remote);
    bool local_is = is_of_world(local);
    return is_of_world(remote) && local_is;
}

/* Both sides tell each other their ranks in the job. */
static void meet(MPI_Comm inter)
{
    uint32_t own = rp_shared.rank;
    MPI_Group remote;
    int size;

    rp_pmpi.Comm_remote_size(inter, &size);
    rp_pmpi.Comm_remote_group(inter, &remote);
    uint32_t *ranks = need(calloc((size_t)size + 1, sizeof *ranks));
    rp_pmpi.Allgather(&own, sizeof own, rp_constant.byte, ranks, sizeof own, rp_constant.byte,
                      inter);
    rp_shared_see_jobs();
    add_known(remote, ranks, size);
}

static void add_members(struct rp_det_comm *c, const uint32_t *ranks, int size)
{
    for (int i = 0; i < size; i++)
        c->members[ranks[i] / 64] |= UINT64_C(1) << ranks[i] % 64;
    c->member_count += (uint32_t)size;
}

void rp_det_add_members(uint64_t *members, MPI_Group group)
{
    int size;

    rp_pmpi.Group_size(group, &size);
    uint32_t *ranks = ranks_of(group, size);
    for (int i = 0; i < size; i++)
        members[ranks[i] / 64] |= UINT64_C(1) << ranks[i] % 64;
    free(ranks);
}

uint32_t rp_det_rank_in_job(MPI_Group group, int rank)
{
    int size;

    rp_pmpi.Group_size(group, &size);
    if (rank < 0 || rank >= size)
        return UINT32_MAX;
    uint32_t *ranks = ranks_of(group, size), found = ranks[rank];
    free(ranks);
    return found;
}

static uint32_t look_at(struct rp_det_comm *c)
{
    MPI_Group group, remote;
    int is_inter = 0, size;

    rp_pmpi.Comm_test_inter(c->comm, &is_inter);
    rp_pmpi.Comm_rank(c->comm, &c->from);
    rp_pmpi.Comm_size(c->comm, &size);
    rp_pmpi.Comm_group(c->comm, &group);
    c->members = need(calloc(rp_shared_words(), sizeof *c->members));
    uint32_t *own = ranks_of(group, size), first = own[0];
    rp_pmpi.Group_free(&group);
    add_members(c, own, size);
    c->size = size;
    c->world = own;
    if (!is_inter)
        return first;
    rp_pmpi.Comm_remote_size(c->comm, &c->size);
    rp_pmpi.Comm_remote_group(c->comm, &remote);
    c->world = ranks_of(remote, c->size);
    rp_pmpi.Group_free(&remote);
    add_members(c, c->world, c->size);
    first = c->world[0] < first ? c->world[0] : first;
    free(own);
    return first;
}

static struct rp_det_comm *add(MPI_Comm comm, uint64_t id, bool adds_first)
{
    struct rp_det_comm *c = need(calloc(1, sizeof *c));

    if (comms.count == comms.room) {
        comms.room = comms.room ? comms.room * 2 : 16;
        comms.at = need(realloc(comms.at, comms.room * sizeof *comms.at));
    }
    c->comm = comm;
    c->made_by = rp_det.function;
    c->made_before = comms.made++;
    uint32_t first = look_at(c);
    c->id = adds_first ? rp_det_mix(id, first) : id;
    comms.at[comms.count++] = c;
    return c;
}

static struct rp_det_comm *find(MPI_Comm comm)
{
    for (size_t i = comms.count; i-- > 0;)
        if (comms.at[i]->comm == comm && !comms.at[i]->is_freed)
            return comms.last = comms.at[i];
    return NULL;
}

struct rp_det_comm *rp_det_comm_by_id(uint64_t id)
{
    for (size_t i = comms.count; i-- > 0;)
        if (comms.at[i]->id == id && !comms.at[i]->is_freed)
            return comms.at[i];
    return NULL;
}

struct rp_det_comm *rp_det_comm_find(MPI_Comm comm)
{
    struct rp_det_comm *c = comms.last && comms.last->comm == comm ? comms.last : find(comm);

    if (!c && comm != rp_constant.comm_null)
        rp_det_refuse("a call on a communicator that was made in a way which is not followed");
    return c;
}

static uint64_t world_id(void)
{
    return rp_shared.first == 0 ? 1 : rp_det_mix(4, rp_shared.first);
}

bool rp_det_comm_is_world(uint64_t id)
{
    return id == world_id();
}

void rp_det_comms_start(void)
{
    uint32_t *ranks = need(calloc(rp_shared.size, sizeof *ranks));
    MPI_Group world;

    for (uint32_t i = 0; i < rp_shared.size; i++)
        ranks[i] = rp_shared.first + i;
    rp_pmpi.Comm_group(rp_constant.world, &world);
    add_known(world, ranks, (int)rp_shared.size);
    add(rp_constant.world, world_id(), false);
    add(rp_constant.self, rp_det_mix(2, rp_shared.rank), false);
}

MPI_Comm rp_det_comms_all(void)
{
    return rp_det_comm_by_id(world_id())->comm;
}

void rp_det_comms_add_world(void)
{
    rp_constants_find();
    add(rp_constant.world, rp_det_mix(world_id(), 8), false);
    add(rp_constant.self, rp_det_mix(rp_det_mix(2, rp_shared.rank), 8), false);
}

void rp_det_comm_made(MPI_Comm parent, MPI_Comm made)
{
    struct rp_det_comm *p = rp_det_comm_find(parent);

    if (!p)
        return;
    uint64_t id = rp_det_mix(p->id, ++p->made);
    if (made != rp_constant.comm_null)
        add(made, id, true);
}

uint64_t rp_det_count_of(uint64_t key)
{
    for (size_t i = 0; i < comms.apart_count; i++)
        if (comms.apart[i].key == key)
            return ++comms.apart[i].count;
    comms.apart = need(realloc(comms.apart, (comms.apart_count + 1) * sizeof *comms.apart));
    comms.apart[comms.apart_count].key = key;
    return comms.apart[comms.apart_count++].count = 1;
}

void rp_det_comm_made_by_some(uint64_t salt, MPI_Comm made)
{
    if (made == rp_constant.comm_null)
        return;
    struct rp_det_comm *c = add(made, 3, true);
    uint64_t key = rp_det_mix(c->id, salt);
    for (uint32_t i = 0; i < rp_shared_words(); i++)
        key = rp_det_mix(key, c->members[i]);
    c->id = rp_det_mix(key, rp_det_count_of(key));
}

void rp_det_comm_made_between(uint64_t salt, MPI_Comm made)
{
    if (made != rp_constant.comm_null && !is_of_one_job(made))
        meet(made);
    rp_det_comm_made_by_some(salt, made);
}

void rp_det_comm_spawned(MPI_Comm made, uint64_t id)
{
    meet(made);
    add(made, id, false);
}

uint64_t rp_det_comm_reserve_id(MPI_Comm parent)
{
    struct rp_det_comm *p = rp_det_comm_find(parent);

    return p ? rp_det_mix(rp_det_mix(p->id, ++p->made), 5) : 0;
}

void rp_det_comm_made_with_id(MPI_Comm made, uint64_t id)
{
    add(made, id, false);
}

static void forget(struct rp_det_comm *c)
{
    for (size_t i = 0; i < comms.count; i++)
        if (comms.at[i] == c)
            comms.at[i] = comms.at[--comms.count];
    free(c->world);
    free(c->members);
    free(c);
}

void rp_det_comm_freed(struct rp_det_comm *comm, bool is_used)
{
    comms.last = NULL;
    comm->is_freed = true;
    if (!is_used)
        forget(comm);
}

/* Files */

static struct {
    struct {
        MPI_File file;
        struct rp_det_comm *comm;
    } * at;
    size_t count;
} files;

void rp_det_file_opened(MPI_Comm comm, MPI_File file)
{
    struct rp_det_comm *c = rp_det_comm_find(comm), *own = need(calloc(1, sizeof *own));
    size_t words = rp_shared_words();

    files.at = need(realloc(files.at, (files.count + 1) * sizeof *files.at));
    own->id = rp_det_mix(rp_det_mix(c->id, ++c->made), 7);
    own->members = need(calloc(words, sizeof *own->members));
    memcpy(own->members, c->members, words * sizeof *own->members);
    own->member_count = c->member_count;
    files.at[files.count].file = file;
    files.at[files.count++].comm = own;
}

struct rp_det_comm *rp_det_file_comm(MPI_File file)
{
    for (size_t i = 0; i < files.count; i++)
        if (files.at[i].file == file)
            return files.at[i].comm;
    return NULL;
}

static bool is_file(uint64_t id)
{
    for (size_t i = 0; i < files.count; i++)
        if (files.at[i].comm->id == id)
            return true;
    return false;
}

void rp_det_file_closed(MPI_File file)
{
    for (size_t i = 0; i < files.count; i++)
        if (files.at[i].file == file) {
            free(files.at[i].comm->members);
            free(files.at[i].comm);
            files.at[i] = files.at[--files.count];
            return;
        }
}

/* Names */

void rp_det_put_comm(struct rp_buffer *text, const struct rp_det_comm *comm)
{
    char name[MPI_MAX_OBJECT_NAME + 1] = "";
    int length = 0;

    if (!comm->is_freed)
        rp_pmpi.Comm_get_name(comm->comm, name, &length);
    if (name[0])
        rp_buffer_printf(text, " on %s", rp_text_shown(name));
    else
        rp_buffer_printf(text, " on a communicator of %u ranks, made by %s (number %zu here)",
                         comm->member_count, comm->made_by ? comm->made_by : "MPI",
                         comm->made_before - PREDEFINED + 1);
}

void rp_det_put_comm_of(struct rp_buffer *text, uint64_t id)
{
    const struct rp_det_comm *comm = rp_det_comm_by_id(id);

    if (comm)
        rp_det_put_comm(text, comm);
    else if (is_file(id))
        rp_buffer_printf(text, " on a file");
}
