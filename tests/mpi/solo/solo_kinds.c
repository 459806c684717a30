/* SPDX-License-Identifier: MIT */
// ranks: 4
// about: all kinds of calls that tell a rank something: topologies, groups, attributes, collectives
//     in all forms, types with holes, intercommunicators, files, errors, the machine's name
#include "check.h"

static void note_bytes(const void *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        check_note(((const unsigned char *)bytes)[i]);
}

static void topologies(void)
{
    int dims[2] = {2, 2}, periods[2] = {1, 0}, coords[2], got[2], source, dest, kind, size, me;
    MPI_Comm cart, row, graph, dist;

    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &cart);
    MPI_Cart_get(cart, 2, got, periods, coords);
    check_note(got[0] * 10 + got[1] + 100 * coords[0] + 1000 * coords[1]);
    MPI_Cart_shift(cart, 0, 1, &source, &dest);
    check_note(source * 100 + dest);
    MPI_Cart_shift(cart, 1, 1, &source, &dest);
    check_note(source * 100 + dest);
    MPI_Topo_test(cart, &kind);
    CHECK(kind == MPI_CART, "kind %d", kind);
    long mine[2] = {check.rank + 1, 7}, near[8] = {-1, -1, -1, -1, -1, -1, -1, -1};
    MPI_Neighbor_allgather(mine, 2, MPI_LONG, near, 2, MPI_LONG, cart);
    note_bytes(near, sizeof near);
    MPI_Request request;
    memset(near, 9, sizeof near);
    MPI_Ineighbor_alltoall(near, 1, MPI_LONG, near + 4, 1, MPI_LONG, cart, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    note_bytes(near, sizeof near);
    MPI_Cart_sub(cart, (int[]){0, 1}, &row);
    MPI_Comm_size(row, &size);
    MPI_Comm_rank(row, &me);
    check_note(size * 10 + me);
    int next = (check.rank + 1) % check.size, before = (check.rank + check.size - 1) % check.size,
        weight = check.rank + 3;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &before, &weight, 1, &next, &weight,
                                   MPI_INFO_NULL, 0, &dist);
    int in, out, weighted, from = -1, to = -1, w1 = -1, w2 = -1;
    MPI_Dist_graph_neighbors_count(dist, &in, &out, &weighted);
    MPI_Dist_graph_neighbors(dist, 1, &from, &w1, 1, &to, &w2);
    check_note(in + out * 10 + weighted * 100 + from * 1000 + to * 10000 + w1 * 100000 +
               w2 * 1000000L);
    int index[4] = {1, 2, 3, 4}, edges[4] = {1, 0, 3, 2}, count, neighbour = -1;
    MPI_Graph_create(MPI_COMM_WORLD, 4, index, edges, 0, &graph);
    MPI_Graph_neighbors_count(graph, check.rank, &count);
    MPI_Graph_neighbors(graph, check.rank, 1, &neighbour);
    check_note(count * 10 + neighbour);
    MPI_Comm_free(&graph);
    MPI_Comm_free(&dist);
    MPI_Comm_free(&row);
    MPI_Comm_free(&cart);
}

static int copies;

static int copy(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag)
{
    int rank;

    (void)key, (void)extra;
    MPI_Comm_rank(comm, &rank); // a call by a callback is the program's own
    copies += rank + 1;
    *(void **)out = in;
    *flag = 1;
    return MPI_SUCCESS;
}

