# SPDX-License-Identifier: MIT
# For tests with device memory: a driver whose memory the processor cannot access (libcuda.so.1, libamdhip64.so.6), which the programs load.
sources=$(cd "$(dirname "${BASH_SOURCE[0]}")/../cli/programs" && pwd)
root=$(cd "$sources/../../.." && pwd)

make_drivers() { # in $work
    cc -shared -fPIC -O1 -g -D_GNU_SOURCE "$sources/device_driver.c" -Wl,-soname,libcuda.so.1 -o libcuda.so.1 &&
        cc -shared -fPIC -O1 -g -D_GNU_SOURCE -DHIP "$sources/device_driver.c" -Wl,-soname,libamdhip64.so.6 -o libamdhip64.so.6 || fail "the drivers do not compile"
    export LD_LIBRARY_PATH=$work${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
}
