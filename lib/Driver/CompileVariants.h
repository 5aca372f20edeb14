// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One artifact of several kernels: the general variant in this process, as a Compilation by itself, and the others
// beside it in processes of their own.
//
//   VariantCompilation compilation(options, variants, llvm::errs());
//   if (compilation.run())
//     use(compilation.result());
//   return int(compilation.outcome());
//
// The user sees what the general variant's compilation says. Another that the compiler cannot make is left out; the
// calls that it would have served are served by others. What is made depends on neither the number of processes nor the
// order in which they end.
#pragma once

#include "Driver/Compilation.h"
#include "Driver/VariantArtifact.h"
#include "Driver/VariantPlan.h"
#include "Driver/WorkerProcesses.h"

namespace tile::driver {

struct VariantOptions {
  VariantMode mode = VariantMode::None;
  std::string name;                 ///< the only variant to make; empty: all
  std::vector<std::string> targets; ///< in the order of the artifact; empty: the compiler options' one
  std::optional<uint64_t> budget;   ///< most bytes of the artifact
  unsigned jobs = 0;                ///< processes at a time; 0: as many as cores
};

class VariantCompilation {
public:
  VariantCompilation(CompilerOptions options, VariantOptions variants, llvm::raw_ostream &errors);

  bool run();

  /// Something went wrong with what has been made.
  void fail(Outcome reason, llvm::Error error) { general->fail(reason, std::move(error)); }
  void printDiagnostics() { general->printDiagnostics(); }

  Outcome outcome() const { return general->outcome(); }
  /// Text, or the bytes of an artifact.
  const std::string &result() const { return output; }
  /// The files that were read for any of the variants.
  const std::vector<std::string> &sourceFiles() const { return files; }

private:
  /// One variant to compile.
  struct Job {
    VariantPlan plan;
    CompilerOptions options;
    size_t rank; ///< among those of its target: 0 is its general one
  };

  bool planAll();
  bool warnOfUntimed();
  bool chooseOne(VariantPlans &plans);
  std::string compileElsewhere(const Job &job) const;
  llvm::Expected<std::vector<WorkerProcesses::Result>> compileOthers(WorkerProcesses &workers) const;
  bool collect(const Job &job, const WorkerProcesses::Result &result);
  void keep(const Job &job, runtime::PackedVariant variant, double seconds);
  bool assemble();
  void listInManifest();
  bool makesArtifact() const { return options.emit >= EmitKind::Cubin && options.emit != EmitKind::Manifest; }

  CompilerOptions options;
  VariantOptions variants;
  llvm::raw_ostream &errors;
  std::string explanation;
  std::string kernelName;
  size_t untimed = 0; ///< configurations among which nothing but measurements can choose
  std::unique_ptr<Compilation> general;
  std::vector<Job> jobs; ///< the first is `general`'s
  std::vector<MadeVariant> made;
  std::vector<LeftOut> leftOut;
  std::string output;
  std::vector<std::string> files;
};

} // namespace tile::driver
