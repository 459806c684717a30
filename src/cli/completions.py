# SPDX-License-Identifier: MIT
# usage: completions.py REPRISE REPRISE-CC FOLDER
#
# Writes completions for bash, zsh and fish, for `reprise` and `reprise-cc`, into FOLDER: bash/reprise,
# bash/reprise-cc, zsh/_reprise, fish/reprise.fish, fish/reprise-cc.fish. Commands and options come from the
# programs themselves: `reprise --tables` prints its option tables, `reprise-cc --reprise-help` its options.
# What an argument may be follows from its name in the help (DIR, FILE) and from CHOICES.
import os
import re
import subprocess
import sys

# The words that an option takes: (command or *, option). Each of them is in the help of the option.
CHOICES = {
    ("*", "--mpi"): "openmpi mpich abi",
    ("*", "--capture"): "time random pid host all",
    ("*", "--format"): "html text json",
    ("record", "--codec"): "mix tables auto cdc gzip raw",
    ("recode", "--codec"): "mix tables cdc gzip raw",
    ("record", "--encoder"): "on off",
    ("replay", "--at-end"): "stop gdb continue",
    ("det", "--reductions"): "fixed native",
    ("stress", "--compare"): "status output",
}


class Option:
    def __init__(self, name, short, argument, about):
        self.name, self.short, self.argument, self.about = name, short, argument, about
        self.words = ""

    def kind(self):
        if self.words:
            return "words"
        return {"DIR": "folder", "FILE": "file", "": ""}.get(self.argument, "text")

    def names(self):
        return [self.name] + ([self.short] if self.short else [])


class Command:
    def __init__(self, name, about, synopsis):
        self.name, self.about, self.synopsis = name, about, synopsis
        self.options = []

    def operands(self):
        """What the operands are, in order; the last may repeat ("run+")."""
        found = []
        for word in re.sub(r"[][]", " ", self.synopsis).split():
            if word.startswith("-") or word == "options":
                continue
            found.append(word)
        kinds = []
        for word in found:
            if word in ("COMMAND", "LAUNCHER"):
                return kinds + ["command"]
            if re.fullmatch(r"RUN\d?(\.\.\.)?", word):
                kinds.append("run+" if word.endswith("...") else "run")
            elif re.fullmatch(r"PROGRAM(\.\.\.)?", word):
                kinds.append("program+" if word.endswith("...") else "program")
            elif word == "FILE" or word == "GDB":
                kinds.append("file+" if word == "GDB" else "file")
            elif "|" in word:
                kinds.append("%" + word.replace("|", " "))
            elif word not in ("ARGUMENT...", "EXPRESSION", "RANK"):
                sys.exit(f"completions.py: what is {word} in the synopsis of '{self.name}'?")
        return kinds


