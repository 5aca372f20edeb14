#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Checks which folders may include which: for each folder, lists the include prefixes that are forbidden in it. Among
# the folders within one folder, earlier ones must not include later ones.
set -uo pipefail
cd "$(dirname "$0")/../.."
status=0

# forbid PATH REGEX...: fails if a file includes a path that matches a REGEX. PATH is the file, or a folder that
# contains it.
forbid() {
  local folder=$1
  shift
  [ -e "$folder" ] || return 0
  local pattern
  for pattern in "$@"; do
    if grep -rnE --include='*.h' --include='*.cpp' --include='*.td' "^(#include|include) [\"<]$pattern" "$folder"; then
      echo "^ $folder must not include $pattern"
      status=1
    fi
  done
}

compiler='(Tile|Cta|Analysis|Transforms|Conversion|Codegen|Pipeline|Driver|Frontend|Interpreter|Layout)/'
llvm='(llvm|mlir)(-c)?/'
target='Target/([^L]|L[^i])' # except Limits.h, which only defines constants

forbid lib/Layout "$llvm" "$target" '(Tile|Cta|Analysis|Transforms|Conversion|Codegen|Pipeline|Driver|Frontend|Runtime|Runner)/'
forbid lib/Target "$llvm" '(Tile|Cta|Analysis|Transforms|Conversion|Codegen|Pipeline|Driver|Frontend|Runtime|Runner)/'
forbid lib/Directives "$llvm" "$compiler" '(Runtime|Runner|Target|Simulator)/'
for folder in lib/Runtime lib/Distributed lib/Runner lib/Lab lib/Simulator lib/SimDriver tools/tile-run include; do
  forbid "$folder" "$llvm" "$compiler"
done
for folder in lib/*/; do
  [ "$folder" = lib/Explain/ ] || forbid "${folder%/}" 'Explain/' # Explain may depend on every library
done
for folder in lib/*/; do
  case $folder in lib/Lab/ | lib/Explain/) ;; *) forbid "${folder%/}" 'Lab/' ;; esac # only tools and Explain measure
done
forbid lib/Runtime '(Distributed|Runner|Simulator|Jit)/'
forbid lib/Jit "$llvm" "$compiler" '(Runtime|Runner|Simulator|Target)/'
forbid lib/Simulator '(Runner|SimDriver)/'
forbid lib/Runner/Inputs 'Runner/(Device|Results)/'
forbid lib/Runner/Check 'Runner/(Device|Results)/'
forbid lib/Runner/Device 'Runner/Check/'
forbid lib/Lab/Bench 'Lab/(Tune|Soak|Commands|Verify)/'
forbid lib/SimDriver 'Runner/'
forbid lib/Distributed '(Runner|Simulator|SimDriver|Jit|Target)/'
forbid lib/Order "$llvm" "$compiler" '(Runner|SimDriver|Lab)/' 'Simulator/[^P]'
forbid lib/Simulator 'Order/'
forbid lib/Runtime 'Order/'
forbid lib/Simulator/Ptx 'Simulator/(Numerics|Machine|Exec|Check|Profile)/'
forbid lib/Simulator/Numerics 'Simulator/(Ptx|Machine|Exec|Check|Profile)/'
forbid dialects/Tile "$target" '(Cta|Layout|Analysis|Transforms|Conversion|Codegen|Pipeline|Driver|Frontend|Runtime|Runner)/'
forbid dialects/Cta '(Analysis|Transforms|Conversion|Codegen|Pipeline|Driver|Frontend|Runtime|Runner)/'
forbid lib/Frontend "$target" '(Cta|Layout|Analysis|Lint|Transforms|Conversion|Codegen|Pipeline|Driver|Runtime|Runner)/'
forbid lib/Frontend/Syntax "$llvm" 'Frontend/((Values|Emit|Host|Sema)/|[A-Za-z]+\.h)'
forbid lib/Frontend/Values 'Frontend/((Emit|Host|Sema)/|[A-Za-z]+\.h)'
forbid lib/Frontend/Emit 'Frontend/(Host|Sema)/'
forbid lib/Frontend/Host 'Frontend/Sema/'
for header in lib/Frontend/*.h; do forbid "$header" 'Frontend/(Values|Emit|Host|Sema)/'; done
# Internal to the front end; others may include only its interface and its syntax.
inside='Frontend/(Values|Emit|Host|Sema)/'
for folder in lib/*/ tools/*/; do
  case $folder in lib/Frontend/ | lib/LanguageServer/) ;; *) forbid "${folder%/}" "$inside" ;; esac
  [ "$folder" = tools/tilec/ ] || [ "$folder" = lib/LanguageServer/ ] || forbid "${folder%/}" 'LanguageServer/' # only tools serve
  case $folder in lib/*) forbid "${folder%/}" 'tools/' ;; esac
done
forbid lib/Driver '(Format|Simulator|SimDriver|Distributed)/'
forbid lib/Pipeline '(Frontend|Driver|Lint|Runtime|Runner|Interpreter)/'
forbid lib/Explain '(Frontend|Analysis|Lint|Transforms|Conversion|Pipeline|Interpreter|SimDriver)/'
forbid lib/LanguageServer 'Frontend/(Values|Host|Sema)/' '(Cta|Layout|Analysis|Transforms|Conversion|Codegen|Pipeline|Runtime|Runner)/'
forbid tools/docs "$llvm" '(Tile|Cta|Layout|Target|Analysis|Lint|Transforms|Conversion|Codegen|Pipeline|Driver|Runtime|Runner)/'
forbid tools/libtilec '(Tile|Cta|Layout|Analysis|Lint|Transforms|Conversion|Codegen|Pipeline|Frontend|Interpreter|Runner)/'
forbid tools/tilec '(Cta|Layout|Analysis|Transforms|Conversion|Simulator|SimDriver)/'
forbid lib/Format "$llvm" '(Tile|Cta|Layout|Target|Analysis|Lint|Transforms|Conversion|Codegen|Pipeline|Driver|Runtime|Runner)/'
forbid lib/Analysis '(Lint|Transforms|Conversion|Codegen|Pipeline|Driver|Frontend|Runtime|Runner)/'
forbid lib/Analysis/Flow 'Analysis/(Addresses|SharedMemory|Programs|Loops|Dots|Engines)/'
forbid lib/Analysis/Addresses 'Analysis/(SharedMemory|Programs|Loops|Dots|Engines)/'
forbid lib/Analysis/SharedMemory 'Analysis/(Programs|Loops|Dots|Engines)/'
forbid lib/Analysis/Programs 'Analysis/(Loops|Dots|Engines)/'
forbid lib/Analysis/Loops 'Analysis/(Dots|Engines)/'
forbid lib/Analysis/Dots 'Analysis/Engines/'
forbid lib/Lint '(Cta|Layout|Transforms|Conversion|Codegen|Pipeline|Driver|Runtime|Runner)/'
forbid lib/Verify '(Cta|Layout|Analysis|Lint|Transforms|Conversion|Codegen|Pipeline|Driver|Frontend)/' 'Runner/(Check|Device|Results)/' 'Lab/'
for folder in lib/*/; do
  [ "$folder" = lib/Verify/ ] || forbid "${folder%/}" 'Verify/' # only tools verify
