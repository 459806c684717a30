# SPDX-License-Identifier: MIT
# A process that ends before it is out of MPI_Init: the others would wait for it for ever. If it was killed, the job starts again, with the same input, as often as --retries says; else it ends, and says who it was; also if it is a spare, and if it died before our library was there. A launcher that is killed leaves no process and no file behind.
source "$(dirname "$0")/../lib/ft.sh"
mpicc.openmpi -O1 "$programs/ft_early.c" -o early || fail "cannot compile"
gcc -O1 -shared -fPIC "$programs/early_crash.c" -o libcrash.so || fail "cannot compile"
mpicc.openmpi -O1 "$programs/ft_early.c" -o crashes -Wl,--no-as-needed,-rpath,"$work" -L. -lcrash || fail "cannot compile"
ends() { # NAME STATUS WORDS COMMAND...
    local name=$1 expected=$2 words=$3
    shift 3
    run 40 "$name" "$reprise" ft mpirun -n 3 "$@"
    [ "$status" -eq "$expected" ] || fail "$name: exit status $status instead of $expected"
    [ -z "$words" ] || grep -qE -- "$words" "$name.err" || fail "$name: does not say '$words'"
}
ends killed 125 'rank 1 \(process [0-9]+, before MPI_Init\) died' ./early kill 1
ends exits 125 'rank 2 \(process [0-9]+, before MPI_Init\) ended' ./early exit 2
ends spare 125 'spare 0 \(process [0-9]+, before MPI_Init\) died' ./early kill 3
CRASH=1 ends constructor 125 'rank 1 \((process [0-9]+, before MPI_Init|before it began)\) died' ./crashes none none
REPRISE_FT_INIT_PATIENCE=4 ends stopped 125 'MPI_Init did not end within 4 s' ./early stop 1
# Open MPI's launcher was seen to crash when MPI_Init fails.
ends crash 125 'rank 1 \(process [0-9]+, before MPI_Init\) died' ./early crash 1
ends all-exit 3 '' ./early exit all
ends none 0 '' ./early none none

# Somewhere in MPI_Init, where the job starts again, or behind it, where a spare takes over. The program kills itself in the first launch only.
inside=0
for delay in 5000 20000 40000 60000 80000 100000 130000 160000 200000 250000; do
    rm -f once
    run 40 later "$reprise" ft mpirun -n 3 ./early later 1 "$delay" once
    [ "$status" -eq 0 ] && [ "$(result later)" = "RESULT done" ] || fail "later, after $delay us: exit status $status"
    [ -e once ] || fail "later, after $delay us: nobody was killed"
    again=$(grep -c 'the job starts again' later.err)
    # Open MPI was seen to crash other ranks in MPI_Init then (mca_pml_ob1_revoke_comm): these died, too.
    others=
    ! grep -q 'Segmentation fault' later.err || others='(rank [0-9] \(process [0-9]+, (in|before) MPI_Init\)(, )?)*'
    [ "$again" -eq 0 ] || grep -qE "^reprise: ${others}rank 1 \(process [0-9]+, (in|before) MPI_Init\)${others:+(, )?}$others died, and no rank was out of MPI_Init yet: the job starts again \(1 of 3" later.err || fail "later, after $delay us: it does not say who died"
    [ "$again" -le 1 ] || fail "later, after $delay us: one death, and $again new starts"
    inside=$((inside + again))
done
[ "$inside" -gt 0 ] || fail "later: no process was killed in MPI_Init"

