#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# make-shell.sh BIN OUT: writes completions for bash, zsh and fish, and manual pages, for tilec and tile-run in BIN.
# They are based on the --help output of the tools, which lists the option tables.
set -euo pipefail
bin=$1
out=$2
mkdir -p "$out"
version=$("$bin/tile-run" --version | grep -oE '[0-9]+\.[0-9.]+' | head -1)

# options TOOL [SUBCOMMAND]: prints a line for each option: its names, separated by spaces; 1 if it takes a value; its
# syntax; its help text.
options() {
  "$bin/$1" ${2:+"$2"} --help </dev/null | awk -v tool="$1${2:+ $2}" '
    function flush() {
      if (form == "") return
      names = form
      takes = names ~ /[= <]/
      sub(/[ =<:].*/, "", names)
      gsub(/,/, " ", names)
      print names "\t" takes "\t" form "\t" text
      form = ""
    }
    /^  -/ {
      flush()
      line = substr($0, 3)
      if (tool == "tilec") match(line, /^-[^ ]+( <[^ ]+)?/); else { sub(/  .*/, "", line); RSTART = 1; RLENGTH = length(line); line = substr($0, 3) }
      form = substr(line, 1, RLENGTH)
      text = substr(line, RLENGTH + 1)
      sub(/^ +/, "", text)
      next
    }
    form != "" && text == "" && /^ +[^ ]/ { text = $0; sub(/^ +/, "", text); next }
    { flush() }
    END { flush() }'
}