static void groups_and_attributes(void)
{
    MPI_Group world, some, none, both;
    MPI_Comm dup, odd, made;
    int rank, result, key, flag, *tag_ub, value = 5, to[4], from[4] = {0, 1, 2, 3};
    void *got;

    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 2, (int[]){3, 1}, &some);
    MPI_Group_rank(some, &rank);
    check_note(rank);
    MPI_Group_translate_ranks(world, 4, from, some, to);
    note_bytes(to, sizeof to);
    MPI_Group_difference(some, some, &none);
    CHECK(none == MPI_GROUP_EMPTY, "not the empty group");
    MPI_Group_union(some, world, &both);
    MPI_Group_compare(both, world, &result);
    check_note(result);
    MPI_Comm_create(MPI_COMM_WORLD, some, &made);
    CHECK((made != MPI_COMM_NULL) == (check.rank % 2 == 1), "who is in it");
    if (made != MPI_COMM_NULL)
        MPI_Comm_free(&made);
    MPI_Comm_split(MPI_COMM_WORLD, check.rank % 2 ? 1 : MPI_UNDEFINED, -check.rank, &odd);
    if (odd != MPI_COMM_NULL) {
        MPI_Comm_rank(odd, &rank);
        check_note(rank + 50);
        MPI_Comm_free(&odd);
    }
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &tag_ub, &flag);
    check_note(*tag_ub);
    MPI_Comm_create_keyval(copy, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_WORLD, key, &value);
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    MPI_Comm_get_attr(dup, key, &got, &flag);
    CHECK(flag && got == &value, "no attribute");
    check_note(copies);
    MPI_Comm_compare(dup, MPI_COMM_WORLD, &result);
    check_note(result);
    MPI_Comm_free(&dup);
    MPI_Comm_delete_attr(MPI_COMM_WORLD, key);
    MPI_Comm_free_keyval(&key);
    MPI_Group_free(&both);
    MPI_Group_free(&some);
    MPI_Group_free(&world);
}

