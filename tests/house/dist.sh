# SPDX-License-Identifier: MIT
# The release: tools/dist makes the same bytes twice, whatever the user's settings are; they hold what git knows, and nothing else; and they build without git.
top=$(cd "$(dirname "$0")/../.." && pwd)
source "$(dirname "$0")/../lib/common.sh"
git -C "$top" rev-parse HEAD >/dev/null 2>&1 || { echo "skipped: no git tree"; exit 77; }
[ "$(git -C "$top" rev-parse --show-toplevel)" = "$top" ] || { echo "skipped: no git tree of its own"; exit 77; }

"$top/tools/dist" one >dist.out 2>dist.err || fail "tools/dist"
(umask 077; cd / && TZ=Asia/Tokyo LC_ALL=C GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=tar.umask GIT_CONFIG_VALUE_0=user XZ_OPT=-1 "$top/tools/dist" "$work/two") >>dist.out 2>>dist.err || fail "tools/dist, elsewhere"
file=$(basename one/reprise-*.tar.xz)
cmp "one/$file" "two/$file" || fail "two runs differ"
name=${file%.tar.xz}
[ "reprise ${name#reprise-}" = "$("$reprise" --version)" ] || fail "$name is not the version of the command"

tar -xf "one/$file"
diff <(git -C "$top" ls-tree -r --name-only HEAD | sort) <(cd "$name" && find . ! -type d | sed 's|^\./||' | sort) >names.out || fail "it holds other files than the commit"
! find "$name" -type l ! -exec test -e {} \; -print | grep . || fail "links lead nowhere"

mkdir without # git
printf '#!/bin/sh\necho "git was called: $*" >&2\nexit 1\n' >without/git && chmod +x without/git
wrapper=$(command -v mpicc.openmpi || command -v mpicc.mpich || command -v mpicc)
PATH=$work/without:$PATH
run 300 configure cmake -S "$name" -B tree -DREPRISE_MPICC="$wrapper" -DCMAKE_BUILD_TYPE=Debug -DREPRISE_PLUGINS=OFF -DREPRISE_SHMEM=OFF
[ "$status" -eq 0 ] || fail "the configuration fails"
run 900 made cmake --build tree -j 2 --target reprise reprise-cc completions
[ "$status" -eq 0 ] || fail "it does not build"
! grep 'git was called' configure.err made.err || fail "the build calls git"
[ "$(tree/bin/reprise --version)" = "reprise ${name#reprise-}" ] || fail "the command does not run"
