# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Prints an example of each diagnostic that a test expects, as NAME <tab> SOURCE LINE <tab> MESSAGE. Tests expect
#   CHECK: :[[#@LINE+1]]:12: error: MESSAGE [NAME]           the line at this distance in the same file
#   CHECK: PART.tile:17:9: warning: MESSAGE [-WNAME]         line 17 of this part of a file for split-file
# Patterns in messages become "…". Examples with a source line and without a pattern are preferred, then the first one.
function add(name, source, message,   rank) {
  sub(/^[ \t]+/, "", source)
  rank = 1 + (source != "" ? 2 : 0) + (message ~ /…/ ? 0 : 1)
  if (rank <= ranks[name]) return
  ranks[name] = rank
  examples[name] = name "\t" source "\t" message
}
function finish(   i, part, text, location, line, message, name) {
  for (i = 1; i <= count; i++) {
    text = lines[i]
    if (!match(text, /: (error|warning|note): .* \[(-W)?[a-z0-9-]+\]$/)) continue
    location = substr(text, 1, RSTART - 1)
    message = substr(text, RSTART + 2)
    name = message
    sub(/^.*\[(-W)?/, "", name)
    sub(/\]$/, "", name)
    sub(/ \[[^[]*$/, "", message)
    gsub(/\{\{[^}]*\}\}/, "…", message)
    if (message ~ /\[\[/) continue
    line = 0
    if (match(location, /\[\[#@LINE[+-]?[0-9]*\]\]/)) {
      line = substr(location, RSTART + 8)
      sub(/\].*/, "", line)
      line = i + line
    } else if (match(location, /[A-Za-z0-9_]+\.[a-z]+:[0-9]+/)) {
      split(substr(location, RSTART), part, ":")
      if (part[1] in begin) line = begin[part[1]] + part[2]
    }
    add(name, line > 0 && line <= count ? lines[line] : "", message)
  }
}
FNR == 1 { finish(); count = 0; split("", begin) }
{ lines[++count] = $0 }
/^(#|\/\/)--- / { begin[$2] = FNR }
END { finish(); for (name in examples) print examples[name] }
