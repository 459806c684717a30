# SPDX-License-Identifier: MIT
# What `make install DESTDIR=...` leaves works where it is, and where it is moved to: it records and replays, finds gdb's script and compiles, and needs nothing of the build tree.
source "$(dirname "$0")/../lib/common.sh"
source "$(dirname "$0")/../lib/installed.sh"
mpi=$1
launcher "$mpi" 3
program=$build/tests/mpi/$mpi/master_worker

works_in() { # PREFIX NAME
    run 60 "$2-record" "$1/bin/reprise" record -o "record-$2" "${launch[@]}" "$program"
    [ "$status" -eq 0 ] && grep -q 'recorded [1-9]' "$2-record.err" || fail "$2: record: $status"
    run 60 "$2-replay" "$1/bin/reprise" replay "record-$2"
    [ "$status" -eq 0 ] && grep -q 'identical' "$2-replay.err" || fail "$2: replay: $status"
    run 60 "$2-maps" "$1/bin/reprise" record --mpi "$mpi" -o "record-$2-maps" "${launch[@]}" grep libreprise /proc/self/maps
    grep -q "$1/lib[^ ]*/reprise/$mpi/libreprise.so" "$2-maps.out" || fail "$2: not the libraries of this prefix are loaded"
    ! grep -F "$build/lib" "$2-maps.out" || fail "$2: libraries of the build tree are loaded"
    run 60 "$2-cc" "$1/bin/reprise-cc" --reprise-show x.c -o x
    grep -q "$1/lib[^ ]*/reprise/cc/reprise-ticks.o" "$2-cc.out" "$2-cc.err" || fail "$2: reprise-cc does not link what is in this prefix"
}
works_in "$place" staged
mv "$place" "$prefix"
works_in "$prefix" moved
ln -s "$prefix/bin/reprise" linked
run 60 linked ./linked info record-moved
[ "$status" -eq 0 ] || fail "by a link: $status"

for page in reprise.1 reprise-record.1 reprise-cc.1; do [ -e "$prefix/share/man/man1/$page" ] || fail "no $page"; done
for file in bash-completion/completions/reprise bash-completion/completions/reprise-cc zsh/site-functions/_reprise fish/vendor_completions.d/reprise.fish; do
    [ -s "$prefix/share/$file" ] || fail "no $file"
done
! grep -rIlF "$build" "$prefix" >names.out || fail "these name the build tree"
for file in "$prefix"/bin/* "$prefix"/lib*/reprise/*/*.so; do
    ! readelf -d "$file" 2>/dev/null | grep -E 'R(UN)?PATH' | grep -qF "$build" || fail "$file looks for libraries in the build tree"
done
