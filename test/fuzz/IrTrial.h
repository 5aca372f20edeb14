// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One mutant: created, verified and, if it verifies, run through passes.
#pragma once

#include "fuzz/IrBases.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/DialectRegistry.h"

#include <atomic>

namespace llvm {
class raw_ostream;
}

namespace tile::fuzz {

/// Counters over all processes.
struct Counters {
  std::atomic<uint64_t> mutants, verified, passed, rejected;
  void print(llvm::raw_ostream &os) const;
};

/// Passes to run, one after another.
struct PassChoice {
  std::vector<std::string> names;
  std::string print() const;
};

/// Runs the first pass as if alone, the others as after it in a pipeline. Exits on a finding.
void runPasses(mlir::ModuleOp module, const PassChoice &passes, Counters *counters);

/// The dialects and the limits of a mutant.
mlir::DialectRegistry trialDialects();

class Trial {
public:
  Trial(const IrBases &bases, uint64_t seed, uint64_t batch);
  bool hasBase() const { return bool(base.module); }
  void run(uint64_t number, Counters &counters);
  /// Returns the mutant as text, before it is verified, and its passes.
  std::string print(uint64_t number, PassChoice &passes);

private:
  /// Creates the mutant; none if the text cannot be parsed. `text` is the text that was parsed.
  mlir::OwningOpRef<mlir::ModuleOp> makeMutant(uint64_t number, PassChoice &passes, std::string *text);
  PassChoice choosePasses(IrMutator &chance) const;

  const IrBases &bases;
  uint64_t seed, batch;
  mlir::MLIRContext context;
  mlir::ScopedDiagnosticHandler silence;
  Base base;
  std::string baseText;
};

} // namespace tile::fuzz