done
forbid lib/Interpreter '(Cta|Layout|Transforms|Conversion|Codegen|Pipeline|Driver|Frontend)/'
forbid lib/Transforms 'mlir/Dialect/LLVMIR/' '(Conversion|Codegen|Pipeline|Driver|Frontend|Runtime|Runner)/'
forbid lib/Conversion '(Transforms|Codegen|Pipeline|Driver|Frontend|Runtime|Runner)/'
forbid lib/Codegen '(Transforms|Conversion|Pipeline|Driver|Frontend|Runner)/'

# Inline PTX may be written only where operations are lowered to instructions.
if grep -rnE --include='*.cpp' 'InlineAsmOp::create' lib/Transforms lib/Analysis; then
  echo "^ inline PTX belongs in lib/Conversion/CtaToNvvm: add an operation that is lowered there"
  status=1
fi

# Constants of GPUs belong in lib/Target: sizes of registers and shared memory per multiprocessor, the number of
# multiprocessors, the numbers of threads per warp and per CTA, latencies.
figures='\b(65536|49152|99328|101376|102400|166912|167936|232448|233472|132)\b|\b64 (\*|<<) ?(1024|10)\b.*[rR]egister'
figures+='|\b(48|64|99|100|163|164|227|228) (\* 1024|<< 10)\b.*[sS]hared|[sS]hared.*\b(48|64|99|100|163|164|227|228) (\* 1024|<< 10)\b'
figures+='|([wW]arps?|[tT]hreads?|[lL]anes?)[A-Za-z]*(\(\))? ?[*/%] ?32\b|\b32 ?\* ?[a-zA-Z.>-]*[wW]arps?\b'
figures+='|(threads|warps|lanes|latency|clocks|cycles)[A-Za-z]* = (32|64|132|1024|2048)\b|[lL]atency = [0-9]'
if grep -rnE --include='*.h' --include='*.cpp' "$figures" lib/{Transforms,Analysis,Codegen,Conversion,Driver,Pipeline} |
  grep -vE '^[^:]*:[0-9]+: *//'; then
  echo "^ a figure of a GPU belongs in lib/Target: GpuTarget for limits of the architecture, Tuned.def for what was fitted"
  status=1
fi

# Headers must stay cheap to include, must not use relative paths, and only the tools may read the environment.
if grep -rnE --include='*.h' '^#include "mlir/Dialect/LLVMIR/(LLVM|NVVM)Dialect.h"' lib dialects; then
  echo "^ LLVMDialect.h and NVVMDialect.h cost seconds: include them in .cpp files"
  status=1
fi
if grep -rnE --include='*.h' --include='*.cpp' --include='*.td' '^#include "\.\.?/' lib dialects tools include test; then
  echo "^ includes are relative to the root, without '..'"
  status=1
fi
# The simulated driver is an exception, because programs run on it unchanged (lib/SimDriver/Settings.h).
if grep -rnE --include='*.h' --include='*.cpp' '\bgetenv *\(|\bcl::opt<' lib dialects | grep -v '^lib/SimDriver/Driver.cpp:'; then
  echo "^ no getenv and no global option below tools/"
  status=1
fi
exit $status
