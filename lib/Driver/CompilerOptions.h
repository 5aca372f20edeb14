// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a user can ask of the compiler, as plain data. tools/tilec fills it from the command line.
#pragma once

#include "Codegen/CudaToolkit.h"
#include "Driver/DiagnosticLog.h"
#include "Frontend/Frontend.h"
#include "Frontend/Syntax/ClusterShape.h"
#include "Frontend/Syntax/Schedule.h"
#include "Pipeline/GpuPipeline.h"

#include <atomic>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tile::driver {

/// What comes out. Later kinds need every earlier step.
enum class EmitKind { Ast, Configurations, Tile, Cta, Nvvm, Llvm, Ptx, Cubin, Manifest, Header, Tilepack };

enum class InputLanguage { Tile, Mlir };

struct CompilerOptions {
  std::string input;     ///< path; "-": standard input
  std::string inputText; ///< contents of the input
  InputLanguage language = InputLanguage::Tile;
  EmitKind emit = EmitKind::Cubin;
  std::string headerName;        ///< in front of what a header declares; empty: the kernel's
  bool keepPtx = false;          ///< in a header, which then runs in the simulator, too
  bool strip = false;            ///< no PTX in other artifacts, either
  bool takesPtx = false;         ///< where there is no ptxas, a kernel in PTX will do instead of a cubin
  std::string target = "sm_90a"; ///< the GPU to compile for
  GpuPipelineOptions pipeline;   ///< optimisation level, disabled passes, last pass

  std::string kernel; ///< empty: the only one of the file
  std::string signature;
  std::map<std::string, std::string> definitions; ///< compile-time parameters by name
  std::map<std::string, int> assumptions;         ///< divisors of parameters by name
  std::vector<std::string> importPaths;           ///< folders in which imported modules are searched
  /// Beginnings of the paths of sources, and what artifacts have in their place; see SourcePaths.h.
  std::vector<std::pair<std::string, std::string>> pathReplacements;
  /// Further values of compile-time parameters, by name: each makes another variant.
  std::map<std::string, std::vector<std::string>> alternatives;
  std::optional<int> numWarps;
  std::optional<int> numStages;
  std::optional<frontend::ClusterShape> cluster;
  std::optional<frontend::Schedule> schedule;
  std::optional<frontend::TileChoices> tiles; ///< what the kernel leaves open; nothing: the cost model chooses it
  std::map<std::string, int64_t> sizes;       ///< integers that the kernel is expected to be called with, by name
  unsigned numSms = 0;                        ///< multiprocessors to expect; 0: what the target's product has
  bool debug = false;                         ///< keep assertions
  bool debugInfo = false;                     ///< record the names of values, for debuggers

  frontend::Standard standard = frontend::Standard::Triton;
  frontend::WarningOptions warnings;
  DiagnosticsFormat diagnosticsFormat = DiagnosticsFormat::Text;

  codegen::ToolkitSearch toolkit;
  std::string dumpDirectory; ///< empty: no dump
  std::string remarks;       ///< regular expression: show remarks of passes with such names; empty: none
  bool timePasses = false;
  bool printLayouts = false;
  bool advise = true;         ///< note which promise would let a product be multiplied several times faster
  bool explainConfig = false; ///< show how open parameters were chosen
  bool printsText = true;     ///< of tl.static_print
  /// Becomes true, in another thread, when the result is no longer wanted; null: it always is.
  const std::atomic<bool> *cancelled = nullptr;
  /// The process belongs to somebody else: no copies of it.
  bool isGuest = false;

  /// Beside machine code. A header becomes part of a program, which has a use for it only where there is no GPU.
  bool keepsPtx() const { return emit == EmitKind::Header ? keepPtx : !strip; }
};

/// Process exit codes; documented in `tilec --help`.
enum class Outcome : int {
  Success = 0,
  Rejected = 1,    ///< the input has errors, or does not fit the target
  Usage = 2,       ///< the command line is wrong
  Environment = 3, ///< a file or tool is missing, or cannot be read or written
  Internal = 4,    ///< a bug of the compiler
  Cancelled = 5,   ///< by `CompilerOptions::cancelled`; no exit code of a tool
};

} // namespace tile::driver
