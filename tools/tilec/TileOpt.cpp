// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tile-opt: upstream's mlir-opt command line with every dialect, pass and pipeline of the compiler.
#include "Tools.h"

#include "Pipeline/GpuPipeline.h"

#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int tile::tileOptMain(int argc, char **argv) {
  mlir::DialectRegistry registry;
  registerAllDialects(registry);
  registerAllPasses();
  return failed(mlir::MlirOptMain(argc, argv, "tile-opt: runs passes of the tile compiler\n", registry));
}
