/* SPDX-License-Identifier: MIT */
/*
 * Monte-Carlo particle exchange, after the communication pattern of MCB (clock delta compression
 * paper, section 2.1).
 *
 * The ranks form a periodic 2-D grid; each owns a unit square. A particle flies, collides, deposits
 * energy, is absorbed or reaches the end of the time step, or leaves for a neighbour. At the start
 * of a time step a rank posts a receive from every neighbour and one from any source for control
 * messages. It then tracks a batch of local particles, calls Testsome, appends what has arrived to
 * its local list, posts the receive again, and so on: first come, first served.
 *
 * The end of a time step is found by messages alone. Counts of finished particles go up a binary
 * tree of ranks; when the root has counted all particles of the step, 'done' goes down the tree. By
 * then every particle message and every report of this step has been received, so the receives
 * still posted can be cancelled. Tags hold the step number: a neighbour that is a step ahead cannot
 * disturb.
 *
 * A particle carries its own random numbers, so its history is the same in every run. Energy is
 * counted in integers, whose sums are exact; the tallies are sums of doubles in order of processing
 * and so depend on the order of messages.
 */
#include "app.h"

#include <inttypes.h>
#include <math.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

enum { WEST, EAST, SOUTH, NORTH, SIDES };
enum { SELF = -1 };
enum { MESSAGE_PARTICLES = 64, BATCH_PARTICLES = 32 };
enum { CELLS_PER_SIDE = 8, CELLS = CELLS_PER_SIDE * CELLS_PER_SIDE };
enum { CONTROL_REPORT, CONTROL_DONE };
enum { TREE_CHILDREN = 2 };
enum { OPTION_SIZE, OPTION_WORK, OPTION_STEPS };

/* Slots in the array of sends, after one slot for each link. */
enum { SEND_REPORT, SEND_DONE, OTHER_SENDS = SEND_DONE + TREE_CHILDREN };

static const double flight_per_step = 0.5; /* sides of a rank's square */
static const double mean_free_path = 0.15;
static const double absorption_probability = 0.01;
static const uint64_t source_energy = 1000000000;
static const double energy_unit = 1e-9; /* no power of two, so that the tallies really round */
static const double pi = 3.14159265358979323846;

static struct app_option options[] = {
    [OPTION_SIZE] = {"size", "particles per rank", 80000, 1, UINT64_C(1) << 32},
    [OPTION_WORK] = {"work", "arithmetic steps of a cross-section look-up, 1 to 2 ns each", 50, 0,
                     UINT64_C(1) << 32},
    [OPTION_STEPS] = {"steps", "time steps", 10, 1, 10000},
    {0},
};

static const struct app_spec spec = {"particles",
                                     "Monte-Carlo particles move between neighbouring ranks.", 1,
                                     options};

struct particle {
    double position[2];  /* within the owner's unit square */
    double direction[2]; /* of length 1 */
    double flight_left;  /* in this time step */
    uint64_t energy;
    struct app_random random;
};

struct particle_list {
    struct particle *items;
    size_t count;
    size_t capacity;
};

/* One neighbouring rank, even where it lies on several sides. */
struct link {
    int rank;
    struct particle_list outbox;
    struct particle outgoing[MESSAGE_PARTICLES]; /* belongs to MPI while its send is under way */
    struct particle incoming[MESSAGE_PARTICLES];
};

struct control {
    uint64_t kind;
    uint64_t finished;
    uint64_t survivors; /* of those finished */
};

struct domain {
    struct app *app;
    int side_link[SIDES]; /* index of the link across that side, or SELF */
    struct link links[SIDES];
    int link_count;

    struct particle_list local;  /* still to be tracked in this step */
    struct particle_list census; /* waiting for the next step */
    double tally[CELLS];
    uint64_t exact_tally[CELLS];
    uint64_t absorbed;

    int step;
    bool step_done;
    uint64_t expected;       /* at the root: particles in this step, of all ranks */
    struct control progress; /* what this subtree has finished and the parent does not know */
    struct control incoming_control;
    struct control outgoing_report;
    struct control outgoing_done;

    MPI_Request receives[SIDES + 1]; /* a slot for each link, then control */
    MPI_Request sends[SIDES + OTHER_SENDS];
};

static int particle_tag(const struct domain *domain)
{
    return 2 * domain->step;
}

static int control_tag(const struct domain *domain)
{
    return 2 * domain->step + 1;
}

static void list_append(struct particle_list *list, const struct particle *particles, size_t count)
{
    if (list->count + count > list->capacity) {
        size_t capacity = 2 * (list->count + count);
        struct particle *items = app_allocate(capacity, sizeof *items);
        if (list->count > 0)
            memcpy(items, list->items, list->count * sizeof *items);
        free(list->items);
        list->items = items;
        list->capacity = capacity;
    }
    memcpy(list->items + list->count, particles, count * sizeof *particles);
    list->count += count;
}

