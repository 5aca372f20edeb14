// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// libFuzzer target: PTX text -> module -> calls inlined -> points of reconvergence -> each kernel launched. A text is
// accepted or rejected with an error that names its line; sanitizers find everything else.

#include "PtxLaunch.h"
#include "PtxMutator.h"

#include "Simulator/Ptx/ControlFlow.h"
#include "Simulator/Ptx/InlineCalls.h"
#include "Simulator/Ptx/Parser.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace {

int requireLine(const tile::runtime::Error &error) {
  if (error.message.starts_with("line "))
    return 0;
  std::fprintf(stderr, "PtxFuzzer: an error without a line: %s\n", error.message.c_str());
  abort();
}

/// Returns a seed that depends only on the text, so that the same text is launched in the same way.
uint64_t seedOf(const uint8_t *data, size_t size) { // FNV-1a
  uint64_t hash = 0xcbf29ce484222325;
  for (size_t i = 0; i < size; ++i)
    hash = (hash ^ data[i]) * 0x100000001b3;
  return hash;
}

} // namespace

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t maxBytes);

static size_t store(const std::string &text, uint8_t *data, size_t maxBytes) {
  const size_t size = std::min(text.size(), maxBytes);
  std::copy_n(text.begin(), size, data);
  return size;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t maxBytes, unsigned seed) {
  if (seed % 8 == 0)
    return LLVMFuzzerMutate(data, size, maxBytes);
  tile::fuzz::PtxMutator mutator(seed);
  return store(mutator.mutate({reinterpret_cast<const char *>(data), size}), data, maxBytes);
}

extern "C" size_t LLVMFuzzerCustomCrossOver(const uint8_t *first, size_t firstSize, const uint8_t *second,
                                            size_t secondSize, uint8_t *result, size_t maxBytes, unsigned seed) {
  tile::fuzz::PtxMutator mutator(seed);
  return store(mutator.crossOver({reinterpret_cast<const char *>(first), firstSize},
                                 {reinterpret_cast<const char *>(second), secondSize}),
               result, maxBytes);
}

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
  tile::fuzz::launchKernels(*module, seedOf(data, size));
  return 0;
}
