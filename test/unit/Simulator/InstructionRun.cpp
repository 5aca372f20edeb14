// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "InstructionRun.h"

#include "Simulator/Numerics/Formats.h"

#include <cmath>

namespace tile::sim {
namespace {

double valueOf(const std::string &kind, uint64_t bits) {
  if (kind == "f32")
    return std::bit_cast<float>(uint32_t(bits));
  if (kind == "f64")
    return std::bit_cast<double>(bits);
  if (kind.front() == 'b')
    return numerics::toFloat(BFloat16{uint16_t(bits)});
  return numerics::toFloat(Half{uint16_t(bits)});
}

bool isWithin(const Bound &bound, double expected, double actual) {
  if (std::isnan(expected) || std::isnan(actual) || std::isinf(expected))
    return std::isnan(expected) == std::isnan(actual) && (std::isnan(expected) || expected == actual);
  return std::fabs(actual - expected) <= bound.relative * std::fabs(expected) + bound.absolute;
}

} // namespace

runtime::Result<std::vector<uint64_t>> simulate(const InstructionCase &instruction) {
  auto module = parsePtx(instructionModule({instruction}));
  if (!module)
    return module.error();
  std::vector<std::vector<uint64_t>> arrays{std::vector<uint64_t>(instruction.count)};
  for (unsigned i = 0; i < 3; ++i)
    arrays.push_back(i < instruction.operands.size() ? inputs(instruction, i) : std::vector<uint64_t>(1));
  std::vector<std::span<uint64_t>> spans(arrays.begin(), arrays.end());
  runtime::Status status = runPtx(*module, instruction.name, instruction.count / blockThreads, blockThreads, spans);
  if (!status)
    return status.error();
  return std::move(arrays.front());
}

bool isClose(const InstructionCase &instruction, uint64_t expected, uint64_t actual) {
  if (expected == actual)
    return true;
  if (instruction.bound.isExact())
    return false;
  const std::string &kind = instruction.result;
  if (kind == "f16x2" || kind == "bf16x2")
    return isWithin(instruction.bound, valueOf(kind, expected & 0xffff), valueOf(kind, actual & 0xffff)) &&
           isWithin(instruction.bound, valueOf(kind, expected >> 16), valueOf(kind, actual >> 16));
  return isWithin(instruction.bound, valueOf(kind, expected), valueOf(kind, actual));
}

std::vector<uint8_t> record(const InstructionCase &instruction, const std::vector<uint64_t> &results) {
  std::vector<uint8_t> bytes;
  unsigned size = instruction.bound.isExact() ? sizeof(uint64_t) : kindBits(instruction.result) / 8;
  for (uint64_t value : summary(instruction, results))
    for (unsigned byte = 0; byte < size; ++byte)
      bytes.push_back(uint8_t(value >> 8 * byte));
  return bytes;
}

} // namespace tile::sim
