// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Evaluates the sizes of a call, and the cost model.
#include "Runtime/Cost.h"

#include <algorithm>
#include <array>
#include <tuple>

namespace tile::runtime {
namespace {

Error invalidCost(std::string message) {
  return Error{TILE_ERROR_MANIFEST, "manifest: cost: " + std::move(message)};
}

Status checkRange(std::string_view key, unsigned value, unsigned least, unsigned most) {
  if (value < least || value > most)
    return invalidCost(fmt::format("{} is {}; expected {} to {}", key, value, least, most));
  return Success{};
}

} // namespace

target::ScheduleFormula formulaOf(const CostSpec &cost, const target::GpuTarget &gpu, int numSms) {
  target::GemmProblem problem = cost.problem;
  problem.numSms = static_cast<unsigned>(std::max(numSms, 0));
  return {gpu, problem, cost.config, cost.schedule};
}

Status validateCost(const CostSpec &cost, const ExpressionNames &names) {
  const std::pair<const char *, const std::string *> sizes[] = {{"m", &cost.m}, {"n", &cost.n}, {"k", &cost.k}};
  for (const auto &[key, text] : sizes)
    if (Result<Expression> compiled = Expression::compile(*text, names); !compiled)
      return invalidCost(fmt::format("{}: {}", key, compiled.error().message));
  const target::GemmConfig &config = cost.config;
  // Limits far above any kernel, which keep the arithmetic of the model safe from overflow.
  constexpr unsigned largestBlock = 4096, maxWarps = 32, maxStages = 64, maxCtas = 16, largestElement = 8;
  const std::tuple<const char *, unsigned, unsigned, unsigned> ranges[] = {
      {"block[0]", config.blockM, 1, largestBlock},
      {"block[1]", config.blockN, 1, largestBlock},
      {"block[2]", config.blockK, 1, largestBlock},
      {"group_m", config.groupM, 1, 1u << 20},
      {"warps", config.numWarps, 1, maxWarps},
      {"stages", config.numStages, 1, maxStages},
      {"ctas_per_tile", cost.schedule.ctasPerTile, 1, maxCtas},
      {"output_bytes", cost.problem.outputBytes, 1, largestElement},
      {"copy_bytes", cost.problem.copyBytes, 1, 16}};
  for (const auto &[key, value, least, most] : ranges)
    if (Status status = checkRange(key, value, least, most); !status)
      return status;
  return Success{};
}

Result<CostSizes> CostSizes::compile(const CostSpec &spec, const ExpressionNames &names) {
  CostSizes sizes;
  for (const std::string &text : {spec.m, spec.n, spec.k}) {
    Result<Expression> expression = Expression::compile(text, names);
    if (!expression)
      return expression.error();
    sizes.expressions.push_back(std::move(*expression));
  }
  return sizes;
}

std::optional<target::GemmSize> CostSizes::evaluate(std::span<const int64_t> slots) const {
  std::array<int64_t, 3> values;
  for (size_t i = 0; i < values.size(); ++i) {
    const Evaluation evaluation = expressions[i].evaluate(slots);
    if (evaluation.error != EvaluationError::None)
      return std::nullopt;
    values[i] = evaluation.value;
  }
  return target::GemmSize{values[0], values[1], values[2]};
}

} // namespace tile::runtime
