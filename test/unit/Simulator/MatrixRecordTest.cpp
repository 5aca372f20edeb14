// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compares every matrix instruction bit by bit with the results of an H200 for the same registers and shared memory.
#include "MatrixRun.h"

#include <fstream>
#include <gtest/gtest.h>
#include <iterator>

namespace tile::sim {
namespace {

TEST(MatrixRecord, resultsAreThoseOfTheHardware) {
  std::ifstream file(RECORDED_MATRICES, std::ios::binary);
  std::vector<char> recorded{std::istreambuf_iterator<char>(file), {}};
  std::vector<MatrixCase> cases = matrixCases();
  auto module = parsePtx(matrixModule(cases));
  ASSERT_TRUE(module) << module.error().message;
  size_t offset = 0;
  for (const MatrixCase &matrixCase : cases) {
    auto results = simulate(*module, matrixCase);
    ASSERT_TRUE(results) << matrixCase.name << ": " << results.error().message;
    std::vector<uint32_t> actual = matrixSummary(matrixCase, *results), expected(actual.size());
    size_t bytes = actual.size() * sizeof(uint32_t);
    ASSERT_LE(offset + bytes, recorded.size()) << "the recording is not of this table: see RecordMatrices.cpp";
    std::memcpy(expected.data(), recorded.data() + offset, bytes);
    offset += bytes;
    for (size_t i = 0; i < actual.size(); ++i)
      EXPECT_EQ(actual[i], expected[i]) << matrixCase.name << " (" << matrixCase.instruction << "), factors of kind "
                                        << i % 8 << ", accumulators of kind " << i / 8;
  }
  EXPECT_EQ(offset, recorded.size());
}

} // namespace
} // namespace tile::sim
