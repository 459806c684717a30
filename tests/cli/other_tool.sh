# SPDX-License-Identifier: MIT
# Another PMPI tool, which makes other calls out of those it catches, behind us (the usual place) and in front of us.
source "$(dirname "$0")/../lib/common.sh"
mpi=$1
launcher "$mpi" 4
"mpicc.$mpi" -shared -fPIC "$programs/other_tool.c" -o tool.so || fail "the tool does not compile"
for program in recv_any_source irecv_wait; do
    rm -rf behind
    LD_PRELOAD=$work/tool.so TEST_ORDER=up run 60 record "$reprise" record -o behind "${launch[@]}" "$build/tests/mpi/$mpi/$program"
    [ "$status" -eq 0 ] && [ -n "$(result record)" ] || fail "$program, tool behind: record: $status"
    LD_PRELOAD=$work/tool.so TEST_ORDER=down run 60 replay "$reprise" replay behind
    [ "$status" -eq 0 ] && [ "$(result replay)" = "$(result record)" ] || fail "$program, tool behind: replay: $status"
    REPRISE_CLOCKS=1 LD_PRELOAD=$work/tool.so TEST_ORDER=up run 60 record "$reprise" record -o clocks.$program "${launch[@]}" "$build/tests/mpi/$mpi/$program"
    [ "$status" -eq 0 ] && [ -n "$(result record)" ] || fail "$program, tool behind, with clocks: record: $status"
    TEST_ORDER=down run 60 replay "$reprise" replay clocks.$program
    [ "$status" -eq 0 ] && [ "$(result replay)" = "$(result record)" ] || fail "$program, tool behind, with clocks: replay: $status"
done

(
    eval "$("$reprise" env record -o front "$build/tests/mpi/$mpi/recv_any_source")"
    export LD_PRELOAD=$work/tool.so:$LD_PRELOAD TEST_ORDER=up
    run 60 front "${launch[@]}" "$build/tests/mpi/$mpi/recv_any_source"
    exit "$status"
) || fail "tool in front: record"
(
    eval "$("$reprise" env replay front "$build/tests/mpi/$mpi/recv_any_source")"
    export LD_PRELOAD=$work/tool.so:$LD_PRELOAD TEST_ORDER=down
    run 60 front_again "${launch[@]}" "$build/tests/mpi/$mpi/recv_any_source"
    exit "$status"
) || fail "tool in front: replay"
[ -n "$(result front)" ] && [ "$(result front)" = "$(result front_again)" ] || fail "tool in front: another result"
