// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Decides which variants are worth their size, and prints the table that explains it.
#include "Driver/VariantArtifact.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <numeric>

using llvm::formatv;
using tile::runtime::Manifest;
using tile::runtime::Parameter;

namespace tile::driver {

char BudgetError::ID = 0;

namespace {

/// Returns the manifest without its name, assumptions (alignment, divisibility) and expected cost.
std::string describeCode(Manifest manifest) {
  manifest.variant.clear();
  manifest.isAlternative = false;
  manifest.cost.reset();
  manifest.programs.reset();
  for (Parameter &parameter : manifest.parameters)
    parameter.alignment = parameter.divisibility = 1;
  return runtime::toJson(manifest);
}

/// Returns true if `manifest` accepts every call that `other` accepts.
bool takesAllOf(const Manifest &manifest, const Manifest &other) {
  return llvm::all_of(manifest.parameters, [&](const Parameter &parameter) {
    const Parameter *same = other.findParameter(parameter.name);
    return same && same->alignment % parameter.alignment == 0 && same->divisibility % parameter.divisibility == 0;
  });
}

bool makesRedundant(const runtime::PackedVariant &kept, const runtime::PackedVariant &other) {
  return kept.manifest.target == other.manifest.target && kept.image == other.image &&
         takesAllOf(kept.manifest, other.manifest) && describeCode(kept.manifest) == describeCode(other.manifest);
}

/// Formats assumptions as "lda:8 x:1"; "nothing" if there are none.
std::string describePromises(const Manifest &manifest, const Manifest &general) {
  std::string text;
  for (const Parameter &parameter : general.parameters) {
    const Parameter *own = manifest.findParameter(parameter.name);
    auto constant = llvm::find_if(manifest.constants, [&](auto &entry) { return entry.first == parameter.name; });
    if (own && own->alignment > 1)
      text += formatv(" {0}:{1}", parameter.name, own->alignment);
    else if (own && own->divisibility > 1)
      text += formatv(" {0}%{1}", parameter.name, own->divisibility);
    else if (!own && constant != manifest.constants.end() && std::holds_alternative<int64_t>(constant->second))
      text += formatv(" {0}={1}", parameter.name, std::get<int64_t>(constant->second));
  }
  return text.empty() ? "nothing" : text.substr(1);
}

} // namespace

void dropRedundant(std::vector<MadeVariant> &made, std::vector<SkippedVariant> &skipped) {
  std::vector<MadeVariant> kept;
  for (MadeVariant &variant : made) {
    auto same = llvm::find_if(kept, [&](const MadeVariant &one) { return makesRedundant(one.packed, variant.packed); });
    if (same == kept.end())
      kept.push_back(std::move(variant));
    else
      skipped.push_back({variant.packed.manifest.variant, variant.packed.manifest.target,
                         "the same code as " + same->packed.manifest.variant});
  }
  made = std::move(kept);
}

llvm::Expected<std::string> writeArtifact(llvm::ArrayRef<MadeVariant> made, EmitKind emit) {
  std::vector<runtime::PackedVariant> packed;
  for (const MadeVariant &variant : made)
    packed.push_back(variant.packed);
  const std::string &target = packed.front().manifest.target;
  bool isPtx = packed.front().manifest.format == "ptx";
  bool isPack = emit == EmitKind::Tilepack || (isPtx && packed.size() > 1) ||
                llvm::any_of(packed, [&](const auto &variant) { return variant.manifest.target != target; });
  if (!isPack && packed.size() == 1) { // a single variant is written as if there were no variants
    packed.front().manifest.variant.clear();
    packed.front().manifest.isFallback = false;
    packed.front().manifest.cost.reset();
    packed.front().manifest.programs.reset();
  }
  const std::string &elf = made.front().packed.image;
  runtime::Result<std::string> artifact =
      isPack ? runtime::writePack(packed)
             : runtime::appendVariants({reinterpret_cast<const uint8_t *>(elf.data()), elf.size()}, packed);
  if (!artifact)
    return llvm::createStringError("internal error: " + artifact.error().message);
  return std::move(*artifact);
}

llvm::Expected<std::string> fitToBudget(std::vector<MadeVariant> &made, EmitKind emit, uint64_t budget,
                                        std::vector<SkippedVariant> &skipped) {
  auto isNeeded = [](const MadeVariant &variant) { return variant.rank == 0 || variant.isNeeded; };
  // The variants that are needed come first, then the most useful ones, alternating between targets.
  std::vector<size_t> order(made.size());
  std::iota(order.begin(), order.end(), 0);
  llvm::stable_sort(order, [&](size_t a, size_t b) {
    return std::pair(!isNeeded(made[a]), made[a].rank) < std::pair(!isNeeded(made[b]), made[b].rank);
  });
  size_t generals = llvm::count_if(made, [](const MadeVariant &variant) { return variant.rank == 0; });
  size_t needed = llvm::count_if(made, isNeeded);
  auto first = [&](size_t count) {
    std::vector<size_t> chosen(order.begin(), order.begin() + count);
    llvm::sort(chosen); // restores the original order
    std::vector<MadeVariant> variants;
    for (size_t index : chosen)
      variants.push_back(made[index]);
    return variants;
  };
  // Binary search for the number of variants that fit, between `fits` and `most`.
  size_t fits = 0, most = made.size();
  std::string artifact;
  for (size_t tried = most; fits < most; tried = std::max(needed, fits + (most - fits + 1) / 2)) {
    llvm::Expected<std::string> bytes = writeArtifact(first(tried), emit);
    if (!bytes)
      return bytes.takeError();
    if (bytes->size() > budget && tried == needed)
      return llvm::make_error<BudgetError>(
          formatv("even with only its general variant{0} the artifact has {1} bytes, but --variants-budget allows {2}",
                  needed > generals ? "s" : "", bytes->size(), budget)
              .str());
    if (bytes->size() > budget) {
      most = tried - 1;
      continue;
    }
    fits = tried;
    artifact = std::move(*bytes);
  }
  for (size_t index : llvm::ArrayRef(order).drop_front(fits))
    skipped.push_back({made[index].packed.manifest.variant, made[index].packed.manifest.target,
                       formatv("the artifact would exceed {0} bytes", budget)});
  made = first(fits);
  return artifact;
}

std::string describeVariants(llvm::ArrayRef<MadeVariant> made, llvm::ArrayRef<SkippedVariant> skipped,
                             size_t artifactBytes) {
  size_t width = 7;
  for (const MadeVariant &variant : made)
    width = std::max(width, variant.packed.manifest.variant.size());
  auto name = [&](llvm::StringRef text) { return text.str() + std::string(width - text.size(), ' '); };
  std::string text = name("variant") + "  target   registers  spilled  shared    bytes  seconds  promises; for\n";
  for (const MadeVariant &variant : made) {
    const Manifest &manifest = variant.packed.manifest;
    text += formatv("{0}  {1,-8} {2,9} {3,8} {4,7} {5,8} {6,8:F2}  {7}; {8}\n", name(manifest.variant), manifest.target,
                    manifest.launch.registers, manifest.launch.spillBytes,
                    manifest.launch.sharedStatic + manifest.launch.sharedDynamic, variant.packed.image.size(),
                    variant.seconds, describePromises(manifest, made.front().packed.manifest), variant.why);
  }
  for (const SkippedVariant &variant : skipped)
    text += formatv("omitted: {0} for {1}: {2}\n", variant.name, variant.target, variant.why);
  return text + formatv("{0} variant{1} in {2} bytes\n", made.size(), made.size() == 1 ? "" : "s", artifactBytes).str();
}

} // namespace tile::driver
