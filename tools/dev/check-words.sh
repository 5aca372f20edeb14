#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# check-words.sh [BUILD] [--list]: counts, for each folder, the words in comments for which CONTRIBUTING.md ("Words")
# has a standard term, also per 1000 lines of comments, and the lines of code with such a word in a name (isProduct,
# lastRest). Fails only if a new file has more of these words in comments than the mean, or more than two of these lines
# of code. New files are those that the last commit or the working tree adds. --list prints each line that counts.
set -uo pipefail
cd "$(dirname "$0")/../.."
mode=check
[[ " $* " == *" --list "* ]] && mode=list

# Added files; none outside a git checkout.
added=$({ git diff --name-only --diff-filter=A HEAD~1 && git ls-files --others --exclude-standard; } 2>/dev/null)

git ls-files --cached --others --exclude-standard dialects include lib tools |
  grep -E '\.(h|cpp|c|def|td|md|sh)$' | grep -vF tools/dev/check-words.sh | LC_ALL=C xargs awk -v mode=$mode -v added="$added" '
  BEGIN {
    split(added, files, "\n")
    for (i in files) isNew[files[i]] = 1
    # A comment that begins with a fragment, and words with a standard term.
    fragment = "^ *(///?<?|#|\\*) *(What|Of|Whether to|How) [a-z]"
    words = "(sums? of (a |the |its )?(threads?|dots?|products?|tiles?|kernels?)|matrix products?|products|" \
      "(its|the|of|a|this|that|each) product|places|numbers|behind|beside|by turns|in turns|hand(s|ed)? (over|back)|" \
      "(told|torn) apart|stands? apart|starts? anywhere|left out|leaves? out|what is left|nobody|a mistake|as liked|" \
      "wants|than it is|do(es)? without|of (its|their) own|to meet|turned)"
    # Such words as a name or as a part of a name, including "product" for a product of integers.
    names = "(^|[^A-Za-z_\"])(products?|numbers|rest|places|behind|beside|turned|wants|knows|meets)([^a-z_\"]|$)|" \
      "[a-z](Products?|Numbers|Rest|Places|Behind|Beside|Turned|Wants|Knows|Meets|LeftOut)([^a-z]|$)"
  }
  FNR == 1 { inCode = 0; split(FILENAME, parts, "/"); folder = parts[1] "/" parts[2]; if (FILENAME !~ /\/.*\//) folder = parts[1] }
  FILENAME ~ /\.md$/ { if (/^ *```/) inCode = !inCode; if (inCode || !NF) next; text = $0 }
  FILENAME !~ /\.md$/ {
    comment = FILENAME ~ /\.sh$/ ? match($0, /(^| )# /) : FILENAME ~ /\.td$/ && !/[;{}=<>]/ ? 1 : match($0, /\/\/|\/\*|^ \*/)
    if (FILENAME ~ /\.(h|cpp|c)$/ && comment != 1 && $0 ~ names) {
      code = comment ? substr($0, 1, comment - 1) : $0
      gsub(/"[^"]*"/, "", code)
      if (code ~ names && code !~ /std::numbers/) {
        nameHits[folder]++; fileNames[FILENAME]++; allNames++
        if (mode == "list") print FILENAME ":" FNR ": " $0
      }
    }
    if (!comment || /SPDX/) next
    text = substr($0, comment)
  }
  {
    lines[folder]++; fileLines[FILENAME]++; allLines++
    count = text ~ fragment
    rest = " " tolower(text) " "
    while (match(rest, "[^a-z]" words "[^a-z]")) { count++; rest = substr(rest, RSTART + RLENGTH - 1) }
    if (count && mode == "list") print FILENAME ":" FNR ": " text
    hits[folder] += count; fileHits[FILENAME] += count; allHits += count
  }
  END {
    if (mode == "list") exit 0
    row = "%5d in %6d lines, %4.0f per 1000, %4d lines with names  %s\n"
    for (folder in lines) printf row, hits[folder], lines[folder], 1000 * hits[folder] / lines[folder], nameHits[folder], folder | "sort -k11"
    close("sort -k11")
    mean = allHits / allLines
    printf row, allHits, allLines, 1000 * mean, allNames, "all"
    status = 0
    for (file in fileLines) if (isNew[file] && fileHits[file] > 2 && fileHits[file] / fileLines[file] > mean) {
      printf "%s: %d words that have a standard term in %d lines; check-words.sh --list shows them\n", file, fileHits[file], fileLines[file]
      status = 1
    }
    for (file in fileNames) if (isNew[file] && fileNames[file] > 2) {
      printf "%s: %d lines with names that have a standard term; check-words.sh --list shows them\n", file, fileNames[file]
      status = 1
    }
    exit status
  }'
