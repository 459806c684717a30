# SPDX-License-Identifier: MIT
# usage: zsh -f complete.zsh FOLDER LINE...: what zsh offers behind each LINE, with the completions in FOLDER: a line `= LINE`, then a match a line.
# A zsh on a pseudo-terminal gets the line and a Tab. Its compadd prints the matches, and it ends behind them.
zmodload zsh/zpty
folder=$1
shift
prepare='
PS1= RPS1=; unsetopt prompt_cr prompt_sp beep; stty -onlcr
fpath=('${(q)folder}' $fpath); autoload -Uz compinit; compinit -u -D
bindkey "^M" undefined; bindkey "^J" undefined; bindkey "^I" complete-word
mark() { print -r -- "--mark--" }
compprefuncs=(mark); comppostfuncs=(mark exit)
zstyle ":completion:*" list-grouped false; zstyle ":completion:*" insert-tab false
zstyle ":completion:*" list-separator ""
compadd() {
    if [[ ${@[1,(i)(-|--)]} == *-(O|A|D)\ * ]]; then builtin compadd "$@"; return $?; fi
    local -a found; builtin compadd -A found "$@"
    local suffix="" i; for ((i = 1; i < $#; i++)); do [[ ${@[i]} == -S ]] && suffix=${@[i + 1]}; done
    local each; for each in $found; do print -r -- "match $each"; done
    builtin compadd "$@"
}
print ready'
for line; do
    print -r -- "= $line"
    zpty shell zsh -f -i
    zpty -w shell "source =(cat <<'END'
$prepare
END
)"
    while zpty -r shell text; do [[ $text == *ready* ]] && [[ $text != *print* ]] && break; done
    zpty -w -n shell "$line"$'\t'
    while zpty -r shell text; do
        text=${text%%[$'\r\n']*}
        [[ $text == "match "* ]] && print -r -- "${text#match }"
    done
    zpty -d shell
done
