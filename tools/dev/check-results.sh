#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# check-results.sh: checks that each row of the table of ratios in README.md is a row of bench/results/README.md, and
# that all pages and data in bench/results that this page and its subpages name exist.
set -uo pipefail
cd "$(dirname "$0")/../.."
status=0
complain() {
  echo "$1"
  status=1
}

# Prints the rows of the tables whose header is "| workload | peer | ratio |".
rows() { awk '/^\| workload \| peer \| ratio \|$/ { inTable = 1; next } !/^\|/ { inTable = 0 } inTable && !/^\|---/' "$1"; }

results=$(rows bench/results/README.md)
[ -n "$(rows README.md)" ] || complain "README.md has no table 'workload, peer, ratio'"
while IFS= read -r row; do
  grep -qxF -- "$row" <<<"$results" || complain "README.md: bench/results/README.md has no row '$row'"
done < <(rows README.md)

# Links, and names of files in backquotes that end like data of this folder.
for page in bench/results/README.md bench/results/*/README.md; do
  folder=$(dirname "$page")
  for name in $(grep -oE '\]\([^)#:]+\)|`[A-Za-z0-9_./-]+\.(md|jsonl|tsv|svg)`' "$page" | sed -E 's/^\]\(|\)$|`//g' | sort -u); do
    [ -e "$folder/$name" ] || [ -e "$name" ] || complain "$page names $name, which does not exist"
  done
done
exit $status
