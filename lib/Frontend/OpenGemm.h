// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parameters that a kernel leaves to the compiler (`BLOCK_M: constexpr = auto`), and the facts used to choose them.
//
// The front end derives the GEMM that the kernel computes from "#: expect c == a @ b" and the shapes of the "#: buffer"
// directives, and asks CompileRequest::choose for the values.

#pragma once

#include "Frontend/Syntax/ClusterShape.h"
#include "Frontend/Syntax/Schedule.h"
#include "Frontend/Syntax/Types.h"

#include <functional>

namespace tile::frontend {

/// The block sizes, warps and schedule of a GEMM. Parameters may also be called BLOCK_SIZE_M and so on, as in Triton's
/// tutorials.
struct TileChoices {
  std::optional<int64_t> blockM = {}, blockN = {}, blockK = {}, groupM = {}, numWarps = {}, numStages = {};
  std::optional<ClusterShape> cluster = {};
  std::optional<Schedule> schedule = {};

  bool operator==(const TileChoices &) const = default;
};

/// The GEMM c[M, N] = a[M, K] @ b[K, N].
struct OpenGemm {
  static constexpr int64_t unknownSize = 4096;

  std::string kernel;
  /// Sizes from --size and constants, where known. They are hints, not guarantees.
  int64_t m = unknownSize, n = unknownSize, k = unknownSize;
  bool knowsM = false, knowsN = false, knowsK = false;
  /// Sizes as expressions over parameters, in the manifest's language.
  std::string mText, nText, kText;
  DType element, output; ///< element types of a and c
  /// Guaranteed: rows (or columns) of a and b are contiguous and 16-byte aligned, as tensor maps require.
  bool alignedRows = false;
  /// Guaranteed: row lengths are also multiples of this many bytes, 1 to 16. Threads can then copy that many bytes at a
  /// time, even where a mask truncates rows.
  unsigned copyBytes = 1;
  /// Guaranteed: K is the contiguous dimension of a (for aKMajor) or of b (for bKMajor).
  bool aKMajor = false, bKMajor = false;
  TileChoices given; ///< fixed parameters
};

using DescribeGemm = std::function<void(const OpenGemm &)>;
using ChooseTiles = std::function<TileChoices(const OpenGemm &)>;

} // namespace tile::frontend
