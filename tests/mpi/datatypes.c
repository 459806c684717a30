/* SPDX-License-Identifier: MIT */
// ranks: 4
// native: differs
// also: clocks solo
// about: derived datatypes, MPI_BOTTOM and partial receives by wildcards; counts by Get_count and
//     Get_elements
#include <stddef.h>

#include "check.h"

enum { ROUNDS = 4, ROWS = 6, COLUMNS = 5 };

struct record {
    char letter;
    double weight;
    int numbers[3];
};

static MPI_Datatype record_type(void)
{
    static const int lengths[] = {1, 1, 3};
    const MPI_Aint places[] = {offsetof(struct record, letter), offsetof(struct record, weight),
                               offsetof(struct record, numbers)};
    const MPI_Datatype types[] = {MPI_CHAR, MPI_DOUBLE, MPI_INT};
    MPI_Datatype packed, type;

    MPI_Type_create_struct(3, lengths, places, types, &packed);
    MPI_Type_create_resized(packed, 0, sizeof(struct record), &type);
    MPI_Type_free(&packed);
    MPI_Type_commit(&type);
    return type;
}

static void note(const MPI_Status *status, MPI_Datatype type)
{
    int count = -1, elements = -1;
    MPI_Count long_elements = -1;

    MPI_Get_count(status, type, &count);
    MPI_Get_elements(status, type, &elements);
    MPI_Get_elements_x(status, type, &long_elements);
    CHECK(long_elements == elements, "%d elements", elements);
    check_note(count);
    check_note(elements);
    check_note_status(status);
}

// One column of a matrix goes out, another comes in.
static void columns(int tag)
{
    int matrix[ROWS][COLUMNS] = {{0}};
    MPI_Datatype column;

    MPI_Type_vector(ROWS, 1, COLUMNS, MPI_INT, &column);
    MPI_Type_commit(&column);
    if (check.rank > 0) {
        for (int i = 0; i < ROWS; i++)
            matrix[i][check.rank] = check.rank * 100 + i;
        check_pace(tag);
        MPI_Send(&matrix[0][check.rank], 1, column, 0, tag, MPI_COMM_WORLD);
    }
    for (int r = 1; check.rank == 0 && r < check.size; r++) {
        MPI_Status status;
        MPI_Recv(&matrix[0][0], 1, column, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &status);
        CHECK(matrix[ROWS - 1][0] == status.MPI_SOURCE * 100 + ROWS - 1, "value %d",
              matrix[ROWS - 1][0]);
        note(&status, column);
    }
    MPI_Type_free(&column);
}

static void records(int tag)
{
    struct record mine[2], others[3];
    MPI_Datatype type = record_type();

    memset(mine, 0, sizeof mine);
    for (int i = 0; i < 2; i++)
        mine[i] =
            (struct record){(char)('a' + check.rank), check.rank + i / 2.0, {check.rank, i, tag}};
    if (check.rank > 0) {
        check_pace(tag);
        MPI_Send(mine, 1 + check.rank % 2, type, 0, tag, MPI_COMM_WORLD);
    }
    for (int r = 1; check.rank == 0 && r < check.size; r++) {
        MPI_Request request;
        MPI_Status status;
        MPI_Irecv(others, 3, type, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, &status);
        CHECK(others[0].letter == 'a' + status.MPI_SOURCE && others[0].numbers[2] == tag,
              "wrong record");
        note(&status, type);
    }
    MPI_Type_free(&type);
}

// Absolute addresses; the senders send a part of the type only, so that Get_count is MPI_UNDEFINED.
static void from_bottom(int tag)
{
    static const int lengths[] = {1, 2};
    int first = 0, second[2] = {0, 0};
    MPI_Aint places[2];
    MPI_Datatype type;

    MPI_Get_address(&first, &places[0]);
    MPI_Get_address(second, &places[1]);
    MPI_Type_create_hindexed(2, lengths, places, MPI_INT, &type);
    MPI_Type_commit(&type);
    if (check.rank > 0) {
        int parts[3] = {check.rank, check.rank + 1, check.rank + 2};
        check_pace(tag);
        MPI_Send(parts, 2 + check.rank % 2, MPI_INT, 0, tag, MPI_COMM_WORLD);
    }
    for (int r = 1; check.rank == 0 && r < check.size; r++) {
        int count = -1;
        MPI_Status status;
        MPI_Recv(MPI_BOTTOM, 1, type, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, type, &count);
        CHECK(first == status.MPI_SOURCE && second[0] == first + 1, "values %d %d", first,
              second[0]);
        CHECK(count == (status.MPI_SOURCE % 2 ? 1 : MPI_UNDEFINED), "count %d", count);
        note(&status, type);
    }
    MPI_Type_free(&type);
}

// Sent as one type, received as packed bytes.
static void packed(int tag)
{
    char buffer[64];
    int place = 0, number = check.rank;
    double weight = check.rank * 1.5;

    if (check.rank > 0) {
        MPI_Pack(&number, 1, MPI_INT, buffer, sizeof buffer, &place, MPI_COMM_WORLD);
        MPI_Pack(&weight, 1, MPI_DOUBLE, buffer, sizeof buffer, &place, MPI_COMM_WORLD);
        check_pace(tag);
        MPI_Send(buffer, place, MPI_PACKED, 0, tag, MPI_COMM_WORLD);
    }
    for (int r = 1; check.rank == 0 && r < check.size; r++) {
        MPI_Status status;
        MPI_Recv(buffer, sizeof buffer, MPI_PACKED, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &status);
        place = 0;
        MPI_Unpack(buffer, sizeof buffer, &place, &number, 1, MPI_INT, MPI_COMM_WORLD);
        CHECK(number == status.MPI_SOURCE, "number %d", number);
        note(&status, MPI_PACKED);
    }
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    for (int step = 0; step < ROUNDS; step++) {
        columns(4 * step);
        records(4 * step + 1);
        from_bottom(4 * step + 2);
        packed(4 * step + 3);
    }
    return check_end();
}
