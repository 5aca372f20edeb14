// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Stores and loads of panels, which belong to the Buffer family.
#pragma once

#include "Patterns.h"

namespace tile::conversion {

void addPanelLowerings(Lowerings &lowerings);

} // namespace tile::conversion
