// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Codegen/RegisterBudget.h"
#include "Target/GpuTarget.h"

#include "llvm/IR/Function.h"

using namespace llvm;

namespace tile::codegen {

static constexpr unsigned maxThreads = target::maxThreadsPerCta; // half of a multiprocessor's maximum

bool isOfMostThreads(const Function &function) {
  unsigned threads = 0;
  return !function.getFnAttribute("nvvm.reqntid").getValueAsString().consumeInteger(10, threads) &&
         threads == maxThreads;
}

unsigned registersForManyThreads(const Function &function) {
  unsigned ctas = isOfMostThreads(function) ? 2 : 1;
  return target::registersPerSm / (ctas * maxThreads);
}

} // namespace tile::codegen
