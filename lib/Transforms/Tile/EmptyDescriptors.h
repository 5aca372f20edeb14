// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Accesses through tensor maps of empty tensors.
#pragma once

#include "Tile/TileDialect.h"

namespace tile {

/// Keeps accesses to empty tensors out of bounds. A tensor map has at least one element in each dimension (CUDA driver
/// API, cuTensorMapEncodeTiled), even if the tensor has none, so blocks are moved beyond that element:
///
///   desc_load %d[%zero, %j]   ==>   %begin = select(%M <= 0, 2^30, %zero); desc_load %d[%begin, %j]
///
/// Only coordinates that are known at launch are changed. A coordinate that is computed from a program index or a loop
/// counter is assumed to occur only if the tensor has elements, so the loads of K loops are unchanged.
void keepOutsideEmpty(MakeDescOp desc);

} // namespace tile
