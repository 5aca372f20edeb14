// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs the table's kernels on the simulator.
#pragma once

#include "MatrixCases.h"
#include "RunPtx.h"

namespace tile::sim {

/// An array of 32-bit words as RunPtx.h takes them.
inline std::vector<uint64_t> packWords(const std::vector<uint32_t> &words) {
  std::vector<uint64_t> packed((words.size() + 1) / 2);
  std::memcpy(packed.data(), words.data(), words.size() * sizeof(uint32_t));
  return packed;
}

/// Returns the results of a case.
inline runtime::Result<std::vector<uint32_t>> simulate(const Module &module, const MatrixCase &matrixCase) {
  std::vector<uint32_t> results(size_t(matrixCase.ctas) * matrixCase.resultWords);
  std::vector<uint64_t> arrays[] = {packWords(results), packWords(matrixCase.inputs), packWords(matrixImage())};
  runtime::Status status = runPtx(module, matrixCase.name, matrixCase.ctas, matrixThreads,
                                  {std::begin(arrays), std::end(arrays)}, /*seed=*/matrixCase.inputs.size());
  if (!status)
    return status.error();
  std::memcpy(results.data(), arrays[0].data(), results.size() * sizeof(uint32_t));
  return results;
}

} // namespace tile::sim
