/* SPDX-License-Identifier: MIT */
/* The program's own operations cannot be distinguished: their handles and functions may be anywhere
 * in each rank. */
#include "det/det_operations.h"

#include "preload/constants.h"

#ifdef OPEN_MPI
#define FIND(small, large) rp_library_object("ompi_mpi_op_" #small)
#else
#define FIND(small, large) MPI_##large
#endif
#define OPERATIONS(each)                                                                           \
    each(max, MAX) each(min, MIN) each(sum, SUM) each(prod, PROD) each(land, LAND)                 \
        each(band, BAND) each(lor, LOR) each(bor, BOR) each(lxor, LXOR) each(bxor, BXOR)           \
            each(maxloc, MAXLOC) each(minloc, MINLOC) each(replace, REPLACE) each(no_op, NO_OP)
#define NAME(small, large) "MPI_" #large,
#define HANDLE(small, large) FIND(small, large),

static const char *const names[] = {OPERATIONS(NAME) "an operation of the program that commutes",
                                    "an operation of the program that does not commute"};

enum { PREDEFINED = sizeof names / sizeof *names - 2 };

static MPI_Op handles[PREDEFINED];

void rp_det_operations_start(void)
{
    MPI_Op found[] = {OPERATIONS(HANDLE)};

    for (uint32_t i = 0; i < PREDEFINED; i++)
        handles[i] = found[i];
}

uint32_t rp_det_op(MPI_Op op)
{
    int commutes = 0;

    for (uint32_t i = 0; i < PREDEFINED; i++)
        if (handles[i] == op)
            return i + 1;
    rp_pmpi.Op_commutative(op, &commutes);
    return PREDEFINED + (commutes ? 1 : 2);
}

const char *rp_det_op_name(uint32_t number)
{
    return number > 0 && number <= PREDEFINED + 2 ? names[number - 1] : "no operation";
}
