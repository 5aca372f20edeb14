// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where a layout holds the elements of an axis in order.
#pragma once

#include "Layout/LinearLayout.h"

#include <optional>

namespace tile::layout {

/// Whether a reduction in the order of registers, then lanes, then warps keeps the order of the axis: each bit that
/// moves along `axis` moves along nothing else, by a power of two that registers, lanes and warps have in this order.
bool isInOrder(const LinearLayout &layout, unsigned axis);

/// The layout with `axis` as two dimensions, of runs and of places in them, so that a reduction of each run and then
/// one of the runs keep the order: where the highest registers count runs. None if the layout has no such runs.
std::optional<LinearLayout> splitIntoRuns(const LinearLayout &layout, unsigned axis);

} // namespace tile::layout