# As often as is wanted; two that die at once are two. What was read from a pipe or a file comes again.
jacobi=("$apps/jacobi" --size 12 --edge 20)
expect jacobi 4 -- "${jacobi[@]}"
begins() { # NAME STARTS KILLS [OPTIONS...]: so often it starts again, and ends well
    run 60 "$1" "$reprise" ft "${@:4}" --kill "$3" mpirun -n 4 "${jacobi[@]}"
    [ "$status" -eq 0 ] && [ "$(result "$1")" = "$expected" ] || fail "$1: exit status $status, $(result "$1") instead of $expected"
    [ "$(grep -c 'the job starts again' "$1.err")" -eq "$2" ] || fail "$1: not $2 new starts"
}
begins init 1 1@init:0
grep -q '^reprise: rank 1 (process [0-9]*, in MPI_Init) died, and' init.err || fail "init: it does not say who died"
begins init-loop 1 2@init:3000,1@8:2
grep -q 'rank 1 died .* and was replaced' init-loop.err || fail "init-loop: nobody was replaced"
run 60 none-wanted "$reprise" ft --retries 0 --kill 1@init:0 mpirun -n 4 "${jacobi[@]}"
[ "$status" -eq 125 ] && ! grep -q 'starts again' none-wanted.err || fail "--retries 0: exit status $status"
refuses 120 "--retries x: a whole number" "$reprise" ft --retries x mpirun -n 4 "${jacobi[@]}"
mpicc.openmpi -O1 "$programs/early_reads.c" -o reads || fail "cannot compile"
seq 300 >numbers # of long inputs that are not read at once, the launcher of Open MPI 5.0.7 itself repeats parts
"$reprise" ft mpirun -n 2 ./reads early <numbers >read.out 2>read.err || fail "reads: exit status $?"
expected=$(result read)
[[ $expected == "RESULT 1092 "* ]] || fail "reads: $expected"
for how in file pipe; do
    kills=1@init:4000,0@init:2000 # soon: an idle machine is out of MPI_Init after some 30 ms
    if [ "$how" = file ]; then
        timeout 60 "$reprise" ft --kill "$kills" mpirun -n 2 ./reads early <numbers >again.out 2>again.err
    else
        (head -c 500 numbers; sleep 1; tail -c +501 numbers) | timeout 60 "$reprise" ft --kill "$kills" mpirun -n 2 ./reads early >again.out 2>again.err
    fi
    status=$?
    [ "$status" -eq 0 ] && [ "$(result again)" = "$expected" ] || fail "again, from a $how: exit status $status, $(result again) instead of $expected"
    grep -q 'the job starts again' again.err || fail "again, from a $how: nobody died in MPI_Init"
done

cp early orphan.$$
"$reprise" ft --spares 2 mpirun -n 3 "./orphan.$$" slow none >killed-launcher.out 2>killed-launcher.err &
command=$!
for _ in $(seq 200); do
    ranks=$(pgrep -cf "^\./orphan.$$ ")
    [ "$ranks" -eq 5 ] && grep -qs . /dev/shm/reprise-ft-*/roll && break
    sleep 0.1
done
[ "$ranks" -eq 5 ] || fail "killed-launcher: $ranks processes instead of 5"
sleep 1
launcher=$(pgrep -P "$command")
shared=$(tr '\0' '\n' <"/proc/$(pgrep -f "^\./orphan.$$ " | head -n 1)/environ" | sed -n 's/^REPRISE_FT_DIR=//p')
[ -d "$shared" ] || fail "killed-launcher: no directory of the run"
kill -KILL "$launcher"
for _ in $(seq 100); do
    kill -0 "$command" 2>/dev/null || break
    sleep 0.1
done
kill -0 "$command" 2>/dev/null && { kill -KILL "$command"; fail "killed-launcher: the command does not end"; }
wait "$command"
status=$?
[ "$status" -eq 137 ] || fail "killed-launcher: exit status $status"
grep -q 'the launcher was ended by signal 9' killed-launcher.err || fail "killed-launcher: does not say so"
left=$(pgrep -f "^\./orphan.$$ ")
[ -z "$left" ] || { kill -KILL $left; fail "killed-launcher: processes $left stayed behind"; }
[ ! -e "$shared" ] || fail "killed-launcher: $shared stayed behind"
