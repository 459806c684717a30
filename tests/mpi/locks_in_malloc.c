/* SPDX-License-Identifier: MIT */
// ranks: 2
// native: same
// events: none
// about: an allocator that takes locks, as the hooks of some transports do: taking one, for the
//     first time too, must not allocate
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"

void *__libc_malloc(size_t size);

static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_spinlock_t spin;
static _Thread_local int is_locking;

static void take_locks(void)
{
    is_locking = 1;
    if (pthread_rwlock_trywrlock(&rw) == 0)
        pthread_rwlock_unlock(&rw);
    if (pthread_rwlock_tryrdlock(&rw) == 0)
        pthread_rwlock_unlock(&rw);
    if (pthread_mutex_trylock(&mutex) == 0)
        pthread_mutex_unlock(&mutex);
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    if (pthread_spin_trylock(&spin) == 0)
        pthread_spin_unlock(&spin);
    is_locking = 0;
}

__attribute__((visibility("default"))) void *malloc(size_t size)
{
    static const char words[] = "a lock allocates\n";

    if (is_locking) {
        (void)!write(2, words, sizeof words - 1);
        _exit(9);
    }
    take_locks();
    return __libc_malloc(size);
}

int main(int argc, char **argv)
{
    long sum = 0;

    check_start(&argc, &argv);
    for (int i = 1; i <= 20; i++) {
        long *value = malloc(sizeof *value), others;
        *value = i * (check.rank + 1);
        MPI_Allreduce(value, &others, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
        sum += others;
        free(value);
    }
    check_note(sum);
    return check_end();
}
