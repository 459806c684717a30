/* SPDX-License-Identifier: MIT */
// ranks: 2
// native: same
// refuses: MPI_Cancel
// about: a cancel by code that nobody could foresee: the function is looked up at run time
#include "../check.h"

#include <dlfcn.h>

int main(int argc, char **argv)
{
    int (*cancel)(MPI_Request *);
    MPI_Request request;
    long value = 0;

    check_start(&argc, &argv);
    *(void **)&cancel = dlsym(RTLD_DEFAULT, "MPI_Cancel");
    if (!cancel)
        return 1;
    MPI_Irecv(&value, 1, MPI_LONG, (check.rank + 1) % check.size, 1, MPI_COMM_WORLD, &request);
    cancel(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    return check_end();
}
