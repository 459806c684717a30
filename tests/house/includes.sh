# SPDX-License-Identifier: MIT
# The house stays as drawn: which folder may include which, and where mpi.h may appear. docs/design.md draws it.
cd "$(dirname "$0")/../.." || exit 1
bad=0
may() { # FOLDER ALLOWED...: includes of src/FOLDER are of itself or of these
    local folder=$1 allowed
    shift
    allowed=$(printf '|%s' "$folder" "$@")
    while IFS=: read -r file line text; do
        target=${text#*\"}
        target=${target%%/*}
        [[ "|$target|" =~ ^\|(${allowed#|})\|$ ]] || { echo "$file:$line includes $text"; bad=1; }
    done < <(grep -nE '#include "[a-z]+/' "src/$folder"/*.[ch])
}
may base
may event base
may codec base event
may log base event codec
may match base event codec
may mpi base event data
may data base event log mpi
may shmem base log mpi data
may envelope base mpi
may det base event log match mpi
may stress base log mpi
may blocking mpi
may given base log mpi envelope
may isendrecv base mpi
may ft base mpi
may engine base event codec log match mpi envelope data blocking
may report base event codec log
may cli base event codec log match report
may cc base
may task base match
for file in $(grep -lE '#include <mpi.h>' -r --include='*.[ch]' src include apps tests); do
    case $file in
    src/mpi/* | src/envelope/* | src/det/* | src/stress/* | src/given/* | src/blocking/* | src/isendrecv/* | src/data/* | src/ft/* | src/engine/* | src/task/task_mpi.c | src/task/task_failures* | apps/* | tests/mpi/* | tests/ft/* | tests/shmem/*) ;;
    *) echo "$file includes mpi.h"; bad=1 ;;
    esac
done
# Modes never include each other.
grep -nE '#include "engine/replay' src/engine/record*.[ch] && bad=1
grep -nE '#include "engine/record' src/engine/replay*.[ch] && bad=1
grep -nE '#include "engine/(record|replay)' src/engine/clocked*.[ch] && bad=1
grep -nE '#include "engine/clocked' src/engine/re*.[ch] && bad=1
names=$(find src apps -name '*.[ch]' -printf '%f\n' | sort | uniq -d)
[ -z "$names" ] || { echo "file names that are not unique: $names"; bad=1; }
exit $bad
