#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# new-pass.sh FLAG KIND AFTER SUMMARY: writes the files of a new pass on kernels.
#
#   tools/dev/new-pass.sh cta-share-panels optimisation cta-split-stores "let warps share the panels of a store"
#
# FLAG consists of dialect, verb and object. KIND is correctness or optimisation. The pass follows the pass AFTER in the
# pipeline and requires the form that AFTER ensures. The script writes a declaration in Passes.td, a source file, a test
# that fails until the pass is implemented, a row in the table of passes, and a step in the pipeline.
set -euo pipefail
cd "$(dirname "$0")/../.."
die() {
  echo "new-pass.sh: error: $*" >&2
  exit 1
}
[ $# -eq 4 ] || { sed -n '3,5s/^# \{0,1\}//p' "$0" >&2; exit 2; }
flag=$1 kind=${2,,} after=$3 summary=$4
[[ $flag =~ ^(tile|cta)(-[a-z0-9]+){2,}$ ]] || die "'$flag' is not dialect, verb, object, such as cta-split-stores"
[[ $kind == correctness || $kind == optimisation ]] || die "'$kind' is neither correctness nor optimisation"
[[ $summary =~ ^[a-z].*[^.]$ ]] || die "the summary is lower case, without a period: '$summary'"

declarations=lib/Transforms/Passes.td table=lib/Transforms/README.md pipeline=lib/Pipeline/GpuPipeline.cpp
camel() { sed -E 's/(^|-)([a-z0-9])/\U\2/g' <<<"$1"; }
folder=$(camel "${flag%%-*}") name=$(camel "${flag#*-}") class=$(camel "$flag")
source=lib/Transforms/$folder/$name.cpp test=test/Transforms/$folder/${flag#*-}.mlir
grep -q "\"$flag\"" $declarations && die "the pass $flag exists"
[ ! -e "$source" ] || die "$source exists"
[ ! -e "$test" ] || die "$test exists"
grep -q "create$(camel "$after")(" $pipeline || die "$pipeline has no step $after"

# `def Y : KernelPass<"y", "REQUIRED", "KIND"[, "ENSURED"]>`: the pass starts from the form that AFTER ensures.
declaration=$(grep "KernelPass<\"$after\"" $declarations) || die "$declarations does not declare $after as a KernelPass"
form=$(grep -oE '"[a-z]+"' <<<"${declaration#*"\"$after\""}" | tail -1 | tr -d '"')
phase=$(sed -nE 's/^  '"$form"', *\/\/\/< ((Phase|Operations|Like) .*)\.$/\1/p' lib/Analysis/KernelForm.h)
phase=${phase:-phase $form} phase=${phase/#P/p}

awk -v after="\"$after\"" -v text="$(cat <<TEXT

def $class : KernelPass<"$flag", "$form", "${kind^}"> {
  let summary = "$summary";
  let description = [{
    Requires: $phase.
    Ensures: the same form; say what holds afterwards.
    Example: $test.
  }];
}
TEXT
)" '{ print } index($0, "KernelPass<" after) { inside = 1 } inside && /^}/ { print text; inside = 0 }' $declarations >"$declarations.new"
mv "$declarations.new" $declarations

awk -v after="| \`$after\` |" -v row="| \`$flag\` | ${kind:0:1} | $summary |" '
  { print }
  index($0, after) == 1 { sub(/\| [a-z] \|/, toupper(substr(row, match(row, /\| [a-z] \|/), 5)), row); print row }' $table >"$table.new"
mv "$table.new" $table

awk -v after="create$(camel "$after")(" -v comment="  // ${summary^}." -v step="  list.add([] { return create$class(); });" '
  { print }
  index($0, after) { inside = 1 }
  inside && /;$/ { print comment; print step; inside = 0 }' $pipeline >"$pipeline.new"
mv "$pipeline.new" $pipeline

cat >"$source" <<TEXT
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// $flag: $summary.
//
// Why, then how, in at most 15 lines:
//
//   the IR before
//   ==>
//   the IR after
#include "Cta/CtaDialect.h"
#include "Transforms/Passes.h"

namespace tile {
#define GEN_PASS_DEF_${class^^}
#include "Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

namespace {

struct $class : tile::impl::${class}Base<$class> {
  void runOnKernel() override {}
};

} // namespace
TEXT
cat >"$test" <<TEXT
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile.kernel($flag))' | FileCheck %s

// CHECK-LABEL: tile.kernel @example
// CHECK: the operation that $flag creates
tile.kernel @example() {
  tile.return
}
TEXT

echo "written: $source, $test; edited: $declarations, $table, $pipeline"
echo "left to do:"
echo "  the pass, its contract in $declarations, and why it stands here in $pipeline"
echo "  $test, also with a negative_ kernel that the pass does not change"
[ "$kind" = correctness ] || echo "  a line in test/Exec/skip-passes.test that runs a kernel with --disable=$flag"
echo "  cmake build, because source files are globbed"
