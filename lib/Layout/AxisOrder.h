// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Layouts that hold the elements of an axis in order.
#pragma once

#include "Layout/LinearLayout.h"

#include <optional>

namespace tile::layout {

/// Returns true if a reduction over registers, then lanes, then warps preserves the order of the axis. Each bit that
/// moves along `axis` must move along nothing else and by a power of two, and these powers must increase from registers
/// to lanes to warps.
bool isInOrder(const LinearLayout &layout, unsigned axis);

/// Splits `axis` into two dimensions, runs and positions within a run, such that reducing each run and then reducing
/// over the runs preserves the order. The run must be selected by the highest register bits; returns nullopt if it is
/// not.
std::optional<LinearLayout> splitIntoRuns(const LinearLayout &layout, unsigned axis);

} // namespace tile::layout
