// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// libFuzzer target: PTX text -> module -> calls inlined -> points of reconvergence. A text is accepted or refused with
// an error that names its line; the rest is for the sanitizers.

#include "Simulator/Ptx/ControlFlow.h"
#include "Simulator/Ptx/InlineCalls.h"
#include "Simulator/Ptx/Parser.h"

#include <cstdio>
#include <cstdlib>

namespace {

int requireLine(const tile::runtime::Error &error) {
  if (error.message.starts_with("line "))
    return 0;
  std::fprintf(stderr, "PtxFuzzer: an error without a line: %s\n", error.message.c_str());
  abort();
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  using namespace tile::sim;
  tile::runtime::Result<Module> module = parsePtx({reinterpret_cast<const char *>(data), size});
  if (!module)
    return requireLine(module.error());
  if (tile::runtime::Status status = inlineCalls(*module); !status)
    return requireLine(status.error());
  for (const Function &function : module->functions)
    for (uint32_t point : reconvergencePoints(function))
      if (point != noInstruction && point >= function.instructions.size())
        abort();
  return 0;
}
