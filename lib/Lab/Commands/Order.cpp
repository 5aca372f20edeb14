// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tile-run order gemm.cubin
//
//   matmul: order of floating-point additions
//     general              91d3a2f0c4e7b615
//       39:15: dot f16 x f16 -> f32 by wgmma: 64 elements of K in order, 16 in an instruction
//     aligned-128x256x64   the same as general
#include "Lab/Commands/Commands.h"
#include "Lab/Verify/BitContract.h"

namespace tile::runner {
Action addOrder(CLI::App &app, const RunOptions &start) {
  auto options = std::make_shared<RunOptions>(start);
  addArtifact(app, *options);
  auto isJson = std::make_shared<bool>(false);
  app.add_flag("--json", *isJson, "Print a JSON document");
  return [options, isJson] {
    return withArtifact(*options, [&](const runtime::Artifact &artifact) {
      printOrders(artifact, *isJson);
      return 0;
    });
  };
}

} // namespace tile::runner