/* Setting up */

static int find_or_add_link(struct domain *domain, int rank)
{
    if (rank == domain->app->rank)
        return SELF;
    for (int i = 0; i < domain->link_count; i++)
        if (domain->links[i].rank == rank)
            return i;
    domain->links[domain->link_count].rank = rank;
    return domain->link_count++;
}

static void connect_neighbours(struct domain *domain)
{
    int shape[2] = {0, 0};
    MPI_Dims_create(domain->app->ranks, 2, shape);
    int column = domain->app->rank % shape[0], row = domain->app->rank / shape[0];
    int west = (column + shape[0] - 1) % shape[0], east = (column + 1) % shape[0];
    int south = (row + shape[1] - 1) % shape[1], north = (row + 1) % shape[1];
    domain->side_link[WEST] = find_or_add_link(domain, row * shape[0] + west);
    domain->side_link[EAST] = find_or_add_link(domain, row * shape[0] + east);
    domain->side_link[SOUTH] = find_or_add_link(domain, south * shape[0] + column);
    domain->side_link[NORTH] = find_or_add_link(domain, north * shape[0] + column);
}

static void set_random_direction(struct particle *particle)
{
    double angle = 2 * pi * app_random_unit(&particle->random);
    particle->direction[0] = cos(angle);
    particle->direction[1] = sin(angle);
}

static struct particle new_particle(const struct app *app, uint64_t number)
{
    struct particle particle = {.random = app_random_from(app->seed, (uint64_t)app->rank, number)};
    particle.position[0] = app_random_unit(&particle.random);
    particle.position[1] = app_random_unit(&particle.random);
    particle.energy = source_energy + app_random_below(&particle.random, source_energy);
    set_random_direction(&particle);
    return particle;
}

/* Returns the energy of the particles made. */
static uint64_t make_particles(struct domain *domain)
{
    uint64_t energy = 0;
    for (uint64_t number = 0; number < options[OPTION_SIZE].value; number++) {
        struct particle particle = new_particle(domain->app, number);
        energy += particle.energy;
        list_append(&domain->census, &particle, 1);
    }
    return energy;
}

static struct domain *create_domain(struct app *app)
{
    struct domain *domain = app_allocate(1, sizeof *domain);
    domain->app = app;
    domain->expected = options[OPTION_SIZE].value * (uint64_t)app->ranks;
    for (int i = 0; i < SIDES + 1; i++)
        domain->receives[i] = MPI_REQUEST_NULL;
    for (int i = 0; i < SIDES + OTHER_SENDS; i++)
        domain->sends[i] = MPI_REQUEST_NULL;
    connect_neighbours(domain);
    return domain;
}

static void free_domain(struct domain *domain)
{
    for (int i = 0; i < domain->link_count; i++)
        free(domain->links[i].outbox.items);
    free(domain->local.items);
    free(domain->census.items);
    free(domain);
}

/* Tracking */

static void deposit(struct domain *domain, struct particle *particle, uint64_t energy)
{
    int cell = 0;
    for (int axis = 0; axis < 2; axis++) {
        int index = (int)(particle->position[axis] * CELLS_PER_SIDE);
        index = index < 0 ? 0 : index >= CELLS_PER_SIDE ? CELLS_PER_SIDE - 1 : index;
        cell = cell * CELLS_PER_SIDE + index;
    }
    particle->energy -= energy;
    domain->exact_tally[cell] += energy;
    domain->tally[cell] += (double)energy * energy_unit;
}

static double flight_to_side(const struct particle *particle, int *side)
{
    double shortest = INFINITY;
    for (int axis = 0; axis < 2; axis++) {
        bool forward = particle->direction[axis] > 0;
        double gap = forward ? 1 - particle->position[axis] : -particle->position[axis];
        double flight =
            particle->direction[axis] == 0 ? INFINITY : fmax(0, gap / particle->direction[axis]);
        if (flight < shortest) {
            shortest = flight;
            *side = 2 * axis + forward;
        }
    }
    return shortest;
}

static double flight_to_collision(struct particle *particle)
{
    uint64_t looked_up = app_spin(particle->random.state, options[OPTION_WORK].value);
    double density = 0.75 + 0.5 * (double)(looked_up >> 11) * 0x1p-53;
    return -mean_free_path * log(1 - app_random_unit(&particle->random)) / density;
}

static void fly(struct particle *particle, double flight)
{
    particle->position[0] += flight * particle->direction[0];
    particle->position[1] += flight * particle->direction[1];
    particle->flight_left -= flight;
}

static void cross_side(struct particle *particle, int side)
{
    bool enters_low = side == EAST || side == NORTH;
    particle->position[side / 2] = enters_low ? 0 : 1;
}

