// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Blocks whose sizes are not powers of two: multiples of 16 that a kernel leaves open (BLOCK_M, BLOCK_N) and the launch
// defines.
#include "KernelBuilder.h"

namespace tile::fuzz {

const char *KernelBuilder::nameOfBlock(size_t axis) {
  return axis == 0 ? "BLOCK_M" : "BLOCK_N";
}

/// Returns the header with the compilation options (RealKernels.h). Operations that do not support such blocks are not
/// findings.
std::string KernelBuilder::oddHeader() const {
  if (oddBlocks.empty())
    return "";
  std::string head = "#fuzz: file=kernel.tile kernel=kernel exact";
  for (size_t i = 0; i < oddBlocks.size(); ++i)
    head += std::string(" -D") + nameOfBlock(i) + "=" + std::to_string(oddBlocks[i]);
  return head + "\n";
}

void KernelBuilder::oddFrame() {
  const size_t rank = isAboutLoops || random.chance(60) ? 2 : 1;
  isGemm = rank == 2 && (isAboutLoops || random.chance(30));
  if (isGemm)
    budget = isAboutLoops ? 0 : budget / 3;
  oddBlocks = {random.pick({48, 48, 80, 96, 144})};
  if (rank == 2) {
    oddBlocks.push_back(random.pick({16, 32, 48, 64, 96}));
    if (random.chance(40))
      std::swap(oddBlocks[0], oddBlocks[1]);
  }
  std::vector<Axis> own;
  std::string grid;
  programs = 1;
  for (size_t i = 0; i < rank; ++i) {
    const std::string letter = i + 1 == rank ? "n" : "m", block = std::to_string(oddBlocks[i]);
    const int64_t size =
        isAboutLoops ? 8 * random.between(1, oddBlocks[i] / 4) : random.between(1, 2 * oddBlocks[i] + 5);
    const std::string bound = addInteger(letter == "n" ? "N" : "M", size), number = "pid_" + letter;
    const int64_t tiles = ceilDivide(size, oddBlocks[i]);
    line(number + " = tl.program_id(" + std::to_string(i) + ")");
    line("start_" + letter + " = " + number + " * " + block);
    line("offs_" + letter + " = start_" + letter + " + tl.arange(0, " + block + ")");
    values.push_back({number, Scalar::Int32, {}, {0, static_cast<double>(tiles - 1), 1}});
    own.push_back({"offs_" + letter, "start_" + letter, bound, size, oddBlocks[i]});
    programNumber = i == 0 ? number : "(pid_m * tl.num_programs(1) + pid_n)";
    grid += (i ? ", cdiv(" : "cdiv(") + bound + ", " + block + ")";
    programs *= static_cast<int>(tiles);
  }
  directives = "#: grid(" + grid + ")\n" + directives;
  takeProgram(own);
}

/// Emits operations that support such blocks: accesses, arithmetic, sums and extrema.
void KernelBuilder::oddStatement() {
  switch (random.below(10)) {
  case 0:
  case 1:
    return loadStatement();
  case 2:
  case 3:
    return assignStatement();
  case 4:
    return storeStatement();
  case 5:
    return rowSumStatement();
  case 6:
    return selectionStatement();
  default:
    break;
  }
  const std::optional<Value> source =
      find([](const Value &value) { return !value.shape.empty() && !isNarrowFloat(value.type); });
  for (int attempt = 0; source && attempt < 4; ++attempt)
    if (const std::optional<Value> result = reduction(*source);
        result && (result->text.starts_with("tl.sum(") || result->text.starts_with("tl.m")))
      return sink(define("b", *result));
}

} // namespace tile::fuzz
