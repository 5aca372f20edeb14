// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Driver/FollowOrder.h"

#include "Runtime/Artifact.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using llvm::formatv;
using tile::runtime::Manifest;

namespace tile::driver {
namespace {

std::string nameOf(const Manifest &manifest) {
  return manifest.variant.empty() ? "general" : manifest.variant;
}

/// Gives a plan the integer constants of a manifest: block sizes that the compiler chooses, or constants with defaults.
void copyConstants(const Manifest &manifest, const CompilerOptions &options, VariantPlan &plan) {
  for (const auto &[name, value] : manifest.constants) {
    const int64_t *number = std::get_if<int64_t>(&value);
    if (!number || options.definitions.count(name) || plan.definitions.count(name))
      continue;
    std::optional<int64_t> *choice = nullptr;
    if (plan.tiles)
      choice = name == "BLOCK_M"   ? &plan.tiles->blockM
               : name == "BLOCK_N" ? &plan.tiles->blockN
               : name == "BLOCK_K" ? &plan.tiles->blockK
               : name == "GROUP_M" ? &plan.tiles->groupM
                                   : nullptr;
    if (choice && *choice)
      *choice = *number;
    else if (!choice)
      plan.definitions[name] = std::to_string(*number);
  }
}

} // namespace

llvm::Expected<FollowedOrder> FollowedOrder::read(const std::string &path) {
  runtime::Result<runtime::Artifact> artifact = runtime::readArtifactFile(path);
  if (!artifact)
    return llvm::createStringError("--bits: " + artifact.error().message);
  FollowedOrder order;
  order.path = path;
  for (size_t i = 0; i < runtime::variantCount(*artifact); ++i) {
    const Manifest &manifest = runtime::variantManifest(*artifact, i);
    if (manifest.order.value.empty())
      return llvm::createStringError(
          formatv(
              "--bits: the order of variant '{0}' of '{1}' is {2}, so it is not known which code gives the same bits",
              nameOf(manifest), path,
              manifest.order.unknown.empty() ? "not recorded" : "unknown (" + manifest.order.unknown.front() + ")")
              .str());
    order.manifests.push_back(manifest);
  }
  return order;
}

const Manifest *FollowedOrder::find(const std::string &name, const std::string &target) const {
  for (const Manifest &manifest : manifests)
    if (manifest.target == target && nameOf(manifest) == name)
      return &manifest;
  return nullptr;
}

llvm::Error FollowedOrder::follow(std::vector<VariantPlan> &plans, const CompilerOptions &options) const {
  std::vector<VariantPlan> followed;
  for (const Manifest &manifest : manifests) {
    if (manifest.target != options.target)
      continue;
    auto plan = llvm::find_if(plans, [&](const VariantPlan &one) { return one.name == nameOf(manifest); });
    if (plan == plans.end())
      return llvm::createStringError(
          formatv("--bits: '{0}' has variant '{1}', which is not planned with these options; use "
                  "the options with which it was compiled",
                  path, nameOf(manifest))
              .str());
    copyConstants(manifest, options, *plan);
    followed.push_back(*plan);
  }
  if (followed.empty())
    return llvm::createStringError(formatv("--bits: '{0}' has no variant for {1}", path, options.target).str());
  plans = std::move(followed);
  return llvm::Error::success();
}

void FollowedOrder::keepChoice(Manifest &manifest) const {
  if (const Manifest *old = find(nameOf(manifest), manifest.target)) {
    manifest.cost = old->cost;
    manifest.programs = old->programs;
    manifest.card = old->card;
  }
}

llvm::Error FollowedOrder::check(const Manifest &manifest) const {
  const Manifest *old = find(nameOf(manifest), manifest.target);
  if (!old)
    return llvm::createStringError(
        formatv("--bits: '{0}' has no variant '{1}' for {2}", path, nameOf(manifest), manifest.target).str());
  std::string difference = runtime::explainDifference(old->order, manifest.order);
  if (difference.empty())
    return llvm::Error::success();
  return llvm::createStringError(formatv("--bits: variant '{0}' would not give the bits of '{1}'; of the old "
                                         "kernel, the first, and the new one, the second: {2}",
                                         nameOf(manifest), path, difference)
                                     .str());
}

} // namespace tile::driver