/* Returns whether the particle was absorbed. */
static bool collide(struct domain *domain, struct particle *particle)
{
    bool absorbed = app_random_unit(&particle->random) < absorption_probability;
    deposit(domain, particle, absorbed ? particle->energy : particle->energy / 16);
    set_random_direction(particle);
    return absorbed;
}

static void finish(struct domain *domain, const struct particle *particle, bool absorbed)
{
    domain->progress.finished++;
    if (absorbed) {
        domain->absorbed++;
    } else {
        domain->progress.survivors++;
        list_append(&domain->census, particle, 1);
    }
}

static void track(struct domain *domain, struct particle particle)
{
    for (;;) {
        int side = WEST;
        double to_side = flight_to_side(&particle, &side);
        double to_collision = flight_to_collision(&particle);
        double to_event = fmin(to_side, to_collision);
        if (particle.flight_left <= to_event) {
            fly(&particle, particle.flight_left);
            finish(domain, &particle, false);
            return;
        }
        fly(&particle, to_event);
        if (to_collision < to_side) {
            if (collide(domain, &particle)) {
                finish(domain, &particle, true);
                return;
            }
            continue;
        }
        cross_side(&particle, side);
        if (domain->side_link[side] != SELF) {
            list_append(&domain->links[domain->side_link[side]].outbox, &particle, 1);
            return;
        }
    }
}

static void track_batch(struct domain *domain)
{
    for (int i = 0; i < BATCH_PARTICLES && domain->local.count > 0; i++)
        track(domain, domain->local.items[--domain->local.count]);
}

/* Messages */

static void post_particle_receive(struct domain *domain, int index)
{
    struct link *link = &domain->links[index];
    MPI_Irecv(link->incoming, (int)sizeof link->incoming, MPI_BYTE, link->rank,
              particle_tag(domain), MPI_COMM_WORLD, &domain->receives[index]);
}

static void post_control_receive(struct domain *domain)
{
    MPI_Irecv(&domain->incoming_control, 3, MPI_UINT64_T, MPI_ANY_SOURCE, control_tag(domain),
              MPI_COMM_WORLD, &domain->receives[domain->link_count]);
}

static void send_outbox(struct domain *domain, int index)
{
    struct link *link = &domain->links[index];
    size_t count = link->outbox.count < MESSAGE_PARTICLES ? link->outbox.count : MESSAGE_PARTICLES;
    link->outbox.count -= count;
    memcpy(link->outgoing, link->outbox.items + link->outbox.count, count * sizeof *link->outgoing);
    MPI_Isend(link->outgoing, (int)(count * sizeof *link->outgoing), MPI_BYTE, link->rank,
              particle_tag(domain), MPI_COMM_WORLD, &domain->sends[index]);
}

/* Full messages go at once; the rest goes when there is nothing left to track, since others may be
 * waiting for it. */
static void send_outboxes(struct domain *domain)
{
    size_t enough = domain->local.count > 0 ? MESSAGE_PARTICLES : 1;
    for (int i = 0; i < domain->link_count; i++)
        if (domain->sends[i] == MPI_REQUEST_NULL && domain->links[i].outbox.count >= enough)
            send_outbox(domain, i);
}

static void end_step_in_subtree(struct domain *domain)
{
    domain->step_done = true;
    domain->outgoing_done = (struct control){.kind = CONTROL_DONE};
    for (int i = 0; i < TREE_CHILDREN; i++) {
        int child = TREE_CHILDREN * domain->app->rank + 1 + i;
        if (child < domain->app->ranks)
            MPI_Isend(&domain->outgoing_done, 3, MPI_UINT64_T, child, control_tag(domain),
                      MPI_COMM_WORLD, &domain->sends[domain->link_count + SEND_DONE + i]);
    }
}

static void take_control(struct domain *domain)
{
    if (domain->incoming_control.kind == CONTROL_DONE) {
        end_step_in_subtree(domain);
        return;
    }
    domain->progress.finished += domain->incoming_control.finished;
    domain->progress.survivors += domain->incoming_control.survivors;
    post_control_receive(domain);
}

static void take_particles(struct domain *domain, int index, const MPI_Status *status)
{
    int bytes;
    MPI_Get_count(status, MPI_BYTE, &bytes);
    list_append(&domain->local, domain->links[index].incoming,
                (size_t)bytes / sizeof(struct particle));
    post_particle_receive(domain, index);
}

static void poll_receives(struct domain *domain)
{
    int completed, indices[SIDES + 1];
    MPI_Status statuses[SIDES + 1];
    MPI_Testsome(domain->link_count + 1, domain->receives, &completed, indices, statuses);
    for (int i = 0; i < completed; i++)
        if (indices[i] == domain->link_count)
            take_control(domain);
        else
            take_particles(domain, indices[i], &statuses[i]);
    if (completed == 0 && domain->local.count == 0)
        app_yield();
}

