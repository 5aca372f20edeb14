// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Assembles PTX into a cubin with ptxas in a subprocess, and parses the report of ptxas.
//
// nvJitLink would save 10 ms, but it compiles code for later linking, and ptxas ignores setmaxnreg in such code.
#pragma once

#include "Target/GpuTarget.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <atomic>
#include <optional>
#include <string>
#include <vector>

namespace tile::codegen {

/// The resources of one kernel, as reported by `ptxas -v`.
struct KernelResources {
  std::string entry;
  unsigned registers = 0;    ///< 32-bit registers per thread
  unsigned spillStores = 0;  ///< bytes per thread
  unsigned spillLoads = 0;   ///< bytes per thread
  unsigned stackFrame = 0;   ///< bytes per thread
  unsigned staticShared = 0; ///< bytes per CTA
};

struct PtxasError {
  unsigned line = 0; ///< line of the PTX, counted from 1; 0 if there is none
  std::string message;
};

/// The parsed output of ptxas.
struct PtxasReport {
  std::vector<KernelResources> kernels;
  std::vector<std::string> warnings; ///< also contains performance notes, "(C7510) ..."
  std::vector<PtxasError> errors;

  const KernelResources *find(llvm::StringRef entry) const;
};

PtxasReport parsePtxasOutput(llvm::StringRef text);

/// Returns `file:line:column` of the kernel source for a line of the PTX (.file, .loc); empty if unknown.
std::string findSource(llvm::StringRef ptx, unsigned line);

struct Assembled {
  std::string cubin;
  PtxasReport report;
};

constexpr unsigned highestPtxasLevel = 3;

struct PtxasRun {
  bool lineTables = false;                      ///< the cubin contains line tables for disassemblers
  const std::atomic<bool> *cancelled = nullptr; ///< set to true to cancel
  unsigned level = highestPtxasLevel;           ///< optimisation level, -O0 to -O3
  int64_t dynamicShared = 0;                    ///< dynamic shared memory per CTA in bytes, which limits occupancy
  std::optional<unsigned> residentCtas = {};    ///< CTAs per multiprocessor to request; 0: none; nullopt: chosen
};

/// Assembles the PTX. If ptxas rejects the code, fails with the errors and their source locations. May run ptxas
/// several times, for different numbers of CTAs per multiprocessor (ChooseRegisters.h).
llvm::Expected<Assembled> runPtxas(llvm::StringRef ptxas, llvm::StringRef ptx, const target::GpuTarget &target,
                                   const PtxasRun &run = {});

} // namespace tile::codegen
