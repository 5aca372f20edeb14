// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Each member of the model's input has one expression.
#include "Runtime/ProgramsCost.h"

#include "Runtime/Manifest.h"

namespace tile::runtime {

std::span<const ProgramsKey> programsKeys() {
  using Cost = ProgramsCost;
  using Work = target::ProgramWork;
  static constexpr ProgramsKey keys[] = {{"steps", &Cost::steps, &Work::steps},
                                         {"exchanges", &Cost::exchanges, &Work::exchanges},
                                         {"bytes", &Cost::bytes, &Work::bytes},
                                         {"reread_bytes", &Cost::rereadBytes, &Work::rereadBytes},
                                         {"tensor_flops", &Cost::tensorFlops, &Work::tensorFlops},
                                         {"operations", &Cost::operations, &Work::operations},
                                         {"special", &Cost::special, &Work::special},
                                         {"unique_bytes", &Cost::uniqueBytes, &Work::uniqueBytes}};
  return keys;
}

Result<ProgramsExpressions> ProgramsExpressions::compile(const ProgramsCost &cost, const ExpressionNames &names) {
  ProgramsExpressions compiled;
  compiled.warps = cost.warps;
  for (const ProgramsKey &key : programsKeys()) {
    Result<Expression> expression = Expression::compile(cost.*key.text, names);
    if (!expression)
      return makeError(TILE_ERROR_MANIFEST, "manifest: cost: {}: {}", key.key, expression.error().message);
    compiled.expressions.push_back(std::move(*expression));
  }
  return compiled;
}

std::optional<target::ProgramWork> ProgramsExpressions::evaluate(std::span<const int64_t> slots,
                                                                 double programs) const {
  target::ProgramWork work;
  work.programs = programs;
  size_t next = 0;
  for (const ProgramsKey &key : programsKeys()) {
    const Evaluation evaluation = expressions[next++].evaluate(slots);
    if (evaluation.error != EvaluationError::None)
      return std::nullopt;
    work.*key.value = std::max(double(evaluation.value), 0.0);
  }
  return work;
}

target::ProgramTime programTimeOf(const Manifest &manifest, const target::GpuTarget &gpu, int numSms) {
  const LaunchInfo &launch = manifest.launch;
  return {gpu,
          {.threads = launch.threadsPerCta,
           .computingWarps = manifest.programs->warps,
           .registers = launch.registers,
           .sharedBytes = launch.sharedStatic + launch.sharedDynamic,
           .spillBytes = launch.spillBytes,
           .residentCtas = launch.persistent ? launch.ctasPerSm : 0,
           .operandBits = static_cast<unsigned>(manifest.programs->operandBits)},
          static_cast<unsigned>(std::max(numSms, 0))};
}

Status validatePrograms(const ProgramsCost &cost, const ExpressionNames &names) {
  if (Result<ProgramsExpressions> compiled = ProgramsExpressions::compile(cost, names); !compiled)
    return compiled.error();
  constexpr int64_t narrowest = 4, widest = 64;
  if (cost.operandBits < narrowest || cost.operandBits > widest)
    return makeError(TILE_ERROR_MANIFEST, "manifest: cost: operand_bits is {}; expected {} to {}", cost.operandBits,
                     narrowest, widest);
  constexpr int64_t maxWarps = 32;
  if (cost.warps < 1 || cost.warps > maxWarps)
    return makeError(TILE_ERROR_MANIFEST, "manifest: cost: warps is {}; expected 1 to {}", cost.warps, maxWarps);
  return Success{};
}

} // namespace tile::runtime
