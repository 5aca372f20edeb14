// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Accesses through tensor maps of tensors without elements.
#pragma once

#include "Tile/TileDialect.h"

namespace tile {

/// A tensor map has at least one element in each dimension (CUDA driver API, cuTensorMapEncodeTiled), also of a tensor
/// that has none. So a block begins after it there:
///
///   desc_load %d[%zero, %j]   ==>   %begin = select(%M <= 0, 2^30, %zero); desc_load %d[%begin, %j]
///
/// Only where the coordinate is known at launch. Where it follows from the program's number or a loop, there is taken
/// to be a program, or an iteration, because there are elements. So what K loops read stays as it is.
void keepOutsideEmpty(MakeDescOp desc);

} // namespace tile
