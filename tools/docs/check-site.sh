#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# check-site.sh SITE: checks that every link within the site leads to an existing file and a unique anchor in it, and
# that nothing is loaded from other hosts.
set -uo pipefail
cd "$1"
status=0
complain() {
  echo "$1"
  status=1
}
declare -A places # "page#anchor"
while IFS=: read -r page id; do
  [ -z "${places[$page#$id]:-}" ] || complain "$page has two places named $id"
  places[$page#$id]=1
done < <(grep -oE '(^| )id="[^"]+"' -- *.html | sed -E 's/: ?id="([^"]+)"/:\1/')
while IFS=: read -r page target; do
  case $target in
  http:* | https:* | mailto:*) continue ;;
  \#*) target=$page$target ;;
  esac
  file=${target%%#*}
  [ -e "$file" ] || { complain "$page links to $target, which does not exist"; continue; }
  [ "$file" = "$target" ] || [ -n "${places[$target]:-}" ] || complain "$page links to $target, of which there is no such place"
done < <(grep -oE '(^| )(href|src)="[^"]+"' -- *.html | sed -E 's/: ?(href|src)="([^"]+)"/:\2/' | sort -u)
if grep -lE ' src="https?:|<link[^>]+href="https?:' -- *.html; then
  complain "^ these load something from elsewhere"
fi
exit $status