static void poll_sends(struct domain *domain)
{
    int completed, indices[SIDES + OTHER_SENDS];
    MPI_Status unused[SIDES + OTHER_SENDS];
    MPI_Testsome(domain->link_count + OTHER_SENDS, domain->sends, &completed, indices, unused);
}

static void send_report(struct domain *domain, MPI_Request *slot)
{
    domain->outgoing_report = domain->progress;
    domain->outgoing_report.kind = CONTROL_REPORT;
    domain->progress = (struct control){0};
    MPI_Isend(&domain->outgoing_report, 3, MPI_UINT64_T, (domain->app->rank - 1) / TREE_CHILDREN,
              control_tag(domain), MPI_COMM_WORLD, slot);
}

static void report_progress(struct domain *domain)
{
    MPI_Request *slot = &domain->sends[domain->link_count + SEND_REPORT];
    if (domain->app->rank == 0) {
        if (domain->progress.finished == domain->expected)
            end_step_in_subtree(domain);
    } else if (domain->local.count == 0 && domain->progress.finished > 0 &&
               *slot == MPI_REQUEST_NULL) {
        send_report(domain, slot);
    }
}

/* Time steps */

static void begin_step(struct domain *domain)
{
    struct particle_list empty = domain->local;
    domain->local = domain->census;
    domain->census = empty;
    for (size_t i = 0; i < domain->local.count; i++)
        domain->local.items[i].flight_left = flight_per_step;
    domain->step_done = false;
    for (int i = 0; i < domain->link_count; i++)
        post_particle_receive(domain, i);
    post_control_receive(domain);
}

static void cancel_receive(struct domain *domain, MPI_Request *receive)
{
    MPI_Status status;
    int cancelled;
    MPI_Cancel(receive);
    MPI_Wait(receive, &status);
    MPI_Test_cancelled(&status, &cancelled);
    app_verify(domain->app, cancelled, "a message came after the end of step %d", domain->step);
}

static void end_step(struct domain *domain)
{
    MPI_Status unused[SIDES + OTHER_SENDS];
    for (int i = 0; i < domain->link_count + 1; i++)
        if (domain->receives[i] != MPI_REQUEST_NULL)
            cancel_receive(domain, &domain->receives[i]);
    MPI_Waitall(domain->link_count + OTHER_SENDS, domain->sends, unused);
    domain->expected = domain->progress.survivors;
    domain->progress = (struct control){0};
    domain->step++;
}

static void run_step(struct domain *domain)
{
    begin_step(domain);
    while (!domain->step_done) {
        track_batch(domain);
        send_outboxes(domain);
        poll_receives(domain);
        poll_sends(domain);
        if (!domain->step_done)
            report_progress(domain);
    }
    end_step(domain);
}

/* Verification */

static void verify_tallies(struct domain *domain)
{
    for (int cell = 0; cell < CELLS; cell++) {
        double exact = (double)domain->exact_tally[cell] * energy_unit;
        app_verify(domain->app, fabs(domain->tally[cell] - exact) <= 1e-9 * exact,
                   "the tally of cell %d is %.17g, exactly %.17g", cell, domain->tally[cell],
                   exact);
    }
}

static void verify_conservation(struct domain *domain, uint64_t energy_made)
{
    uint64_t made = options[OPTION_SIZE].value * (uint64_t)domain->app->ranks;
    uint64_t count = app_sum(domain->absorbed + domain->census.count);
    uint64_t energy = 0;
    for (int cell = 0; cell < CELLS; cell++)
        energy += domain->exact_tally[cell];
    for (size_t i = 0; i < domain->census.count; i++)
        energy += domain->census.items[i].energy;
    app_verify(domain->app, count == made, "%" PRIu64 " particles of %" PRIu64, count, made);
    app_verify(domain->app, app_sum(energy) == app_sum(energy_made), "energy is not conserved");
}

int main(int argc, char **argv)
{
    struct app app;
    uint64_t exact_hash = 0;
    app_start(&app, &spec, &argc, &argv);
    struct domain *domain = create_domain(&app);
    uint64_t energy_made = make_particles(domain);
    for (uint64_t step = 0; step < options[OPTION_STEPS].value; step++)
        run_step(domain);

    verify_tallies(domain);
    verify_conservation(domain, energy_made);
    for (int cell = 0; cell < CELLS; cell++)
        app_hash_add_double(&app.hash, domain->tally[cell]);
    app_hash_add_words(&exact_hash, domain->exact_tally, CELLS);
    uint64_t absorbed = app_sum(domain->absorbed);
    free_domain(domain);
    exact_hash = app_combine(&app, exact_hash);
    return app_result(&app, "exact=%016" PRIx64 " absorbed=%" PRIu64, exact_hash, absorbed);
}
