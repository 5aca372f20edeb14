// tile-run compare old.cubin new.cubin M=512 N=512 K=300
// tile-run compare gemm.cubin M=512 N=512 K=300 --recorded c=c.npy
#include "Runner/Compare.h"
#include "Runner/Commands/Commands.h"

namespace tile::runner {

static int compare(const RunOptions &options, const OtherArtifact &compared) {
  if (compared.file.empty() && options.recorded.empty())
    return reportFailure(options, runtime::makeError(TILE_ERROR_INVALID_ARGUMENT,
                                                     "nothing to compare with; give a second artifact, or --recorded "
                                                     "NAME=FILE"));
  return withArtifact(options, [&](const runtime::Artifact &artifact) {
    if (compared.file.empty())
      return runArtifact(options, artifact);
    RunOptions other = options;
    other.artifact = compared.file;
    return withArtifact(
        other, [&](const runtime::Artifact &second) { return compareArtifacts(options, artifact, compared, second); });
  });
}

Action addCompare(CLI::App &app, const RunOptions &start) {
  struct Options {
    RunOptions run;
    OtherArtifact other;
  };
  auto options = std::make_shared<Options>(Options{start, {}});
  addArtifact(app, options->run);
  app.add_option("other", options->other.file, "Another artifact, of the same kernel, or the same for another variant")
      ->type_name("FILE");
  addKernelOptions(app, options->run);
  addVariantOptions(app, options->run);
  app.add_option("--other-variant", options->other.variant, "Variant of the other artifact (default: --variant)")
      ->type_name("NAME")
      ->group("Artifacts with several variants");
  addCheckOptions(app, options->run);
  addRecordedOptions(app, "--recorded", options->run);
  app.get_option("--within")
      ->description(
          "Relative error that is allowed; 0: equal values. Default: between two artifacts, what the kernel's "
          "`expect` declarations allow; beside recorded outputs, 0");
  addSimulatorOptions(app, options->run);
  addMeasureOptions(app, options->run);
  addFormatOption(app, options->run);
  return [options] {
    if (options->other.file.find('=') != std::string::npos) { // no artifact, but the first argument
      options->run.arguments.insert(options->run.arguments.begin(), options->other.file);
      options->other.file.clear();
    }
    return compare(options->run, options->other);
  };
}

} // namespace tile::runner
