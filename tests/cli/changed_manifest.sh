# SPDX-License-Identifier: MIT
# A description that is not as it was written is refused by every command that reads a record,
# whatever was changed, with --force too. So is that of a run that was killed, and the command
# line of a record of tasks.
source "$(dirname "$0")/../lib/common.sh"
mpi=$1
launcher "$mpi" 2
program=$build/tests/mpi/$mpi/recv_any_source
crash=$build/tests/mpi/$mpi/segv_after

run 60 record "$reprise" record --ranks all -o good "${launch[@]}" "$program"
[ "$status" -eq 0 ] || fail "record: $status"
run 60 record2 "$reprise" record -o killed "${launch[@]}" "$crash"
[ -f killed/incomplete ] || fail "a run that crashed left no 'incomplete'"
"$reprise" verify good >/dev/null && "$reprise" verify killed >/dev/null ||
    fail "untouched records do not verify"

touched=$work/touched # what a changed command line would do
edit() { # NAME FILE: changes the description
    case $1 in
    command) sed -i "s|^  \"command\": \[|&\"touch\", \"$touched\", |" "$2" ;;
    launched) sed -i 's|"launched": "outside"|"launched": "inside"|' "$2" ;;
    program) sed -i 's|^  "program": "|&x|' "$2" ;;
    host) sed -i 's|"host": "|&x|' "$2" ;;
    space) sed -i 's|^  "ranks"|   "ranks"|' "$2" ;;
    digit) sed -i -E 's|("crc32c": "[0-9a-f]{7}).|\1z|' "$2" ;;
    key) sed -i 's|"crc32c"|"crc32d"|' "$2" ;;
    command_key) edit command "$2" && edit key "$2" ;;
    case) sed -i 's|"crc32c"|"CRC32C"|' "$2" ;;
    gone) python3 - "$2" <<'END' ;;
import sys
text = open(sys.argv[1]).read()
open(sys.argv[1], "w").write(text[:text.rindex(",\n")] + "\n}\n")
END
    behind) python3 - "$2" <<'END' ;;
import sys
text = open(sys.argv[1]).read()
open(sys.argv[1], "w").write(text[:text.rindex("\n}")] + ',\n  "mpi": "other"\n}\n')
END
    moved) python3 - "$2" <<'END' ;;
import json, sys
value = json.load(open(sys.argv[1]))
value["command"] = value.pop("command")
json.dump(value, open(sys.argv[1], "w"), indent=2)
END
    twice) python3 - "$2" <<'END' ;;
import sys
text = open(sys.argv[1]).read()
open(sys.argv[1], "w").write(text.replace('  "mpi": ', '  "mpi": "x",\n  "mpi": ', 1))
END
    newline) echo >>"$2" ;;
    bytes) printf 'x' >>"$2" ;;
    esac
}

for change in command launched program host space digit key command_key case gone behind moved twice newline bytes; do
    for kind in good killed; do
        rm -rf changed && cp -a $kind changed
        name=manifest.json
        [ $kind = killed ] && name=incomplete
        edit $change changed/$name
        cmp -s changed/$name $kind/$name && fail "$change changes nothing"
        for words in verify info 'replay --force' status; do
            refuses 122 "$name" "$reprise" $words changed
        done
        refuses 122 "$name" "$reprise" solo --force -r 0 changed
    done
done
[ ! -e "$touched" ] || fail "a changed command line was run"

# Every command.
rm -rf changed && cp -a good changed && edit command_key changed/manifest.json
said='manifest.json'
for words in info 'info --json' verify dump 'dump --json' 'dump --sites' 'report --format text' \
    'report --format json' 'report -o page.html' 'export --perfetto' status 'status --json' \
    replay 'replay --force' 'recode --codec tables -o recoded'; do
    refuses 122 $said "$reprise" $words changed
done
refuses 122 $said "$reprise" solo -r 0 changed
refuses 122 $said "$reprise" solo --force -r 0 changed
refuses 122 $said "$reprise" diff changed good
refuses 122 $said "$reprise" diff good changed
refuses 122 $said "$reprise" diff --json good changed
refuses 122 $said "$reprise" env replay changed "$program"
refuses 122 $said "$reprise" replay changed -- "${launch[@]}" "$program"
refuses 122 $said "$reprise" replay --force changed -- "${launch[@]}" "$program"
refuses 122 $said "${launch[@]}" "$reprise" replay changed "$program"
refuses 122 $said "${launch[@]}" "$reprise" replay --force changed "$program"
refuses 122 $said env REPRISE_FORCE=1 REPRISE_RUN="$work/changed" "$reprise" replay
[ ! -e recoded ] && [ ! -e page.html ] && [ ! -e "$touched" ] ||
    fail "something was made of a changed record"

# Ranks that no command checked it for.
rm -rf changed && cp -a good changed
(
    eval "$("$reprise" env replay changed "$program")"
    edit program changed/manifest.json
    run 60 by_env "${launch[@]}" "$program"
    ended_with "$mpi" 122
) && grep -q manifest.json by_env.err || fail "ranks replay by a changed description"

# A program of tasks has no description, but a command line.
apps=$build/apps/$mpi
run 60 tasks "$reprise" record --tasks -o tasks "${launch[@]}" "$apps/workers" --size 20 --workers 3
[ "$status" -eq 0 ] || fail "record of tasks: $status"
"$reprise" verify tasks >/dev/null || fail "verify of tasks"
cp -a tasks tasks_pristine
sed -i 's/20/21/' tasks/command
for words in info verify replay; do
    refuses 122 command "$reprise" $words tasks
done
refuses 122 command "$reprise" replay tasks -- "${launch[@]}" "$apps/workers" --size 20 --workers 3
head -c -4 tasks_pristine/command >tasks/command
refuses 122 command "$reprise" replay tasks
run 60 tasks_again "$reprise" replay tasks_pristine
[ "$status" -eq 0 ] || fail "replay of tasks: $status"
exit 0
