# SPDX-License-Identifier: MIT
# The page of the main thread is replaced by a shared one, from a preloaded library; another process sees the count move while a loop without calls runs, and the end is the same count.
source "$(dirname "$0")/../lib/cc.sh"

cat >preload.c <<'END'
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
__attribute__((constructor)) static void begin(void)
{
    uint64_t *ticks = dlsym(RTLD_DEFAULT, "reprise_ticks"), count;
    long page = sysconf(_SC_PAGESIZE);
    const char *path = getenv("PAGE_FILE");
    if (!ticks || !path) return;
    count = *ticks;
    int fd = open(path, O_RDWR | O_CREAT, 0600);
    if ((uintptr_t)ticks % (uintptr_t)page || ftruncate(fd, page) || mmap(ticks, (size_t)page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) != ticks) { perror("page"); _exit(1); }
    *ticks = count;
}
END
cat >loops.c <<'END'
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
uint64_t ticks_now(void);
/* Where the chain ends nobody knows ahead. */
__attribute__((noinline)) static long walk(const int *next, int at, long steps) { while (steps > 0) { at = next[at]; steps -= at & 1; } return at; }
static void *other(void *argument) { static int next[2] = {1, 1}; walk(next, 0, 1000); return argument; }
int main(int argc, char **argv)
{
    int next[2] = {1, atoi(argv[argc - 1]) > 0};
    pthread_t thread;
    pthread_create(&thread, NULL, other, NULL);
    pthread_join(thread, NULL);
    long end = walk(next, 0, atol(argv[argc - 1]));
    printf("%llu %ld\n", (unsigned long long)ticks_now(), end);
    return 0;
}
END
cat >watcher.py <<'END'
import mmap, struct, subprocess, sys, os
page = os.environ["PAGE_FILE"]
program = subprocess.Popen(sys.argv[1:], env=dict(os.environ, LD_PRELOAD=os.environ["PRELOAD"]), stdout=subprocess.PIPE)
while program.poll() is None and not (os.path.exists(page) and os.path.getsize(page)):
    pass
shared = mmap.mmap(os.open(page, os.O_RDONLY), 8, prot=mmap.PROT_READ)
seen = set()
while program.poll() is None:
    seen.add(struct.unpack("<Q", shared)[0])
last, said = struct.unpack("<Q", shared)[0], program.stdout.read().decode()
print(len(seen), last, said.split()[0])
# What the program counted after it asked is little.
sys.exit(not (len(seen) > 20 and 0 <= last - int(said.split()[0]) < 1000 and program.returncode == 0))
END
gcc -D_GNU_SOURCE -O2 -shared -fPIC preload.c -o preload.so || fail "preload.c does not compile"
while read -r compiler how; do
    REPRISE_CC=$compiler good 60 build reprise-cc "--ticks=$how" -O2 loops.c ticks_now.o -pthread -o loops
    rm -f page && PAGE_FILE=$work/page PRELOAD=$work/preload.so good 100 watched python3 watcher.py ./loops 300000000
    good 100 alone ./loops 300000000
    [ "$(cut -d' ' -f1 alone.out)" = "$(cut -d' ' -f3 watched.out)" ] || fail "other counts when it is watched: $(cat alone.out watched.out)"
    echo "$compiler, $how: $(cut -d' ' -f1 watched.out) values were seen"
done < <(ways)
