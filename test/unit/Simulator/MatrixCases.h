// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Matrix instructions to compare with hardware: kernels of one instruction each, and their operands.
//
// The PTX that was run once on a GPU (RecordMatrices.cpp) and the PTX that the tests run in the simulator come from
// this table, so that fragments, descriptors and every bit of the accumulators can be compared.
//
//   mma      a warp reads the registers of both factors and the accumulators ([register][lane]), and writes the results
//   wgmma    a CTA of 128 threads puts 4096 bytes into shared memory (left factor at 0, right one at 2048, core
//            matrices without swizzle) and reads the accumulators ([register][thread])
//   layout   a CTA puts an image of small integers into shared memory; one factor is the identity, so that the results
//            are the elements that the descriptor of the other one leads to
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tile::sim {

struct MatrixCase {
  std::string name;         ///< name of the kernel
  std::string instruction;  ///< for messages
  std::string kernel;       ///< PTX of the entry: parameters d (results), a (inputs), b (image of a layout case)
  uint32_t ctas = 0;        ///< of 128 threads
  uint32_t resultWords = 0; ///< 32-bit words per CTA
  std::vector<uint32_t> inputs;
};

constexpr unsigned matrixThreads = 128;

std::vector<MatrixCase> matrixCases();
std::string matrixModule(const std::vector<MatrixCase> &cases);
/// Returns the image in shared memory for the layout cases.
std::vector<uint32_t> matrixImage();

/// Returns the recorded form of the results: a hash for each of 48 classes of inputs (CTA modulo 48).
std::vector<uint32_t> matrixSummary(const MatrixCase &matrixCase, const std::vector<uint32_t> &results);

} // namespace tile::sim