static void collectives(void)
{
    int counts[4] = {1, 2, 3, 4}, displs[4] = {0, 2, 5, 9},
        mine[4] = {check.rank, check.rank * 3, 7, 8}, all[16];
    MPI_Datatype gaps;
    MPI_Request requests[3];
    double sums[3] = {check.rank * 0.1, 1.0 / (check.rank + 1), 3}, total[3] = {0};

    memset(all, -1, sizeof all);
    MPI_Allgatherv(mine, counts[check.rank], MPI_INT, all, counts, displs, MPI_INT, MPI_COMM_WORLD);
    note_bytes(all, sizeof all);
    memset(all, -1, sizeof all);
    MPI_Gatherv(mine, counts[check.rank], MPI_INT, all, counts, displs, MPI_INT, 2, MPI_COMM_WORLD);
    note_bytes(all, sizeof all);
    MPI_Reduce(sums, total, 3, MPI_DOUBLE, MPI_SUM, 1, MPI_COMM_WORLD);
    note_bytes(total, sizeof total);
    MPI_Scan(sums, total, 3, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    note_bytes(total, sizeof total);
    MPI_Type_vector(4, 1, 2, MPI_INT, &gaps);
    MPI_Type_commit(&gaps);
    int holes[8] = {0, -5, check.rank, -6, 2, -7, 3, -8};
    MPI_Bcast(holes, 1, gaps, 3, MPI_COMM_WORLD);
    note_bytes(holes, sizeof holes);
    int in[4], out[4] = {check.rank, check.rank + 10, check.rank + 20, check.rank + 30},
               scattered = -1, big[2000];
    memset(big, check.rank, sizeof big);
    MPI_Ialltoall(out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD, &requests[0]);
    MPI_Ibcast(big, 2000, MPI_INT, 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Iscatter(out, 1, MPI_INT, &scattered, 1, MPI_INT, 0, MPI_COMM_WORLD, &requests[2]);
    MPI_Type_free(&gaps);
    MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
    note_bytes(in, sizeof in);
    note_bytes(big, sizeof big);
    check_note(scattered);
    for (int i = 0; i < 100; i++) { // the same content again and again
        MPI_Bcast(big, 2000, MPI_INT, 1, MPI_COMM_WORLD);
        check_note(big[i]);
    }
    int block = -1;
    MPI_Reduce_scatter(out, &block, (int[]){1, 1, 1, 1}, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    check_note(block);
    MPI_Allreduce(MPI_IN_PLACE, in, 4, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    note_bytes(in, sizeof in);
    MPI_Ibarrier(MPI_COMM_SELF, &requests[0]);
    MPI_Ibcast(in, 4, MPI_INT, 0, MPI_COMM_SELF, &requests[1]);
    MPI_Iallreduce(in, all, 4, MPI_INT, MPI_SUM, MPI_COMM_SELF, &requests[2]);
    MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
    note_bytes(all, sizeof all);
}

static void messages(void)
{
    int next = (check.rank + 1) % check.size, before = (check.rank + check.size - 1) % check.size,
        got[64];
    MPI_Datatype gaps;
    MPI_Request requests[2], persistent[2];
    MPI_Status statuses[2];

    MPI_Type_vector(3, 1, 2, MPI_INT, &gaps);
    MPI_Type_commit(&gaps);
    memset(got, -1, sizeof got);
    MPI_Irecv(got, 4, gaps, before, 3, MPI_COMM_WORLD, &requests[0]);
    MPI_Type_free(&gaps); // while it is under way
    MPI_Isend((int[]){1, 2, check.rank, 4}, 4, MPI_INT, next, 3, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, statuses);
    note_bytes(got, sizeof got);
    check_note_status(&statuses[0]);
    MPI_Recv_init(got, 8, MPI_INT, MPI_ANY_SOURCE, 4, MPI_COMM_WORLD, &persistent[0]);
    MPI_Send_init(&check.rank, 1, MPI_INT, next, 4, MPI_COMM_WORLD, &persistent[1]);
    for (int i = 0; i < 3; i++) {
        MPI_Startall(2, persistent);
        MPI_Waitall(2, persistent, statuses);
        check_note_status(&statuses[0]);
        check_note(got[0]);
    }
    MPI_Request_free(&persistent[0]);
    MPI_Request_free(&persistent[1]);
    MPI_Sendrecv(&next, 1, MPI_INT, next, 6, got, 9, MPI_INT, MPI_ANY_SOURCE, 6, MPI_COMM_WORLD,
                 &statuses[0]);
    check_note_status(&statuses[0]);
    MPI_Recv(got, 5, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &statuses[0]);
    check_note_status(&statuses[0]);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Isend(got, 20, MPI_INT, next, 8, MPI_COMM_WORLD, &requests[0]);
    int rc = MPI_Recv(got, 2, MPI_INT, before, 8, MPI_COMM_WORLD, &statuses[0]);
    check_note(check_error_class(rc));
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

static void intercommunicators(void)
{
    MPI_Comm half, inter, merged;
    int size, flag, value = check.rank * 11, sum = -1, rank;

    MPI_Comm_split(MPI_COMM_WORLD, check.rank / 2, 0, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, check.rank < 2 ? 2 : 0, 5, &inter);
    MPI_Comm_remote_size(inter, &size);
    MPI_Comm_test_inter(inter, &flag);
    check_note(size * 10 + flag);
    MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, inter);
    check_note(sum);
    MPI_Bcast(&value, 1, MPI_INT, check.rank < 2 ? check.rank == 1 ? MPI_ROOT : MPI_PROC_NULL : 1,
              inter);
    check_note(value);
    MPI_Intercomm_merge(inter, check.rank < 2, &merged);
    MPI_Comm_rank(merged, &rank);
    check_note(rank);
    MPI_Comm_free(&merged);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
}

static void files(void)
{
    MPI_File file;
    MPI_Offset size;
    MPI_Status status;
    int value = check.rank + 40, got[4] = {-1, -1, -1, -1};

    MPI_File_open(MPI_COMM_WORLD, "solo_kinds.tmp",
                  MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
    MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
    MPI_File_write_at_all(file, check.rank, &value, 1, MPI_INT, &status);
    MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_read_at(file, 0, got, 4, MPI_INT, &status);
    note_bytes(got, sizeof got);
    check_note(check_bytes(&status));
    MPI_File_get_size(file, &size);
    check_note((long)size);
    MPI_File_close(&file);
    int rc = MPI_File_open(MPI_COMM_SELF, "there/is/none", MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
    check_note(rc != MPI_SUCCESS);
}

int main(int argc, char **argv)
{
    char name[MPI_MAX_PROCESSOR_NAME];
    int length;

    check_start(&argc, &argv);
    MPI_Get_processor_name(name, &length);
    note_bytes(name, (size_t)length);
    topologies();
    groups_and_attributes();
    collectives();
    messages();
    intercommunicators();
    files();
    if (check.rank > 0) {
        printf("rank %d: %016llx\n", check.rank, (unsigned long long)check.hash);
        fflush(stdout);
    }
    return check_end();
}
