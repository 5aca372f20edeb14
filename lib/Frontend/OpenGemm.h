// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parameters that a kernel leaves to the compiler (`BLOCK_M: constexpr = auto`), and the facts for choosing them.
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
  /// Sizes from --size and constants, where known. Only hints, not promises.
  int64_t m = unknownSize, n = unknownSize, k = unknownSize;
  bool knowsM = false, knowsN = false, knowsK = false;
  /// Sizes as expressions over parameters, in the manifest's language.
  std::string mText, nText, kText;
  DType element, output; ///< element types of a and c
  /// Promised: rows (or columns) of a and b are contiguous and 16-byte aligned, as tensor maps require.
  bool alignedRows = false;
  /// Promised: the lengths of rows are also multiples of this many bytes, 1 to 16, so that threads can copy that many
  /// bytes at a time even where a mask cuts rows off.
  unsigned copyBytes = 1;
  /// Promised: K is the contiguous dimension of a (b).
  bool aKMajor = false, bKMajor = false;
  TileChoices given; ///< fixed parameters
};

using DescribeGemm = std::function<void(const OpenGemm &)>;
using ChooseTiles = std::function<TileChoices(const OpenGemm &)>;

} // namespace tile::frontend
