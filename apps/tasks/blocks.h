/* SPDX-License-Identifier: MIT */
/* A cube of `side` blocks each way, each a cube of `n` cells with a rim of one, for a workload that
 * is one file and sets both. Directions are 0 to 5: -x +x -y +y -z +z. */
#ifndef BLOCKS_H
#define BLOCKS_H

#include "reprise_tasks.h"

static int n, side;

static inline size_t volume(void)
{
    return (size_t)(n + 2) * (size_t)(n + 2) * (size_t)(n + 2);
}

static inline size_t at(int x, int y, int z)
{
    return ((size_t)z * (size_t)(n + 2) + (size_t)y) * (size_t)(n + 2) + (size_t)x;
}

/* The place of the cell (i, j) of the layer `depth` in direction `d`: 0 is the rim. */
static inline size_t face_at(int d, int depth, int i, int j)
{
    int k = d % 2 ? n + 1 - depth : depth;

    return d / 2 == 0 ? at(k, i, j) : d / 2 == 1 ? at(i, k, j) : at(i, j, k);
}

/* False: it is the edge of the cube. */
static inline bool neighbour(struct reprise_index self, int d, struct reprise_index *other)
{
    int *part = d / 2 == 0 ? &self.x : d / 2 == 1 ? &self.y : &self.z;

    *part += d % 2 ? 1 : -1;
    *other = self;
    return *part >= 0 && *part < side;
}

#endif
