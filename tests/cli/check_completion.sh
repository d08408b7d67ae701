#!/usr/bin/env bash
# What the program prints for shells is read by them: bash completes commands, options and files; the others and the
# manual page are read without a complaint where their readers are installed.
set -euo pipefail
residua=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
for kind in bash zsh fish man; do "$residua" completion $kind > "$kind"; done
"$residua" completion csh 2> message && exit 1
grep -q 'bash, zsh, fish or man' message

# What bash offers after these words, the last of them incomplete.
offered() {
  COMP_WORDS=(residua "$@") COMP_CWORD=$# COMPREPLY=()
  _residua
  printf '%s ' "${COMPREPLY[@]}"
}
expect() {
  if [[ " $2" != *" $1 "* ]]; then
    echo "completion: '$1' is not offered: $2" >&2
    exit 1
  fi
}
source ./bash
touch people.toml
expect release "$(offered re)"
expect grant "$(offered ledger gr)"
expect --reason "$(offered ledger grant --re)"
expect --epsilon "$(offered plan --eps)"
expect people.toml "$(offered check peo)"
expect people.toml "$(offered check --ledger peo)"
[[ $(offered plan --nothing) == " " ]]
# Every command and every option of --help is offered.
for command in $("$residua" --help | sed -n '/^Subcommands:/,/^$/s/^  \([a-z]*\) .*/\1/p'); do
  expect "$command" "$(offered '')"
  for option in $("$residua" "$command" --help | grep -oE '^ +(-[a-zA-Z],)?--[a-z-]+' | grep -oE -- '--[a-z-]+'); do
    expect "$option" "$(offered "$command" -)"
  done
done
if command -v zsh > /dev/null; then zsh -n zsh; fi
if command -v fish > /dev/null; then fish --no-execute fish; fi
if command -v groff > /dev/null; then
  complaints=$(groff -man -ww -Tutf8 man 2>&1 > page)
  [[ -z $complaints ]] || { echo "$complaints" >&2; exit 1; }
fi
"$residua" help ledger grant | grep -q 'Usage: residua ledger grant'
[[ $("$residua" -V) == $("$residua" --version) ]]
"$residua" help nothing 2> message && exit 1
grep -q "there is no command 'nothing'" message