def read_tables(reprise):
    commands = []
    for line in subprocess.run([reprise, "--tables"], check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines():
        what, *fields = line.split("\t")
        if what == "command":
            commands.append(Command(*fields))
        else:
            commands[-1].options.append(Option(*fields))
    return commands


def read_cc_options(reprise_cc):
    """Options as (name with its =, words, about)."""
    text = subprocess.run([reprise_cc, "--reprise-help"], check=True, stdout=subprocess.PIPE, text=True).stdout
    found = []
    for name, value, about in re.findall(r"^  (--[a-z-]+)(=[A-Z]+)? +(.*)$", text, re.M):
        words = ""
        if value == "=NAME":
            words = "openmpi mpich"
        elif value:
            words = about.split(": ")[1].replace(",", "")
        found.append((name + ("=" if value else ""), words, about))
    return found


def add_choices(commands):
    used = set()
    for command in commands:
        for option in command.options:
            for key in ((command.name, option.name), ("*", option.name)):
                if key in CHOICES:
                    used.add(key)
                    option.words = CHOICES[key]
                    for word in option.words.split():
                        if not re.search(rf"\b{word}\b", option.about):
                            sys.exit(f"completions.py: '{word}' is not in the help of {command.name} {option.name}")
                    break
    if used != set(CHOICES):
        sys.exit(f"completions.py: no such options: {set(CHOICES) - used}")


def once(text, mark="#"):
    return f"{mark} SPDX-License-Identifier: MIT\n{mark} Made by src/cli/completions.py of the option tables.\n" + text


def first_words(about):
    """The help of an option, as far as a list has room for it."""
    short = re.split(r"[:;(]| such as ", about)[0].strip().rstrip(",")
    return short if len(short) > 12 else about.split(";")[0]


# bash

BASH = r'''
_reprise_runs() # the names of records in .reprise
{
    local path
    for path in "${REPRISE_DIR:-.reprise}"/*/manifest; do
        [ -e "$path" ] || continue
        path=${path%/manifest}
        printf '%s\n' "${path##*/}"
    done
}

_reprise_words() { mapfile -t COMPREPLY < <(compgen -W "$1" -- "$cur"); }

_reprise_paths() # -f or -d
{
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen "$1" -- "$cur")
}

_reprise_value() # COMMAND OPTION: what the option's argument may be
{
    case $1:$2 in
@VALUES@
    esac
}

_reprise_command() # I: word I begins a command line of its own
{
    if [ "$COMP_CWORD" -gt "$1" ] && declare -F _command_offset >/dev/null; then
        _command_offset "$1"
    elif [ "$COMP_CWORD" -gt "$1" ]; then
        _reprise_paths -f
    else
        compopt -o filenames 2>/dev/null
        mapfile -t COMPREPLY < <(compgen -c -- "$cur"; compgen -f -- "$cur")
    fi
}

_reprise_operand() # KIND
{
    case $1 in
    run | run+)
        _reprise_words "$(_reprise_runs) latest"
        [ "${#COMPREPLY[@]}" -gt 0 ] || _reprise_paths -d
        ;;
    program | program+)
        compopt -o filenames 2>/dev/null
        mapfile -t COMPREPLY < <(compgen -c -- "$cur"; compgen -f -- "$cur")
        ;;
    file | file+) _reprise_paths -f ;;
    %*) _reprise_words "${1//[%,]/ }" ;;
    esac
}

_reprise()
{
    local cur=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]} options takes operands i
    COMPREPLY=()
    if [ "$COMP_CWORD" -eq 1 ]; then
        _reprise_words '@COMMANDS@ help --help --version'
        return
    fi
    case $command in
    help)
        [ "$COMP_CWORD" -ne 2 ] || _reprise_words '@COMMANDS@'
        return
        ;;
@OPTIONS@
    *) return ;;
    esac
    local at=0 last=$((${#operands[@]} - 1)) dashes= word
    for ((i = 2; i < COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        if [ -z "$dashes" ] && [ "$word" = -- ]; then
            dashes=1
            [ "$last" -lt 0 ] || [ "${operands[last]}" != command ] || at=$last
        elif [ -z "$dashes" ] && [ "${word:0:1}" = - ]; then
            [[ " $takes " == *" $word "* ]] || continue
            if [ "${COMP_WORDS[i + 1]}" = = ]; then i=$((i + 1)); fi # --codec=mix are three words
            i=$((i + 1))
            [ "$i" -lt "$COMP_CWORD" ] || { [ "$cur" != = ] || cur=; _reprise_value "$command" "$word"; return; }
        else
            case ${operands[at]-} in
            command) _reprise_command "$i"; return ;;
            *+) ;;
            *) at=$((at + 1)) ;;
            esac
        fi
    done
    if [ -z "$dashes" ] && [ "${cur:0:1}" = - ]; then
        _reprise_words "$options --help -h"
    elif [ "${operands[at]-}" = command ]; then
        _reprise_command "$COMP_CWORD"
    else
        _reprise_operand "${operands[at]-}"
    fi
}
complete -F _reprise reprise
'''

BASH_CC = r'''
_reprise_cc()
{
    local cur=${COMP_WORDS[COMP_CWORD]} option=${COMP_WORDS[COMP_CWORD - 1]}
    COMPREPLY=()
    if [ "$option" = = ]; then
        option=${COMP_WORDS[COMP_CWORD - 2]}
    elif [ "$cur" = = ]; then
        cur=
    elif [ "${cur:0:1}" = - ]; then
        mapfile -t COMPREPLY < <(compgen -W '@OPTIONS@' -- "$cur")
        [[ "${COMPREPLY[*]}" != *= ]] || compopt -o nospace 2>/dev/null
        return
    else
        return
    fi
    case $option in
@VALUES@
    esac
}
complete -o default -F _reprise_cc reprise-cc reprise-c++ reprise-fc
'''


def bash(commands):
    values, options = [], []
    for c in commands:
        takes = []
        for o in c.options:
            if not o.argument:
                continue
            takes += o.names()
            action = {"words": f"_reprise_words '{o.words}'", "folder": "_reprise_paths -d", "file": "_reprise_paths -f"}.get(o.kind())
            if action:
                values += [f"    {' | '.join(c.name + ':' + name for name in o.names())}) {action} ;;"]
        names = " ".join(name for o in c.options for name in o.names())
        operands = " ".join("'" + kind.replace(" ", ",") + "'" for kind in c.operands())
        options.append(f"    {c.name})\n        options='{names}'\n        takes='{' '.join(takes)}'\n        operands=({operands})\n        ;;")
    text = BASH.replace("@VALUES@", "\n".join(values)).replace("@OPTIONS@", "\n".join(options))
    return once(text.replace("@COMMANDS@", " ".join(c.name for c in commands)))


def bash_cc(options):
    values = [f"    {name[:-1]}) mapfile -t COMPREPLY < <(compgen -W '{words}' -- \"$cur\") ;;" for name, words, _ in options if words]
    return once(BASH_CC.replace("@OPTIONS@", " ".join(name for name, _, _ in options)).replace("@VALUES@", "\n".join(values)))


# zsh

ZSH = r'''
_reprise_runs()
{
    local -a runs
    runs=(${REPRISE_DIR:-.reprise}/*/manifest(N:h:t) latest)
    _alternative "records:record:compadd -a runs" "directories:directory:_directories"
}

# Behind the options, words has the operands alone. With --, they are a command line where the command takes one.
_reprise_operands()
{
    local -a kinds=("$@")
    local kind=$kinds[CURRENT]
    if [[ -z $kind && $kinds[-1] == *+ ]]; then kind=$kinds[-1]; fi
    if [[ $kinds[-1] == command ]]; then
        local before=$(($#kinds - 1))
        if ((dashes || CURRENT > before)); then
            local skip=$((dashes ? words[(I)--] : before)) # a -- in front of all operands is not among words
            shift $skip words
            ((CURRENT -= skip))
            if ((CURRENT == 1)); then
                _alternative 'commands:command:_command_names -e' 'files:file:_files'
            else
                _normal
            fi
            return
        fi
    fi
    case $kind in
    run*) _reprise_runs ;;
    program*) _alternative 'commands:command:_command_names -e' 'files:file:_files' ;;
    file*) _files ;;
    %*) compadd -- ${(s:,:)kind#%} ;;
    *) _message 'no more arguments' ;;
    esac
}

_reprise_cc()
{
    _arguments @CC@ '*:file:_files'
}

_reprise()
{
    if [[ $service != reprise ]]; then
        _reprise_cc
        return
    fi
    if ((CURRENT == 2)); then
        local -a commands
        commands=(
@COMMANDS@
            'help:the commands'
        )
        _describe command commands
        _values option '--help[the commands]' '--version[the version]'
        return
    fi
    local dashes=0 command=$words[2] curcontext=$curcontext
    shift words
    ((CURRENT--))
    dashes=$words[(I)--]
    ((dashes == 0 || dashes >= CURRENT)) && dashes=0
    case $command in
    help)
        ((CURRENT > 2)) || compadd -- @NAMES@
        ;;
@OPTIONS@
    esac
}

_reprise "$@"
'''


def zsh_quote(text):
    return text.replace("'", "'\\''").replace("[", "\\[").replace("]", "\\]")


def zsh(commands, cc_options):
    def option(o):
        about = f"[{zsh_quote(first_words(o.about))}]"
        if not o.argument:
            names, value = o.names(), ""
        else:
            names = [o.name + "="] + ([o.short] if o.short else [])
            action = {"words": f"({o.words})", "folder": "_directories", "file": "_files"}.get(o.kind(), " ")
            value = ":" + zsh_quote(o.argument).replace(":", "\\:") + ":" + action
        if len(names) > 1:
            return f"'({' '.join(o.names())})'{{{','.join(names)}}}'{about}{value}'"
        return f"'{names[0]}{about}{value}'"

    cases = []
    for c in commands:
        lines = [option(o) for o in c.options] + ["'(- *)'{-h,--help}'[help]'"]
        operands = [kind.replace(" ", ",") for kind in c.operands()]
        if operands:
            lines.append("'*::: :{_reprise_operands " + " ".join(operands) + "}'")
        rest = " \\\n            ".join(lines)
        cases.append(f"    {c.name})\n        _arguments -S -A '-*' \\\n            {rest}\n        ;;")
    names = "\n".join(f"            '{c.name}:{c.about.replace(chr(39), chr(39) + chr(92) + chr(39) * 2)}'" for c in commands)
    cc = " ".join(
        f"'{name[:-1]}=-[{zsh_quote(about.split(':')[0])}]:how:({words})'" if words else f"'{name}[{zsh_quote(about.split(':')[0])}]'"
        for name, words, about in cc_options if not (words == "" and name + "=" in [n for n, _, _ in cc_options]))
    text = ZSH.replace("@COMMANDS@", names).replace("@NAMES@", " ".join(c.name for c in commands))
    text = text.replace("@OPTIONS@", "\n".join(cases)).replace("@CC@", cc)
    return "#compdef reprise reprise-cc reprise-c++ reprise-fc\n" + once(text)


# fish

FISH = r'''
function __reprise_runs
    set -l folder .reprise
    set -q REPRISE_DIR; and set folder $REPRISE_DIR
    for path in $folder/*/manifest
        string replace -r '.*/([^/]*)/manifest$' '$1' -- $path
    end
    echo latest
end

# What may come at the cursor: `options` if options may, and a line with the kind of the operand; or
# `line N` if word N begins a command line of its own.
function __reprise_next
    set -l words (commandline -opc)
    set -l takes
    set -l operands
    switch "$words[2]"
@DATA@
    end
    set -l at 1
    set -l dashes no
    set -l i 3
    while test $i -le (count $words)
        set -l word $words[$i]
        if test $dashes = no; and string match -qr -- '^--$' $word
            set dashes yes
            test "$operands[-1]" = command; and set at (count $operands)
        else if test $dashes = no; and string match -q -- '-*' $word
            contains -- $word $takes; and set i (math $i + 1)
        else if test "$operands[$at]" = command
            echo line $i
            return
        else if not string match -q -- '*+' "$operands[$at]"
            set at (math $at + 1)
        end
        set i (math $i + 1)
    end
    test $dashes = no; and echo options
    echo "$operands[$at]"
end

function __reprise_options # COMMAND: its options may come
    set -l words (commandline -opc)
    test "$words[2]" = $argv[1]; and contains options (__reprise_next)
end

function __reprise_operand # KIND: such an operand may come
    test (count (commandline -opc)) -gt 1; and string match -qr -- "^$argv[1]" (__reprise_next)
end

function __reprise_line # completions of the command line that began behind ours
    set -l next (__reprise_next | string match -r '^line .*' | string replace 'line ' '')
    set -l words (commandline -opc)
    set -l line (commandline -ct)
    if test -n "$next"
        set line (string join ' ' -- (string escape -- $words[$next..-1]) "$line")
    end
    complete -C "$line"
end

complete -c reprise -f
complete -c reprise -n __fish_use_subcommand -a help -d 'the commands'
complete -c reprise -n __fish_use_subcommand -l help -d 'the commands'
complete -c reprise -n __fish_use_subcommand -l version -d 'the version'
complete -c reprise -n '__fish_seen_subcommand_from help' -a '@NAMES@'
complete -c reprise -n '__reprise_operand run' -a '(__reprise_runs)'
complete -c reprise -n '__reprise_operand command' -a '(__reprise_line)'
complete -c reprise -n '__reprise_operand line' -a '(__reprise_line)'
complete -c reprise -n '__reprise_operand program' -a '(__reprise_line)'
complete -c reprise -n '__reprise_operand file' -F
'''


def fish_quote(text):
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def fish(commands):
    data, lines = [], []
    for c in commands:
        takes = [name for o in c.options if o.argument for name in o.names()]
        operands = [kind.replace(" ", ",") for kind in c.operands()]
        data.append(f"        case {c.name}\n            set takes {' '.join(takes)}\n            set operands {' '.join(operands)}")
        lines.append(f"complete -c reprise -n __fish_use_subcommand -a {c.name} -d {fish_quote(c.about)}")
        for kind in operands:
            if kind.startswith("%"):
                lines.append(f"complete -c reprise -n '__reprise_operand %' -a '{kind[1:].replace(',', ' ')}'")
        for o in c.options:
            action = {"words": f" -x -a '{o.words}'", "folder": " -x -a '(__fish_complete_directories)'", "file": " -r -F",
                      "text": " -x", "": ""}[o.kind()]
            short = f" -s {o.short[1:]}" if o.short else ""
            lines.append(f"complete -c reprise -n '__reprise_options {c.name}'{short} -l {o.name[2:]}{action} -d {fish_quote(first_words(o.about))}")
        lines.append(f"complete -c reprise -n '__reprise_options {c.name}' -s h -l help -d help")
    return once(FISH.replace("@DATA@", "\n".join(data)).replace("@NAMES@", " ".join(c.name for c in commands)) + "\n".join(lines) + "\n")


def fish_cc(options):
    lines = []
    for name in ("reprise-cc", "reprise-c++", "reprise-fc"):
        for option, words, about in options:
            value = f" -a '{words}'" if words else ""
            if option.endswith("=") or option + "=" not in [o for o, _, _ in options]:
                lines.append(f"complete -c {name} -l {option[2:].rstrip('=')}{value} -d {fish_quote(about.split(':')[0])}")
    return once("\n".join(lines) + "\n")


def main():
    reprise, reprise_cc, folder = sys.argv[1:]
    commands = read_tables(reprise)
    add_choices(commands)
    cc_options = read_cc_options(reprise_cc)
    files = {
        "bash/reprise": bash(commands),
        "bash/reprise-cc": bash_cc(cc_options),
        "zsh/_reprise": zsh(commands, cc_options),
        "fish/reprise.fish": fish(commands),
        "fish/reprise-cc.fish": fish_cc(cc_options),
    }
    for name, text in files.items():
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(text)


if __name__ == "__main__":
    main()
