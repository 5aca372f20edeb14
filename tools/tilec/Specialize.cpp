// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Specialize.h"

#include "Driver/Compilation.h"
#include "Messages.h"
#include "Runner/Inputs/Arguments.h"
#include "Runner/Ranks.h"

using namespace tile;

/// Returns, for each integer parameter, the bits that are set in its value on any rank of the run.
static runner::Result<std::vector<uint64_t>> bitsOfRanks(const runner::RunOptions &run,
                                                         const runtime::Manifest &manifest) {
  runner::Result<runner::RankPlan> plan = runner::planRanks(run, manifest);
  if (!plan)
    return plan.error();
  std::vector<uint64_t> bits(manifest.parameters.size());
  for (int rank = 0; rank < plan->size; ++rank) {
    const runtime::Manifest own = runner::manifestOfRank(manifest, rank, plan->size);
    runner::Result<runner::Bindings> bindings = runner::Bindings::bind(own, run.arguments, /*numSms=*/1);
    if (!bindings)
      return bindings.error();
    for (size_t index = 0; index < bits.size(); ++index)
      bits[index] |= static_cast<uint64_t>(bindings->scalar(index).integer);
  }
  return bits;
}

std::optional<int> tile::specialize(const runner::RunOptions &run, CommandLine &line) {
  line.compiler.advise = false; // the launch already implies all possible assumptions
  driver::CompilerOptions options = line.compiler;
  options.explainConfig = false;
  std::string text;
  llvm::raw_string_ostream stream(text);
  driver::Compilation compilation(std::move(options), stream);
  if (!compilation.load()) {
    compilation.printDiagnostics();
    messages() << text;
    return int(compilation.outcome());
  }
  // Otherwise warnings are reported when the kernel is compiled for the launch.
  const runtime::Manifest &manifest = compilation.manifest();
  runner::Result<runner::Bindings> bindings = runner::Bindings::bind(manifest, run.arguments, /*numSms=*/1);
  if (!bindings) {
    compilation.printDiagnostics(); // warnings may explain the failure, for example lost directives
    messages() << text;
    return runner::reportFailure(run, bindings.error());
  }
  runner::Result<std::vector<uint64_t>> allBits = bitsOfRanks(run, manifest);
  if (!allBits)
    return runner::reportFailure(run, allBits.error());
  for (auto [index, parameter] : llvm::enumerate(manifest.parameters)) {
    if (!parameter.isInteger() || parameter.type == runtime::DataType::I1)
      continue;
    auto value = static_cast<int64_t>(bindings->scalar(index).integer);
    line.compiler.sizes.try_emplace(parameter.name, value);
    const uint64_t bits = (*allBits)[index];
    int divisor = bits == 0 ? 16 : int(std::min<uint64_t>(16, bits & (0 - bits)));
    // The kernel's own assumptions stay, and are checked at the launch.
    if (divisor > parameter.divisibility)
      line.compiler.assumptions.try_emplace(parameter.name, divisor);
  }
  return std::nullopt;
}
