// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// PTX -> cubin by NVIDIA's assembler, as a subprocess, and what it says about the code.
//
// nvJitLink would save 10 ms but compiles as if code could be linked later, and then ignores setmaxnreg.
#pragma once

#include "Target/GpuTarget.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <atomic>
#include <string>
#include <vector>

namespace tile::codegen {

/// Resources of one kernel, from `ptxas -v`.
struct KernelResources {
  std::string entry;
  unsigned registers = 0;    ///< 32-bit registers a thread
  unsigned spillStores = 0;  ///< bytes a thread
  unsigned spillLoads = 0;   ///< bytes a thread
  unsigned stackFrame = 0;   ///< bytes a thread
  unsigned staticShared = 0; ///< bytes a CTA
};

struct PtxasError {
  unsigned line = 0; ///< of the PTX, from 1; 0: none is given
  std::string message;
};

/// What ptxas printed, parsed.
struct PtxasReport {
  std::vector<KernelResources> kernels;
  std::vector<std::string> warnings; ///< also its notes on performance, "(C7510) ..."
  std::vector<PtxasError> errors;

  const KernelResources *find(llvm::StringRef entry) const;
};

PtxasReport parsePtxasOutput(llvm::StringRef text);

/// `file:line:column` of the kernel's source from which a line of the PTX comes (.file, .loc); empty if none is known.
std::string findSource(llvm::StringRef ptx, unsigned line);

struct Assembled {
  std::string cubin;
  PtxasReport report;
};

constexpr unsigned highestPtxasLevel = 3;

struct PtxasRun {
  bool lineTables = false;                      ///< the cubin says of which source lines its code is, for disassemblers
  const std::atomic<bool> *cancelled = nullptr; ///< becomes true when the result is no longer wanted
  unsigned level = highestPtxasLevel;           ///< how much it optimises, -O0 to -O3
  int64_t dynamicShared = 0; ///< bytes a CTA of the kernel asks for, which bound how many run side by side
};

/// Fails with ptxas' own errors, and where in the source they come from, when it rejects the code. It may run several
/// times, for other numbers of CTAs on a multiprocessor (ChooseRegisters.h).
llvm::Expected<Assembled> runPtxas(llvm::StringRef ptxas, llvm::StringRef ptx, const target::GpuTarget &target,
                                   const PtxasRun &run = {});

} // namespace tile::codegen
