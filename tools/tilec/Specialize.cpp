// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Specialize.h"

#include "Driver/Compilation.h"
#include "Messages.h"
#include "Runner/Inputs/Arguments.h"
#include "Runner/Run.h"

using namespace tile;

std::optional<int> tile::specialize(const runner::RunOptions &run, CommandLine &line) {
  line.compiler.advise = false; // the launch already implies all possible promises
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
  for (auto [index, parameter] : llvm::enumerate(manifest.parameters)) {
    if (!parameter.isInteger() || parameter.type == runtime::DataType::I1)
      continue;
    auto value = static_cast<int64_t>(bindings->scalar(index).integer);
    line.compiler.sizes.try_emplace(parameter.name, value);
    auto bits = static_cast<uint64_t>(value);
    int divisor = value == 0 ? 16 : int(std::min<uint64_t>(16, bits & (0 - bits)));
    // The kernel's own promises are kept, and checked at the launch.
    if (divisor > parameter.divisibility)
      line.compiler.assumptions.try_emplace(parameter.name, divisor);
  }
  return std::nullopt;
}
