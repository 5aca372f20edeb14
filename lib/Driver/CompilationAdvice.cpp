// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Advises users about kernels that spill registers and about slow compilation steps.
#include "Driver/Compilation.h"
#include "Target/GpuTarget.h"

#include "llvm/Support/FormatVariadic.h"

using llvm::formatv;

namespace tile::driver {

/// Emits a note about slow steps, with the usual cause: large blocks.
void Compilation::noteSlowSteps() {
  if (!options.slowSeconds)
    return;
  for (const Timing::Slow &step : timing.stepsOver(*options.slowSeconds)) {
    std::string text =
        formatv("{0} took {1:f0} s", step.name == "frontend" ? "the front end" : step.name, step.seconds);
    if (!step.slowestPass.empty())
      text += formatv(", '{0}' most of it", step.slowestPass);
    const int64_t threads = target::threadsPerWarp * description.launch.numWarps;
    if (largestBlock > threads && threads > 0)
      text += formatv("; the largest block has {0} elements, {1} for each of {2} threads: more warps (--num-warps) or "
                      "smaller blocks compile faster",
                      largestBlock, largestBlock / threads, threads);
    note(text);
  }
}

/// Warns if more bytes are spilled than a thread has in registers (255 of 4 bytes), which means that most values are in
/// memory.
bool Compilation::warnOfSpills(const codegen::KernelResources &resources) {
  constexpr unsigned most = 1024;
  if (resources.spillStores < most)
    return true;
  const int64_t warps = description.launch.numWarps;
  const std::string size = resources.spillStores < 10 * 1024 ? formatv("{0} bytes", resources.spillStores).str()
                                                             : formatv("{0} KiB", resources.spillStores / 1024).str();
  return warn(frontend::Diag::register_spills,
              {std::to_string(target::threadsPerWarp * warps), description.kernel, size,
               warps * target::threadsPerWarp < target::maxThreadsPerCta ? "more warps (--num-warps) or smaller blocks"
                                                                         : "smaller blocks"});
}

} // namespace tile::driver
