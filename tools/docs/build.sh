#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# build.sh BUILD OUT: generates the site in the folder OUT with pandoc, from the sources listed in site.txt, the
# reference in BUILD/docs and the manual pages in BUILD/shell. The site works without a server: open index.html. Broken
# links are errors.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
build=$(cd "$1" && pwd)
out=$2
rm -rf "$out"
mkdir -p "$out/source"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

sed -nE 's/^([a-z0-9-]+) .* < (.*)$/\1\t\2/p' "$here/site.txt" >"$work/pages"
touch "$work/index" "$work/files"

# menu PAGE UP: prints the list of pages, with PAGE highlighted.
menu() {
  sed -nE 's/^([a-z0-9-]+) (.*) < .*$/\1\t\2/p; s/^= (.*)$/=\t\1/p' "$here/site.txt" | awk -F '\t' -v page="$1" -v up="$2" '
    $1 == "=" { print (open ? "</ul>" : "") "<h2>" $2 "</h2><ul>"; open = 1; next }
    { print "<li><a " ($1 == page ? "class=\"here\" " : "") "href=\"" up $1 ".html\">" $2 "</a></li>" }
    END { print "</ul>" }'
}

# page NAME TITLE SOURCE FILE: writes one page; FILE contains the source.
page() {
  menu "$1" "" >"$work/menu-$1"
  local format=(--from=gfm)
  [ "${4%.1}" = "$4" ] || format=(--from=man --shift-heading-level-by=1)
  pandoc "${format[@]}" --to=html5 --standalone --template="$here/page.html" --lua-filter="$here/page.lua" --highlight-style=tango \
    -M pagetitle="$2" -M page="$1" -M source="$3" -M root="$root" -M pages="$work/pages" -M functions="$build/docs/builtins.md" -M index="$work/index-$1" \
    -M files="$work/files-$1" -V up= -V menu="$(cat "$work/menu-$1")" -o "$out/$1.html" "$4"
}

running=0
while IFS=$'\t' read -r name title source; do
  file=$root/$source
  case $source in
  @*.1) file=$build/shell/${source#@} ;;
  @*) file=$build/docs/${source#@} ;;
  esac
  [ -f "$file" ] || { echo "build.sh: site.txt names $source, which is not there" >&2; exit 1; }
  page "$name" "$title" "$source" "$file" &
  running=$((running + 1))
  [ $((running % $(nproc))) -ne 0 ] || wait
done < <(sed -nE 's/^([a-z0-9-]+) (.*) < (.*)$/\1\t\2\t\3/p' "$here/site.txt")
wait
while read -r name _; do
  [ -s "$out/$name.html" ] || { echo "build.sh: pandoc has not made $name.html" >&2; exit 1; }
done <"$work/pages"

cat "$work"/files-* 2>/dev/null | sort -u >"$work/files" || true
if grep '^!' "$work/files"; then
  exit 1
fi

# Repository files that pages link to: as text, images unchanged.
html() { sed 's/&/\&amp;/g; s/</\&lt;/g; s/>/\&gt;/g' "$1"; }
while read -r file; do
  mkdir -p "$out/source/$(dirname "$file")"
  if [ "${file%.svg}" != "$file" ]; then
    cp "$root/$file" "$out/source/$file"
  elif [ -d "$root/$file" ]; then
    (cd "$root/$file" && ls) >"$work/listing"
    { printf '<!DOCTYPE html><meta charset="utf-8"><title>%s</title><h1>%s</h1><pre>' "$file" "$file"; html "$work/listing"; echo '</pre>'; } >"$out/source/$file.html"
  else
    { printf '<!DOCTYPE html><meta charset="utf-8"><title>%s</title><h1>%s</h1><pre>' "$file" "$file"; html "$root/$file"; echo '</pre>'; } >"$out/source/$file.html"
  fi
done <"$work/files"

{ echo 'window.searchIndex = ['; cat "$work"/index-*; echo '];'; } >"$out/search-index.js"
cp "$here/site.css" "$here/search.js" "$out/"
