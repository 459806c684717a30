/* SPDX-License-Identifier: MIT */
// ranks: 3
// native: differs
// refuses: MPI_Recv
// about: wildcard receives from a second thread of a program that asked for no threads, while the
//     main thread sends
#define LEVEL MPI_THREAD_SINGLE
#include "../threads_second.c"
