# SPDX-License-Identifier: MIT
# The page of the main thread is replaced by a shared one, from a preloaded library; another process sees the count move while a loop without calls runs, and the end is the same count.
source "$(dirname "$0")/../lib/cc.sh"

gcc -D_GNU_SOURCE -O2 -shared -fPIC "$programs/watch_preload.c" -o preload.so || fail "watch_preload.c does not compile"
while read -r compiler how; do
    REPRISE_CC=$compiler good 60 build reprise-cc "--ticks=$how" -O2 "$programs/watch_loops.c" ticks_now.o -pthread -o loops
    rm -f page && PAGE_FILE=$work/page PRELOAD=$work/preload.so good 100 watched python3 "$programs/watch_watcher.py" ./loops 300000000
    good 100 alone ./loops 300000000
    [ "$(cut -d' ' -f1 alone.out)" = "$(cut -d' ' -f3 watched.out)" ] || fail "other counts when it is watched: $(cat alone.out watched.out)"
    echo "$compiler, $how: $(cut -d' ' -f1 watched.out) values were seen"
done < <(ways)
