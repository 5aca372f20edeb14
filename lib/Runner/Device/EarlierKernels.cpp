// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Runner/Device/EarlierKernels.h"

#include <algorithm>

namespace tile::runner {

using runtime::Success;

RunOptions EarlierKernels::optionsFor(const RunOptions &options, const Manifest &manifest, bool isLast) const {
  RunOptions own = options;
  const auto isInOtherKernel = [&](const std::string &name) {
    return std::any_of(stages.begin(), stages.end(),
                       [&](const auto &stage) { return stage->execution->kernel().findParameter(name); });
  };
  std::erase_if(own.arguments, [&](const std::string &argument) {
    const std::string name = argument.substr(0, argument.find('='));
    return !manifest.findParameter(name) && (!isLast || isInOtherKernel(name));
  });
  for (const Parameter &parameter : manifest.parameters) {
    const bool isGiven = std::any_of(own.arguments.begin(), own.arguments.end(), [&](const std::string &argument) {
      return argument.substr(0, argument.find('=')) == parameter.name;
    });
    if (parameter.isPointer || isGiven)
      continue;
    for (auto stage = stages.rbegin(); stage != stages.rend(); ++stage) {
      const auto value = (*stage)->execution->names().scalars.find(parameter.name);
      if (value == (*stage)->execution->names().scalars.end())
        continue;
      own.arguments.push_back(parameter.isInteger()
                                  ? fmt::format("{}={}", parameter.name, static_cast<int64_t>(value->second))
                                  : fmt::format("{}={:.17g}", parameter.name, value->second));
      break;
    }
  }
  if (!isLast) {
    own.check = options.check && !manifest.expect.empty();
    own.grid.clear();
    own.saves.clear();
    own.offsets.clear();
    own.recorded.clear();
    own.trace.clear();
    own.bench = false;
  }
  return own;
}

Status EarlierKernels::add(RunOptions options, const Manifest &manifest, Device &device) {
  auto stage = std::make_unique<Stage>();
  stage->options = std::move(options);
  Result<Execution> execution = Execution::prepare(stage->options, manifest, device, last());
  if (!execution)
    return runtime::withContext("kernel '" + manifest.kernel + "', which runs before", execution.error());
  stage->execution = std::make_unique<Execution>(std::move(*execution));
  stages.push_back(std::move(stage));
  return Success{};
}

std::string EarlierKernels::names() const {
  std::string text;
  for (const auto &stage : stages)
    text += (text.empty() ? "" : ", ") + stage->execution->kernel().kernel;
  return text;
}

} // namespace tile::runner