# Prints option names, with "=" if a value must follow immediately.
words() { options "$@" | awk -F'\t' '{ n = split($1, name, " "); for (i = 1; i <= n; ++i) print name[i] ($2 && $3 ~ /^--[a-z0-9-]+=/ ? "=" : "") }'; }
# Subcommands of tilec that have separate options.
tilec_subcommands() {
  printf 'run\tcompile a kernel, run it and check its results\n'
  printf 'explain\tcompile and run a kernel, and write a page that says where its time goes\n'
  printf 'order\tprint in which order each variant of a kernel adds floats\n'
  printf 'verify\tprove that the accesses of a kernel are in bounds, or find counterexamples; compare two kernels\n'
}
subcommands() { "$bin/tile-run" --help | awk '/^Subcommands:/ { on = 1; next } on && /^  [a-z]/ { name = $1; $1 = ""; sub(/^ /, ""); print name "\t" $0; next } on && !/^  / { on = 0 }'; }
quoted() { sed -e "s/'/'\\\\''/g"; }
# Escapes characters that end a description in zsh.
described() { options "$@" | awk -F'\t' '{ gsub(/\[|\]|:/, "\\\\&", $4); n = split($1, name, " "); for (i = 1; i <= n; ++i) print name[i] ":" $4 }' | quoted | sed "s/.*/    '&'/"; }
fish_options() { # CONDITION TOOL [SUBCOMMAND]
  local condition=$1 names takes form text name
  shift
  options "$@" | while IFS=$'\t' read -r names takes form text; do
    for name in $names; do
      case $name in
      --*) name="-l ${name#--}" ;;
      -?) name="-s ${name#-}" ;;
      *) name="-o ${name#-}" ;;
      esac
      printf "complete -c %s %s %s %s-d '%s'\n" "$1" "$condition" "$name" "$([ "$takes" = 0 ] || echo '-r ')" "$(sed "s/'/\\\\'/g" <<<"$text")"
    done
  done
}
roff() { sed -e 's/\\/\\e/g; s/-/\\-/g' -e "s/^[.']/\\\\\&&/"; }
roff_options() { options "$@" | while IFS=$'\t' read -r _ _ form text; do printf '.TP\n.B "%s"\n%s\n' "$(roff <<<"${form//\"/\'}")" "$(roff <<<"$text")"; done; }

{
  echo "# Made by make-shell.sh."
  echo "_tilec() {"
  echo "  local word=\${COMP_WORDS[COMP_CWORD]} words='$(words tilec | paste -sd' ' | quoted)'"
  echo "  case \${COMP_WORDS[1]-} in"
  while IFS=$'\t' read -r name _; do
    echo "  $name) words='$(words tilec "$name" | paste -sd' ' | quoted)' ;;"
  done < <(tilec_subcommands)
  echo "  esac"
  echo "  COMPREPLY=()"
  echo "  [[ \$word == -* ]] && COMPREPLY=(\$(compgen -W \"\$words\" -- \"\$word\"))"
  echo "  [[ \${COMPREPLY-} != *= ]] || compopt -o nospace 2>/dev/null"
  echo "  [[ \$word == -* || \$COMP_CWORD -gt 1 ]] || COMPREPLY=(\$(compgen -W 'run explain order verify format lsp opt' -- \"\$word\"))"
  echo "} && complete -o default -F _tilec tilec"
} >"$out/tilec.bash"
{
  echo "# Made by make-shell.sh."
  echo "_tile_run() {"
  echo "  local word=\${COMP_WORDS[COMP_CWORD]} words='--help --version'"
  echo "  case \${COMP_WORDS[1]-} in"
  while IFS=$'\t' read -r name _; do
    echo "  $name) words='$(words tile-run "$name" | paste -sd' ' | quoted)' ;;"
  done < <(subcommands)
  echo "  *) words+=' $(subcommands | cut -f1 | paste -sd' ')' ;;"
  echo "  esac"
  echo "  COMPREPLY=()"
  echo "  [[ \$word != -* && \$COMP_CWORD -gt 1 ]] || COMPREPLY=(\$(compgen -W \"\$words\" -- \"\$word\"))"
  echo "} && complete -o default -F _tile_run tile-run"
} >"$out/tile-run.bash"
{
  printf "#compdef tilec\nlocal -a names=(\n%s\n)\ncase \$words[2] in\n" "$(described tilec)"
  while IFS=$'\t' read -r name _; do
    printf "%s) names=(\n%s\n  )\n  ;;\n" "$name" "$(described tilec "$name")"
  done < <(tilec_subcommands)
  printf "esac\n_describe -o option names\n_files\n"
} >"$out/_tilec"
{
  printf "#compdef tile-run\nlocal -a names\nif ((CURRENT == 2)); then\n  names=(\n%s\n  )\n  _describe subcommand names\nfi\ncase \$words[2] in\n" \
    "$(subcommands | sed 's/:/\\:/g; s/\t/:/' | quoted | sed "s/.*/    '&'/")"
  while IFS=$'\t' read -r name _; do
    printf "%s)\n  names=(\n%s\n  )\n  _describe -o option names\n  ;;\n" "$name" "$(described tile-run "$name")"
  done < <(subcommands)
  printf "esac\n_files\n"
} >"$out/_tile-run"
{
  fish_options "-n 'not __fish_seen_subcommand_from $(tilec_subcommands | cut -f1 | paste -sd' ')'" tilec
  while IFS=$'\t' read -r name text; do
    printf "complete -c tilec -n __fish_use_subcommand -a %s -d '%s'\n" "$name" "$text"
    fish_options "-n '__fish_seen_subcommand_from $name'" tilec "$name"
  done < <(tilec_subcommands)
} >"$out/tilec.fish"
{
  while IFS=$'\t' read -r name text; do
    printf "complete -c tile-run -n __fish_use_subcommand -a %s -d '%s'\n" "$name" "$(sed "s/'/\\\\'/g" <<<"$text")"
    fish_options "-n '__fish_seen_subcommand_from $name'" tile-run "$name"
  done < <(subcommands)
} >"$out/tile-run.fish"
{
  printf '.TH TILEC 1 "" "tile %s"\n.SH NAME\ntilec \\- compiler for tile kernels\n.SH SYNOPSIS\n.B tilec\n[options] file.tile\n.br\n.B tilec run\n[options] file.tile NAME=VALUE...\n.br\n.B tilec explain\n[options] file.tile NAME=VALUE...\n.br\n.B tilec order\n[options] file.tile\n.br\n.B tilec verify\n[options] file.tile\n.SH OPTIONS\n' "$version"
  roff_options tilec
  while IFS=$'\t' read -r name text; do
    printf '.SH TILEC %s\n%s. It takes options of tilec, too.\n' "${name^^}" "${text^}"
    roff_options tilec "$name"
  done < <(tilec_subcommands)
  printf '.SH EXIT STATUS\n'
  "$bin/tilec" --help | sed -n '/^Exit codes/,$p' | roff
  printf '.SH SEE ALSO\n.BR tile-run (1)\n'
} >"$out/tilec.1"
{
  printf '.TH TILE-RUN 1 "" "tile %s"\n.SH NAME\ntile\\-run \\- runs, checks and measures kernels compiled by tilec\n.SH SYNOPSIS\n.B tile\\-run\n[subcommand] [options] artifact NAME=VALUE...\n' "$version"
  while IFS=$'\t' read -r name text; do
    printf '.SH TILE-RUN %s\n%s\n' "${name^^}" "$(roff <<<"$text")"
    roff_options tile-run "$name"
  done < <(subcommands)
  printf '.SH SEE ALSO\n.BR tilec (1)\n'
} >"$out/tile-run.1"
