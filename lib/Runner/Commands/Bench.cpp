// tile-run bench gemm.cubin M=8192 N=8192 K=8192
// tile-run bench --suite dense.suite --artifacts build/bench --check
#include "Runner/Commands/Commands.h"

namespace tile::runner {

Action addBench(CLI::App &app, const RunOptions &start) {
  struct Options {
    RunOptions run;
    SuiteOptions suite;
  };
  auto options = std::make_shared<Options>(Options{start, {}});
  options->run.bench = true;
  addArtifact(app, options->run);
  addKernelOptions(app, options->run);
  addVariantOptions(app, options->run);
  addCheckOptions(app, options->run);
  addMeasureOptions(app, options->run);
  addSuiteOptions(app, options->suite);
  addFormatOption(app, options->run);
  return [options] { return runOneOrSuite(options->run, options->suite); };
}

} // namespace tile::runner
