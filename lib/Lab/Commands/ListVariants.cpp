// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tile-run list-variants gemm.cubin M=4096 N=4096 K=4096
//
//   matmul on cuda:0 NVIDIA H200 (132 multiprocessors): M=4096 N=4096 K=4096
//   * aligned-128x256x64             181.20 us
//     aligned-128x128x64             201.52 us
//     general                        990.13 us
//     rows-64x64x64                            parameter 5 'K' is 4096; this variant is for 64
#include "Lab/Commands/Commands.h"
#include "Runner/Device/Variants.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace tile::runner {
namespace {

struct Listed {
  std::string name, target;
  double microseconds = -1;                 ///< negative: unknown
  std::string obstacle;                     ///< empty: the variant serves the call
  bool isFallback = false;                  ///< used only if no other variant serves the call
  bool isAlternative = false;               ///< used only if a tuning table chooses it
  bool isTaken = false, isMeasured = false; ///< measured: chosen by a tuning table
};

std::vector<Listed> listAll(const Variants &variants, const runtime::Call &call) {
  const runtime::Chooser &chooser = variants.chooser();
  const runtime::Choice choice = chooser.choose(call, variants.onDevice());
  std::vector<Listed> listed;
  for (size_t i = 0; i < chooser.size(); ++i) {
    Listed variant;
    variant.name = chooser.manifest(i).variant.empty() ? "(the only one)" : chooser.manifest(i).variant;
    variant.target = chooser.manifest(i).target;
    variant.isFallback = chooser.manifest(i).isFallback;
    variant.isAlternative = chooser.manifest(i).isAlternative;
    if (Status status = chooser.explain(i, call, variants.onDevice()); !status)
      variant.obstacle = status.error().message;
    else
      variant.microseconds = chooser.estimate(i, call, variants.onDevice());
    variant.isTaken = choice.index == static_cast<int32_t>(i);
    variant.isMeasured = variant.isTaken && choice.isMeasured;
    if (variant.isMeasured && choice.microseconds >= 0)
      variant.microseconds = choice.microseconds;
    listed.push_back(std::move(variant));
  }
  // Sort the chosen variant first, then by time. Variants without a time, fallbacks, alternatives, and variants that do
  // not serve the call come last.
  const auto key = [](const Listed &variant) {
    return std::tuple(!variant.isTaken, !variant.obstacle.empty(), variant.isFallback, variant.isAlternative,
                      variant.microseconds < 0, variant.microseconds);
  };
  std::stable_sort(listed.begin(), listed.end(), [&](const Listed &a, const Listed &b) { return key(a) < key(b); });
  return listed;
}

void printText(const std::vector<Listed> &listed, bool hasTargets) {
  size_t width = 0;
  for (const Listed &variant : listed)
    width = std::max(width, variant.name.size());
  for (const Listed &variant : listed) {
    const std::string time = variant.microseconds >= 0 ? fmt::format("{:.2f} us", variant.microseconds) : std::string();
    const std::string note = !variant.obstacle.empty()                ? variant.obstacle
                             : variant.isMeasured                     ? "chosen by measurement"
                             : variant.isAlternative                  ? "only if a tuning table chooses it"
                             : variant.isFallback && !variant.isTaken ? "only for calls that no other variant serves"
                             : variant.microseconds >= 0              ? ""
                             : listed.size() == 1 ? "nothing to choose, so no estimate"
                                                  : "its time is not modelled; measure it with tile-run tune";
    std::string line = fmt::format("{} {:<{}}{} {:>13}  {}", variant.isTaken ? '*' : ' ', variant.name, width,
                                   hasTargets ? fmt::format(" {:<8}", variant.target) : "", time, note);
    line.erase(line.find_last_not_of(' ') + 1);
    fmt::print("{}\n", showControls(line));
  }
}

void printJson(const Variants &variants, const std::string &device, const std::string &arguments,
               const std::vector<Listed> &listed) {
  nlohmann::ordered_json json = {{"kernel", variants.artifact().manifest.kernel},
                                 {"device", device},
                                 {"multiprocessors", variants.multiprocessors()},
                                 {"arguments", arguments},
                                 {"variants", nlohmann::ordered_json::array()}};
  if (const std::optional<target::Card> &card = variants.artifact().manifest.card)
    json["card"] = card->name;
  for (const Listed &variant : listed) {
    nlohmann::ordered_json item = {{"name", variant.name}, {"target", variant.target}, {"taken", variant.isTaken}};
    if (!variant.obstacle.empty())
      item["obstacle"] = variant.obstacle;
    if (variant.microseconds >= 0)
      item["expected_us"] = variant.microseconds;
    if (variant.isMeasured)
      item["by_measurement"] = true;
    json["variants"].push_back(std::move(item));
  }
  fmt::print("{}\n", json.dump());
}

int listVariants(const RunOptions &options, const runtime::Artifact &artifact) {
  Result<DeviceLoader> loader = DeviceLoader::open(options);
  if (!loader)
    return reportFailure(options, loader.error());
  Result<Variants> variants = Variants::open(options, artifact, *loader);
  if (!variants)
    return reportFailure(options, variants.error());
  Result<CallValues> values = CallValues::bind(options, artifact.manifest, variants->multiprocessors());
  if (!values)
    return reportFailure(options, values.error());
  const std::vector<Listed> listed = listAll(*variants, values->call());
  const std::string arguments = values->bindings().summary(artifact.manifest);
  if (options.format == "json") {
    printJson(*variants, loader->name(), arguments, listed);
    return 0;
  }
  fmt::print("{} on {} ({} multiprocessors): {}\n", artifact.manifest.kernel, loader->name(),
             variants->multiprocessors(), arguments);
  if (const std::optional<target::Card> &card = variants->artifact().manifest.card)
    fmt::print("times from constants {} {}{}{}\n",
               card->isMeasured() ? "measured on" : "modelled from the properties of", card->name,
               card->date.empty() ? "" : ", ", card->date);
  const bool hasTargets = std::any_of(listed.begin(), listed.end(),
                                      [&](const Listed &variant) { return variant.target != listed[0].target; });
  printText(listed, hasTargets);
  if (std::none_of(listed.begin(), listed.end(), [](const Listed &variant) { return variant.isTaken; }))
    fmt::print("no variant serves this call\n");
  return 0;
}

} // namespace

Action addListVariants(CLI::App &app, const RunOptions &start) {
  auto options = std::make_shared<RunOptions>(start);
  addArtifact(app, *options);
  addKernelOptions(app, *options);
  addVariantOptions(app, *options);
  for (const char *name : {"--variant", "--seed", "--overlap"})
    app.remove_option(app.get_option(name));
  app.add_option("--sms", options->multiprocessors,
                 "Without a GPU, the number of multiprocessors to assume (default: that of the target GPU)")
      ->check(CLI::Range(1, 1024));
  app.add_option("--format", options->format, "Format of the list: table or json")
      ->check(CLI::IsMember({"table", "json"}))
      ->capture_default_str();
  return [options] {
    return withArtifact(*options, [&](const runtime::Artifact &artifact) { return listVariants(*options, artifact); });
  };
}

} // namespace tile::runner
