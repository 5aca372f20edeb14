// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The tools in the one binary. A static MLIR is 45 MB; `tilec` and `tile-opt` share one copy.
#pragma once

namespace tile {

int tilecMain(int argc, char **argv);
int tileOptMain(int argc, char **argv);

} // namespace tile
