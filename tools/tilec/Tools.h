// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The tools in the single binary. Static MLIR is 45 MB, which `tilec` and `tile-opt` share.
#pragma once

namespace tile {

int tilecMain(int argc, char **argv);
int tileOptMain(int argc, char **argv);

} // namespace tile
