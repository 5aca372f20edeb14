// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Order/RecordOrder.h"

#include "Order/Hash.h"
#include "Order/PtxArithmetic.h"
#include "Runtime/ElfSection.h"

#include <algorithm>
#include <fmt/ranges.h>

namespace tile::order {

runtime::Order recordOrder(const KernelOrder &kernel, std::string_view ptx, std::string_view entry,
                           std::string_view target, std::string_view assembler) {
  runtime::Order order;
  order.list = kernel.steps;
  if (kernel.program.empty())
    order.unknown.push_back("the input was not a tile program");
  runtime::Result<PtxArithmetic> arithmetic = analyseArithmetic(ptx, entry);
  if (!arithmetic) {
    order.unknown.push_back("the PTX is not understood: " + arithmetic.error().message);
    return order;
  }
  order.program = hexOf(mix(0, kernel.program));
  uint64_t steps = 0;
  for (const std::string &key : kernel.keys)
    steps = mix(steps, key);
  if (kernel.isShared) // which CTA computes which steps is only in the code
    steps = mix(steps, arithmetic->code);
  order.steps = hexOf(steps);

  // Tensor cores of another generation add in another way.
  uint64_t instructions = mix(mix(0, target), arithmetic->hash);
  if (!arithmetic->approximate.empty()) {
    order.list.push_back(fmt::format("approximate functions, as {} and the GPU compute them: {}",
                                     assembler.empty() ? "the driver" : "ptxas " + std::string(assembler),
                                     fmt::join(arithmetic->approximate, ", ")));
    instructions = mix(instructions, assembler);
  }
  if (!arithmetic->contractible.empty()) { // the assembler decides by the surrounding instructions whether to contract
    order.list.push_back(fmt::format("contracted with a multiplication if {} does: {}",
                                     assembler.empty() ? "the driver" : "ptxas " + std::string(assembler),
                                     fmt::join(arithmetic->contractible, ", ")));
    instructions = mix(mix(instructions, assembler), arithmetic->code);
  }
  order.arithmetic = hexOf(instructions);
  if (assembler.empty() && !(arithmetic->approximate.empty() && arithmetic->contractible.empty()))
    order.unknown.push_back("the assembler, which approximates or contracts, is not known");
  for (const std::string &text : arithmetic->unordered)
    order.unknown.push_back("unordered: " + text);
  order.unknown.insert(order.unknown.end(), arithmetic->unknown.begin(), arithmetic->unknown.end());
  if (order.unknown.empty())
    order.value = hexOf(mix(mix(mix(0, order.program), order.steps), order.arithmetic));
  return order;
}

std::string describeCall(const runtime::Manifest &manifest) {
  std::string text = fmt::format("grid({})", fmt::join(manifest.launch.grid, ", "));
  for (const runtime::Parameter &parameter : manifest.parameters)
    text += fmt::format("\n{} = {}", parameter.name, parameter.defaultValue.value_or(""));
  return text;
}

std::string findAssembler(std::string_view cubin) {
  const runtime::Bytes bytes(reinterpret_cast<const uint8_t *>(cubin.data()), cubin.size());
  runtime::Result<std::string_view> note = runtime::findElfSection(bytes, ".note.nv.tkinfo");
  if (!note)
    return {};
  const size_t at = note->find(", V"); // "Cuda compilation tools, release 13.0, V13.0.88"
  if (at == std::string_view::npos)
    return {};
  std::string_view version = note->substr(at + 2);
  version = version.substr(0, version.find_first_not_of("V.0123456789"));
  const size_t level = note->find("-O "); // its command line follows
  return std::string(version) +
         (level == std::string_view::npos ? "" : " -O" + std::string(note->substr(level + 3, 1)));
}

} // namespace tile::order
