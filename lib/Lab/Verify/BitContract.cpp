// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Lab/Verify/BitContract.h"

#include <fmt/core.h>

namespace tile::runner {

using runtime::Artifact;
using runtime::Manifest;

std::string describeOrder(const runtime::Order &order) {
  return !order.isRecorded() ? "not recorded" : order.value.empty() ? "unknown" : order.value;
}

/// Returns the manifest without the parts that do not affect the choice of a variant.
static std::string choiceText(Manifest manifest) {
  manifest.compiler.clear();
  manifest.sourceFile.clear();
  manifest.sourceHash.clear();
  manifest.order = {};
  return runtime::toJson(manifest);
}

std::string explainChoice(const Artifact &first, const Artifact &second) {
  const size_t count = runtime::variantCount(first);
  if (count != runtime::variantCount(second))
    return fmt::format("they have {} and {} variants", count, runtime::variantCount(second));
  if (count == 1)
    return {};
  for (size_t i = 0; i < count; ++i) {
    const Manifest &mine = runtime::variantManifest(first, i), &theirs = runtime::variantManifest(second, i);
    if (mine.variant != theirs.variant || mine.target != theirs.target)
      return fmt::format("variant {} is '{}' in one and '{}' in the other", i, mine.variant, theirs.variant);
    if (choiceText(mine) != choiceText(theirs))
      return fmt::format("launches choose '{}' by different conditions or estimates in the two artifacts",
                         mine.variant);
  }
  if ((first.pack && !first.pack->tuning().empty()) || (second.pack && !second.pack->tuning().empty()))
    return "tuning tables choose the variant";
  return {};
}

} // namespace tile::runner
