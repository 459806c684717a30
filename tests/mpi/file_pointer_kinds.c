/* SPDX-License-Identifier: MIT */
// ranks: 3
// native: differs
// also: solo
// about: all functions of the shared file pointer: nonblocking, ordered, split ordered; the pointer
//     is moved, in a view, of a file that is appended to, of one rank's file
#include <unistd.h>

#include "check.h"

enum { ROUNDS = 3, HEAD = 5 * sizeof(int) };

static MPI_File file;
static char name[128];

static int position(void)
{
    MPI_Offset place = -1;

    MPI_File_get_position_shared(file, &place);
    return (int)place;
}

// Nobody moves the pointer while others ask.
static void expect(int place)
{
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(position() == place, "the pointer is at %d instead of %d", position(), place);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void seek(MPI_Offset offset, int whence)
{
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_seek_shared(file, offset, whence);
}

static void open_file(MPI_Comm comm, const char *path, int mode)
{
    MPI_File_open(comm, path, mode, MPI_INFO_NULL, &file);
}

static int number(int kind, int round)
{
    return 1000 * kind + 100 * (check.rank + 1) + round;
}

// As they come.
static void write_nonblocking(void)
{
    int values[ROUNDS];
    MPI_Request requests[ROUNDS];

    for (int i = 0; i < ROUNDS; i++) {
        values[i] = number(1, i);
        check_pace(i);
        MPI_File_iwrite_shared(file, &values[i], 1, MPI_INT, &requests[i]);
        check_note(position() > i);
    }
    MPI_Waitall(ROUNDS, requests, MPI_STATUSES_IGNORE);
}

static void read_nonblocking(void)
{
    int values[ROUNDS];
    MPI_Request requests[ROUNDS];
    MPI_Status status;

    for (int i = 0; i < ROUNDS; i++) {
        values[i] = -1;
        check_pace(i);
        MPI_File_iread_shared(file, &values[i], 1, MPI_INT, &requests[i]);
    }
    for (int i = 0; i < ROUNDS; i++) {
        MPI_Wait(&requests[i], &status);
        CHECK(check_bytes(&status) == (int)sizeof(int), "%d bytes", check_bytes(&status));
        check_note(values[i]);
    }
}

// By rank: one has several, one none.
static void use_ordered(void)
{
    int own = check.rank * 2, before = check.rank == 2 ? 2 : 0;
    int values[4] = {number(2, 0), number(2, 1), number(2, 2), number(2, 3)}, found[4] = {0};
    MPI_Status status;

    seek(0, MPI_SEEK_SET);
    MPI_File_write_ordered(file, values, own, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_write_ordered_begin(file, values, own, MPI_INT);
    MPI_File_write_ordered_end(file, values, MPI_STATUS_IGNORE);
    expect(12);
    seek(-6, MPI_SEEK_CUR);
    MPI_File_read_ordered_begin(file, found, own, MPI_INT);
    MPI_File_read_ordered_end(file, found, &status);
    CHECK(check_bytes(&status) == own * (int)sizeof(int), "%d bytes", check_bytes(&status));
    expect(12);
    seek(0, MPI_SEEK_SET);
    for (int i = 0; i < own; i++)
        CHECK(found[i] == values[i], "%d instead of %d", found[i], values[i]);
    memset(found, 0, sizeof found);
    MPI_File_read_ordered(file, found, own, MPI_INT, MPI_STATUS_IGNORE);
    for (int i = 0; i < own; i++)
        CHECK(found[i] == values[i], "%d instead of %d", found[i], values[i]);
    MPI_File_read_at(file, 6 + before, found, own, MPI_INT, MPI_STATUS_IGNORE);
    for (int i = 0; i < own; i++)
        CHECK(found[i] == values[i], "%d instead of %d", found[i], values[i]);
}

static void use_view(void)
{
    MPI_Datatype pair;
    MPI_Offset own = -1;
    int two[2] = {number(3, 0), number(3, 1)};

    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    expect(6);
    MPI_File_set_view(file, HEAD, pair, pair, "native", MPI_INFO_NULL);
    expect(0);
    check_pace(0);
    MPI_File_write_shared(file, two, 1, pair, MPI_STATUS_IGNORE);
    expect(check.size);
    check_pace(1);
    MPI_File_write_shared(file, two, 2, MPI_INT, MPI_STATUS_IGNORE);
    expect(2 * check.size);
    seek(-1, MPI_SEEK_END);
    MPI_File_get_position(file, &own);
    CHECK(own == 0, "this rank's own pointer is at %d", (int)own);
    MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
    MPI_Type_free(&pair);
}

static void append(void)
{
    MPI_Offset size = 0, place = -1;
    int value = number(4, 0);

    open_file(MPI_COMM_WORLD, name, MPI_MODE_WRONLY | MPI_MODE_APPEND);
    MPI_File_get_size(file, &size);
    expect((int)size);
    check_pace(0);
    MPI_File_write_shared(file, &value, 1, MPI_INT, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_get_position_shared(file, &place);
    CHECK(place == size + check.size * (MPI_Offset)sizeof value, "the pointer is at %d",
          (int)place);
    MPI_File_close(&file);
}

static void use_own(void)
{
    char own[160];
    int value = number(5, 0), found = -1;

    snprintf(own, sizeof own, "%s.%d", name, check.rank);
    open_file(MPI_COMM_SELF, own, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
    MPI_File_write_shared(file, &value, 1, MPI_INT, MPI_STATUS_IGNORE);
    CHECK(position() == (int)sizeof value, "the pointer is at %d", position());
    MPI_File_seek_shared(file, 0, MPI_SEEK_SET);
    MPI_File_read_ordered(file, &found, 1, MPI_INT, MPI_STATUS_IGNORE);
    CHECK(found == value, "%d instead of %d", found, value);
    MPI_File_close(&file);
}

// What the others have written, with its place.
static void note_file(void)
{
    MPI_Offset size = 0;
    int value;

    open_file(MPI_COMM_WORLD, name, MPI_MODE_RDONLY | MPI_MODE_DELETE_ON_CLOSE);
    MPI_File_get_size(file, &size);
    for (MPI_Offset at = 0; at < size; at += (MPI_Offset)sizeof value) {
        MPI_File_read_at(file, at, &value, 1, MPI_INT, MPI_STATUS_IGNORE);
        check_note(value);
    }
    MPI_File_close(&file);
}

int main(int argc, char **argv)
{
    long id = getpid();

    check_start(&argc, &argv);
    MPI_Bcast(&id, 1, MPI_LONG, 0, MPI_COMM_WORLD);
    snprintf(name, sizeof name, "/tmp/reprise_file_pointer_kinds.%ld", id);
    open_file(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR);
    MPI_File_set_view(file, HEAD, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
    write_nonblocking();
    expect(ROUNDS * check.size);
    seek(0, MPI_SEEK_SET);
    read_nonblocking();
    MPI_File_set_view(file, 200, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
    use_ordered();
    use_view();
    MPI_File_close(&file);
    append();
    use_own();
    note_file();
    return check_end();
}
