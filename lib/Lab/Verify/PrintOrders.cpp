// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Lab/Verify/BitContract.h"
#include "Runner/Colours.h"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace tile::runner {
namespace {

using runtime::Manifest;
using runtime::Order;

/// Returns the name of the first variant before `index` with the same value; null if there is none.
const std::string *findSame(const runtime::Artifact &artifact, size_t index) {
  const Order &order = runtime::variantManifest(artifact, index).order;
  for (size_t i = 0; i < index; ++i)
    if (const Manifest &manifest = runtime::variantManifest(artifact, i);
        !order.value.empty() && manifest.order.value == order.value)
      return &manifest.variant;
  return nullptr;
}

void printText(const runtime::Artifact &artifact) {
  fmt::print("{}: order of floating-point additions\n", showControls(artifact.manifest.kernel));
  for (size_t i = 0; i < runtime::variantCount(artifact); ++i) {
    const Manifest &manifest = runtime::variantManifest(artifact, i);
    const Order &order = manifest.order;
    const std::string name = manifest.variant.empty() ? "(the only one)" : manifest.variant;
    std::string text = fmt::format("  {}: {}\n", name, describeOrder(order));
    if (const std::string *same = findSame(artifact, i)) {
      fmt::print("{}", showControls(fmt::format("  {}: {}, as {}\n", name, order.value, *same)));
      continue;
    }
    for (const std::string &step : order.list)
      text += fmt::format("    {}\n", step);
    for (const std::string &reason : order.unknown)
      text += fmt::format("    unknown ({})\n", reason);
    fmt::print("{}", showControls(text));
  }
}

void printJson(const runtime::Artifact &artifact) {
  nlohmann::ordered_json json = {
      {"schema", 1}, {"kernel", artifact.manifest.kernel}, {"variants", nlohmann::ordered_json::array()}};
  for (size_t i = 0; i < runtime::variantCount(artifact); ++i) {
    const Manifest &manifest = runtime::variantManifest(artifact, i);
    nlohmann::ordered_json item = {{"variant", manifest.variant}, {"target", manifest.target}};
    if (manifest.order.value.empty())
      item["value"] = nullptr;
    else
      item["value"] = manifest.order.value;
    item["list"] = manifest.order.list;
    item["unknown"] = manifest.order.unknown;
    json["variants"].push_back(std::move(item));
  }
  fmt::print("{}\n", json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

} // namespace

void printOrders(const runtime::Artifact &artifact, bool isJson) {
  isJson ? printJson(artifact) : printText(artifact);
}

} // namespace tile::runner
