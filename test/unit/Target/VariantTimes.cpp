// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Maps names of variants to kernels, by the names of all possible kernels.
#include "VariantTimes.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <sstream>

namespace tile::target {

std::string kernelName(const GemmKernel &kernel) {
  const GemmConfig &config = kernel.config;
  std::string name =
      std::to_string(config.blockM) + "x" + std::to_string(config.blockN) + "x" + std::to_string(config.blockK);
  if (kernel.schedule.ctasPerTile > 1)
    return name + "-split" + std::to_string(kernel.schedule.ctasPerTile);
  if (kernel.schedule.pingPong)
    return name + "-pingpong";
  return name + (kernel.splitTail ? "-tail" : kernel.schedule.persistent ? "-persistent" : "");
}

std::string TimedShape::name() const {
  return order + "-" + std::to_string(size.m) + "x" + std::to_string(size.n) + "x" + std::to_string(size.k);
}

GemmProblem TimedShape::problem(VariantClass promises) const {
  GemmProblem problem{.m = size.m, .n = size.n, .k = size.k, .element = MmaType::BF16};
  problem.aKMajor = order[0] == 'n';
  problem.bKMajor = order[1] == 't';
  problem.tensorMaps = promises <= VariantClass::Loads;
  problem.anyBlockSize = problem.tensorMaps;
  problem.plainStores = promises != VariantClass::Aligned;
  problem.anyRows = promises == VariantClass::Aligned;
  if (promises == VariantClass::Pieces8)
    problem.copyBytes = 8;
  else if (promises == VariantClass::Pieces4)
    problem.copyBytes = 4;
  else if (promises == VariantClass::General) {
    problem.copyBytes = 2;
    problem.asyncCopies = false;
  }
  return problem;
}

bool TimedShape::isServedBy(VariantClass promises) const {
  const int64_t lda = order[0] == 'n' ? size.k : size.m, ldb = order[1] == 'n' ? size.n : size.k;
  const auto divide = [&](int64_t divisor) { return lda % divisor == 0 && ldb % divisor == 0; };
  switch (promises) {
  case VariantClass::Aligned:
    return divide(8) && size.n % 8 == 0;
  case VariantClass::Loads:
    return divide(8);
  case VariantClass::Pieces8:
    return divide(4);
  case VariantClass::Pieces4:
    return divide(2);
  case VariantClass::General:
    return true;
  }
  return false;
}

std::optional<double> TimedShape::timeOf(VariantClass promises, const GemmKernel &kernel) const {
  for (const VariantTime &time : times)
    if (time.promises == promises && kernelName(time.kernel) == kernelName(kernel) &&
        time.kernel.config.wgmma == kernel.config.wgmma)
      return time.microseconds;
  return std::nullopt;
}

double TimedShape::bestTime() const {
  double best = HUGE_VAL;
  for (const VariantTime &time : times)
    best = std::min(best, time.isQuick ? best : time.microseconds);
  return best;
}

std::vector<TimedShape> readVariantTimes(const std::string &path) {
  const GpuTarget &target = *findTarget("sm_90a");
  std::map<std::pair<std::string, VariantClass>, std::map<std::string, GemmKernel>> known;
  std::vector<TimedShape> shapes;
  std::ifstream file(path);
  std::string line;
  const auto add = [&](const std::string &variant, double microseconds, bool isQuick) {
    TimedShape &shape = shapes.back();
    const size_t dash = variant.find('-');
    const auto *name = std::find(std::begin(variantClassNames), std::end(variantClassNames), variant.substr(0, dash));
    if (name == std::end(variantClassNames))
      return;
    const VariantClass promises = VariantClass(name - std::begin(variantClassNames));
    auto &kernels = known[{shape.order, promises}];
    if (kernels.empty())
      for (const GemmKernel &kernel : listKernels(target, shape.problem(promises), {}, {}))
        kernels.emplace(kernelName(kernel), kernel);
    const auto kernel = kernels.find(variant.substr(dash + 1));
    if (kernel != kernels.end())
      shape.times.push_back({promises, kernel->second, microseconds, isQuick});
  };
  while (std::getline(file, line)) {
    std::istringstream fields(line);
    std::string first;
    fields >> first;
    if (first == "shape") {
      TimedShape shape;
      fields >> shape.order >> shape.size.m >> shape.size.n >> shape.size.k >> shape.baseline;
      shapes.push_back(shape);
      continue;
    }
    double microseconds = 0;
    int rounds = 0;
    fields >> microseconds >> rounds;
    add(first, microseconds, rounds == 0);
  }
  return shapes;
}

} // namespace tile::target
