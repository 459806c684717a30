# SPDX-License-Identifier: MIT
# Behind common.sh: installs what was built into $work/stage, as a package is made, and moves the prefix to $work/moved.
DESTDIR=$work/stage cmake --install "$build" >install.log 2>&1 || { tail install.log; fail "cmake --install"; }
place=$work/stage$(sed -n 's/^CMAKE_INSTALL_PREFIX:[^=]*=//p' "$build/CMakeCache.txt")
[ -x "$place/bin/reprise" ] || fail "nothing is in the prefix $place"
prefix=$work/moved
