// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a kernel leaves to the compiler (`BLOCK_M: constexpr = auto`), and what is known to choose it by.
//
// The front end finds out which matrix product the kernel computes, from "#: expect c == a @ b" and the shapes of the
// "#: buffer" directives. It asks whoever knows about speed for the values: CompileRequest::choose.

#pragma once

#include "Frontend/Syntax/ClusterShape.h"
#include "Frontend/Syntax/Schedule.h"
#include "Frontend/Syntax/Types.h"

#include <functional>

namespace tile::frontend {

/// Also called BLOCK_SIZE_M and so on, as in Triton's tutorials.
struct TileChoices {
  std::optional<int64_t> blockM = {}, blockN = {}, blockK = {}, groupM = {}, numWarps = {}, numStages = {};
  std::optional<ClusterShape> cluster = {};
  std::optional<Schedule> schedule = {};

  bool operator==(const TileChoices &) const = default;
};

/// c[M, N] = a[M, K] @ b[K, N]
struct OpenProduct {
  static constexpr int64_t unknownSize = 4096;

  std::string kernel;
  /// By --size and constants, where these say. A hint, never a promise.
  int64_t m = unknownSize, n = unknownSize, k = unknownSize;
  bool knowsM = false, knowsN = false, knowsK = false;
  /// As expressions over parameters, in the manifest's language.
  std::string mText, nText, kText;
  DType element, output; ///< of a, and of c
  /// Promised: rows (or columns) of a and b are contiguous and start at multiples of 16 bytes, as in tensor maps.
  bool alignedRows = false;
  /// Promised of their length, too: rows of both are a number of pieces of as many bytes, 1 to 16, so that a thread can
  /// copy a piece at a time also where a mask cuts rows off.
  unsigned copyBytes = 1;
  /// Promised: K is the contiguous dimension of a, and of b.
  bool aKMajor = false, bKMajor = false;
  TileChoices given; ///< what is not left open
};

using DescribeProduct = std::function<void(const OpenProduct &)>;
using ChooseTiles = std::function<TileChoices(const OpenProduct &)>;

} // namespace tile::frontend
