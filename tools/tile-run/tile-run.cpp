// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tile-run: runs a kernel compiled by tilec, checks it and measures it. Does not link LLVM or MLIR.
//
//   tile-run gemm.cubin M=512 N=512 K=300 --check
#include "Explain/ExplainArtifact.h"
#include "Lab/Tool.h"
#include "Runner/Run.h"
#include "tile/tile_dist.h"

#include <csignal>
#include <cstdlib>
#include <exception>

using namespace tile::runner;

int main(int argc, char **argv) {
  std::signal(SIGXFSZ, SIG_IGN); // exceeding the file size limit is an error of write(), like a full disk
  try {
    const Subcommand explain[] = {
        {"explain", "Make a page that shows a run in the simulator", tile::explain::addExplain}};
    const Colours colours = chooseColours(std::getenv("NO_COLOR"), std::getenv("TERM"));
    return finishOutput("tile-run", runTool({argv, static_cast<size_t>(argc)}, "tile-run " TILE_VERSION, colours,
                                            explain, tile_dist_getenv));
  } catch (const std::bad_alloc &) {
    fmt::print(stderr, "tile-run: error: out of host memory\n");
  } catch (const std::exception &exception) {
    fmt::print(stderr, "tile-run: error: {}\n", exception.what());
  }
  return 1;
}
