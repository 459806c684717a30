/* SPDX-License-Identifier: MIT */
// ranks: 4
// native: differs
// also: solo
// about: a shared file pointer: ranks write as they come, and each reads what comes next; the file
//     and what each rank has read depend on the order
#include <unistd.h>

#include "check.h"

enum { ROUNDS = 3, LONGEST = 4 };

static MPI_File file;

// Records of different lengths, so that the place of each depends on those before it.
static void write_records(void)
{
    long record[LONGEST];

    for (int round = 0; round < ROUNDS; round++) {
        int length = 1 + (check.rank + round) % LONGEST;
        for (int i = 0; i < length; i++)
            record[i] = check_value(check.rank + 1, round * LONGEST + i);
        check_pace(round);
        MPI_Status status;
        MPI_File_write_shared(file, record, length, MPI_LONG, &status);
        CHECK(check_bytes(&status) == length * (int)sizeof(long), "%d bytes written",
              check_bytes(&status));
    }
}

static long read_records(MPI_Offset total)
{
    long value, sum = 0;
    MPI_Status status;

    for (int step = 0;; step++) {
        value = -1;
        check_pace(step);
        MPI_File_read_shared(file, &value, 1, MPI_LONG, &status);
        if (check_bytes(&status) == 0)
            break;
        CHECK(value > 0, "value %ld of %ld bytes", value, (long)total);
        check_note(value);
        sum += value;
    }
    return sum;
}

static long read_all(MPI_Offset total)
{
    long value, sum = 0;

    for (MPI_Offset at = 0; at < total; at += (MPI_Offset)sizeof value) {
        MPI_File_read_at(file, at, &value, 1, MPI_LONG, MPI_STATUS_IGNORE);
        CHECK(value > 0, "nothing was written at %ld", (long)at);
        check_note(value);
        sum += value;
    }
    return sum;
}

int main(int argc, char **argv)
{
    char name[512];
    long id = getpid(), sum, sums, whole;
    MPI_Offset total = 0, place = -1;

    check_start(&argc, &argv);
    MPI_Bcast(&id, 1, MPI_LONG, 0, MPI_COMM_WORLD);
    const char *folder = getenv("TEST_FOLDER");
    snprintf(name, sizeof name, "%s/reprise_file_pointer.%ld", folder ? folder : "/tmp", id);
    MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                  MPI_INFO_NULL, &file);
    write_records();
    MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_get_position_shared(file, &place);
    MPI_File_get_size(file, &total);
    CHECK(place == total, "the pointer is at %ld of %ld", (long)place, (long)total);
    whole = read_all(total);
    MPI_Barrier(MPI_COMM_WORLD); // MPI lets one rank move the pointer while others ask where it is
    MPI_File_seek_shared(file, 0, MPI_SEEK_SET);
    sum = read_records(total);
    MPI_Allreduce(&sum, &sums, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sums == whole, "read %ld of %ld", sums, whole);
    MPI_File_close(&file);
    return check_end();
}
