// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compiles several variants of a kernel into one artifact. The general variant is compiled in this process, as a plain
// Compilation, and the others in worker processes.
//
//   VariantCompilation compilation(options, variants, llvm::errs());
//   if (compilation.run())
//     use(compilation.result());
//   return int(compilation.outcome());
//
// The user sees the diagnostics of the general variant. If another variant fails to compile, it is skipped, and the
// remaining variants serve its calls. The result depends neither on the number of processes nor on the order in which
// they finish.
#pragma once

#include "Driver/Compilation.h"
#include "Driver/FollowOrder.h"
#include "Driver/TuningTables.h"
#include "Driver/VariantArtifact.h"
#include "Driver/VariantPlan.h"
#include "Driver/WorkerProcesses.h"

namespace tile::driver {

struct VariantOptions {
  VariantMode mode = VariantMode::None;
  std::string name;                 ///< the only variant to compile; empty: all
  std::vector<std::string> targets; ///< in artifact order; empty: the target of the compiler options
  std::optional<uint64_t> budget;   ///< maximum size of the artifact in bytes
  unsigned jobs = 0;                ///< concurrent processes; 0: one per core
  bool alternatives = false;        ///< add other schedules of the variants, for tile-run tune; see Alternatives.h
  /// Paths of tuning tables to embed. The artifact contains the alternatives that these tables choose.
  std::vector<std::string> tuning = {};
  std::string sameBitsAs = {}; ///< path of an artifact whose bits the new one must give; empty: none
};

class VariantCompilation {
public:
  VariantCompilation(CompilerOptions options, VariantOptions variants, llvm::raw_ostream &errors);

  bool run();

  /// Reports a failure after compilation.
  void fail(Outcome reason, llvm::Error error) { general->fail(reason, std::move(error)); }
  void printDiagnostics() { general->printDiagnostics(); }

  Outcome outcome() const { return general->outcome(); }
  /// The output: text, or the bytes of an artifact.
  const std::string &result() const { return output; }
  /// The source files that were read for any variant.
  const std::vector<std::string> &sourceFiles() const { return files; }

private:
  /// A variant to compile.
  struct Job {
    VariantPlan plan;
    CompilerOptions options;
    size_t rank; ///< index within its target; 0: the general variant
  };

  bool planAll();
  bool warnOfUntimed();
  bool embedTables(std::string &artifact);
  bool followOrder(std::vector<VariantPlan> &plans, const CompilerOptions &aimed);
  bool checkOrder(const runtime::Manifest &manifest);
  bool chooseOne(VariantPlans &plans);
  std::string compileInOtherProcess(const Job &job) const;
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
  size_t untimed = 0; ///< number of configurations that only measurements can rank
  std::unique_ptr<Compilation> general;
  TuningTables tables;
  std::optional<FollowedOrder> followed; ///< the orders of the artifact `variants.sameBitsAs`
  std::vector<Job> jobs;                 ///< the first is compiled by `general`
  std::vector<MadeVariant> made;
  std::vector<SkippedVariant> skipped;
  std::string output;
  std::vector<std::string> files;
};

} // namespace tile::driver
