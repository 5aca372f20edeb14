// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The tools in the single binary. MLIR is linked statically and takes 45 MB, which `tilec` and `tile-opt` share.
#pragma once

namespace tile {

int tilecMain(int argc, char **argv);
int tileOptMain(int argc, char **argv);

} // namespace tile
