// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Options of the compiler, as plain data. tools/tilec fills them from the command line.
#pragma once

#include "Codegen/CudaToolkit.h"
#include "Driver/DiagnosticLog.h"
#include "Frontend/Frontend.h"
#include "Frontend/Syntax/ClusterShape.h"
#include "Frontend/Syntax/Schedule.h"
#include "Pipeline/GpuPipeline.h"
#include "Target/Card/Card.h"

#include <atomic>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tile::driver {

/// Kinds of output. Each kind needs all earlier steps.
enum class EmitKind { Ast, Configurations, Tile, Cta, Nvvm, Llvm, Ptx, Cubin, Manifest, Header, Tilepack };

enum class InputLanguage { Tile, Mlir };

struct CompilerOptions {
  std::string input;     ///< path; "-": standard input
  std::string inputText; ///< contents of the input
  InputLanguage language = InputLanguage::Tile;
  EmitKind emit = EmitKind::Cubin;
  std::string headerName;           ///< prefix of the declarations in a header; empty: the kernel's name
  bool keepPtx = false;             ///< in a header, so that the kernel also runs in the simulator
  bool strip = false;               ///< omit PTX from other artifacts as well
  bool takesPtx = false;            ///< without ptxas, accept PTX instead of a cubin
  std::string target = "sm_90a";    ///< the GPU to compile for
  std::optional<target::Card> card; ///< the card whose constants apply to targets with its compute capability
  std::string cardFile;             ///< path of the card's file; "" if there is none
  GpuPipelineOptions pipeline;      ///< optimization level, disabled passes, last pass

  std::string kernel; ///< empty: the only kernel of the file
  std::string signature;
  std::map<std::string, std::string> definitions; ///< compile-time parameters by name
  std::map<std::string, int> assumptions;         ///< divisors of parameters that the compiler may assume, by name
  std::vector<std::string> importPaths;           ///< search path of imported modules
  /// Prefixes of source paths, and their replacements in artifacts; see SourcePaths.h.
  std::vector<std::pair<std::string, std::string>> pathReplacements;
  /// Further values of compile-time parameters, by name; each adds a variant.
  std::map<std::string, std::vector<std::string>> alternatives;
  /// All configurations that the artifact contains; see CompileRequest.
  std::vector<std::map<std::string, std::string>> configurations;
  std::optional<int> numWarps;
  std::optional<int> numStages;
  /// Number of CTAs per multiprocessor that ptxas is asked to make possible; 0: the default of ptxas; nullopt: the
  /// compiler chooses a number that suits the code.
  std::optional<unsigned> residentCtas;
  std::optional<frontend::ClusterShape> cluster;
  std::optional<frontend::Schedule> schedule;
  std::optional<frontend::TileChoices> tiles; ///< parameters that the kernel leaves open; nullopt: the cost model
                                              ///< chooses
  std::map<std::string, int64_t> sizes;       ///< expected values of integer parameters, by name
  unsigned numSms = 0;                        ///< expected number of SMs; 0: as many as the target's product has
  bool debug = false;                         ///< keep assertions
  bool debugInfo = false;                     ///< record value names for debuggers

  frontend::Standard standard = frontend::Standard::Triton;
  frontend::WarningOptions warnings;
  DiagnosticsFormat diagnosticsFormat = DiagnosticsFormat::Text;

  codegen::ToolkitSearch toolkit;
  std::string dumpDirectory; ///< empty: no dump
  std::string remarks;       ///< regular expression of pass names whose remarks are shown; empty: none
  bool timePasses = false;
  bool printLayouts = false;
  bool advise = true;                    ///< note assumptions that would make a GEMM several times faster
  bool explainConfig = false;            ///< show how open parameters were chosen
  std::optional<double> slowSeconds = 5; ///< note steps that take longer
  bool printsText = true;                ///< print tl.static_print output
  /// Set by another thread to cancel the compilation; null: never cancelled.
  const std::atomic<bool> *cancelled = nullptr;
  /// The compiler runs inside a host process, which must not be forked.
  bool isGuest = false;

  /// Returns true if the artifact contains PTX in addition to machine code. A program that includes a header needs PTX
  /// only if it also runs without a GPU.
  bool keepsPtx() const { return emit == EmitKind::Header ? keepPtx : !strip; }
};

/// Process exit codes; documented in `tilec --help`.
enum class Outcome : int {
  Success = 0,
  Rejected = 1,    ///< the input has errors, or does not fit the target
  Usage = 2,       ///< the command line is wrong
  Environment = 3, ///< a file or tool is missing, or cannot be read or written
  Internal = 4,    ///< a bug in the compiler
  Cancelled = 5,   ///< cancelled by `CompilerOptions::cancelled`; not an exit code of a tool
};

} // namespace tile::driver
