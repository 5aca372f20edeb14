// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Computes the bottleneck and prints it; the model is in RooflineModel.cpp.
#include "Lab/Bench/Roofline.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace tile::runner {

namespace {

constexpr double bottleneckShare = 0.75;  // minimum share of the kernel's time for a resource to be the bottleneck
constexpr double alternatingShare = 0.25; // minimum share of each of two alternating bottlenecks
constexpr double launchShare = 0.5;       // minimum share of launch overhead, which overlaps with nothing
constexpr double l2PerClock = 64;         // bytes from L2 to a multiprocessor: its port to the crossbar
constexpr double specialPerClock = 16;    // per multiprocessor: CUDA programming guide, "Arithmetic instructions"

/// Returns what to try if this resource is the bottleneck.
std::string adviceFor(const std::string &name, const RooflineFacts &facts) {
  if (name == "memory")
    return facts.memoryBytes.isMeasured && facts.memoryBytes.value > 1.25 * facts.minBytes
               ? fmt::format("{:.2f} times the minimum traffic: keep reused data in shared memory or registers",
                             facts.memoryBytes.value / facts.minBytes)
               : "narrower types, or fusion with the kernel that writes the inputs";
  if (name == "L2")
    return "larger tiles, or clusters that share loads by multicast, so that each block reads less of both operands";
  if (name == "tensor cores")
    return "narrower types (fp8), or, if the clock is throttled, less energy per tile; the schedule cannot help";
  if (name == "special functions")
    return "exp2 instead of exp, with its factor folded into a scale, or a polynomial for part of the elements";
  if (name == "launch")
    return "more work per launch: fuse it with its neighbours, replay it in a graph, or overlap launches (--overlap)";
  return {};
}

std::string evidenceFor(const ResourceShare &share, const RooflineFacts &facts) {
  const double seconds = facts.coldMicroseconds * 1e-6;
  if (share.name == "memory")
    return fmt::format("{:.0f} GB/s, {:.0f} % of the {:.0f} GB/s of a copy", facts.memoryBytes.value / seconds * 1e-9,
                       100 * share.share, facts.ceilings.memoryBytes * 1e-9);
  if (share.name == "L2")
    return fmt::format("{:.0f} GB/s between L2 and multiprocessors, {:.0f} % of 64 bytes per clock each",
                       facts.l2Bytes.value / seconds * 1e-9, 100 * share.share);
  if (share.name == "tensor cores")
    return facts.tensorShare && facts.tensorShare->value > share.share - 1e-9
               ? fmt::format("their pipe is busy in {:.0f} % of the cycles", 100 * facts.tensorShare->value)
               : fmt::format("{:.0f} TFLOP/s, {:.0f} % of the {:.0f} of {}", facts.flops.value / seconds * 1e-12,
                             100 * share.share, facts.ceilings.flops * 1e-12, facts.ceilings.flopsBy);
  if (share.name == "launch")
    return fmt::format("{:.2f} us with a warm cache, where the shortest node of a graph takes {:.2f} us",
                       facts.warmMicroseconds, facts.ceilings.launchMicroseconds);
  return fmt::format("{:.2f} of {:.2f} us", share.microseconds, facts.coldMicroseconds);
}

std::string bytesText(double bytes) {
  return bytes >= 1e9   ? fmt::format("{:.3f} GB", bytes * 1e-9)
         : bytes >= 1e6 ? fmt::format("{:.2f} MB", bytes * 1e-6)
                        : fmt::format("{:.2f} kB", bytes * 1e-3);
}

/// Returns the two resources with the largest shares if each share is significant and both add up to almost the whole
/// time.
std::optional<std::pair<ResourceShare, ResourceShare>> findAlternating(const std::vector<ResourceShare> &shares) {
  if (shares.size() < 2 || shares[0].name == "launch" || shares[1].name == "launch" ||
      shares[1].share < alternatingShare || shares[0].share + shares[1].share < bottleneckShare)
    return std::nullopt;
  return std::pair(shares[0], shares[1]);
}

const char *sourceOf(const Figure &figure) {
  return figure.isMeasured ? "by counters" : "modelled";
}

} // namespace

double RooflineFacts::waves() const {
  const double residentCtas = double(multiprocessors) * std::max(occupancy.ctasPerSm, 1);
  return residentCtas > 0 ? programs / residentCtas : 0;
}

double RooflineFacts::tailEfficiency() const {
  const double count = waves();
  return count > 0 ? count / std::ceil(count) : 1;
}

RooflineVerdict judge(const RooflineFacts &facts) {
  RooflineVerdict verdict;
  const auto add = [&](const char *name, double microseconds, double of, bool isMeasured) {
    if (microseconds > 0 && std::isfinite(microseconds) && of > 0)
      verdict.shares.push_back({name, microseconds, microseconds / of, isMeasured});
  };
  const auto perSecond = [](double work, double rate) { return rate > 0 ? work / rate * 1e6 : 0; };
  const double time = facts.coldMicroseconds;
  add("memory", perSecond(facts.memoryBytes.value, facts.ceilings.memoryBytes), time, facts.memoryBytes.isMeasured);
  const double clocks = facts.clockMhz * 1e6 * facts.multiprocessors; // clock cycles per second of all multiprocessors
  add("L2", perSecond(facts.l2Bytes.value, clocks * l2PerClock), time, facts.l2Bytes.isMeasured);
  double tensor = perSecond(facts.flops.value, facts.ceilings.flops);
  if (facts.tensorShare) // unlike a ceiling, counters do not depend on the clock rate
    tensor = std::max(tensor, facts.tensorShare->value * time);
  add("tensor cores", tensor, time, facts.tensorShare.has_value());
  add("special functions", perSecond(facts.special.value, clocks * specialPerClock), time, facts.special.isMeasured);
  // Launch overhead does not depend on the cache, so compare it with the time for a warm cache, in which memory
  // accounts for a smaller share.
  add("launch", facts.ceilings.launchMicroseconds, facts.warmMicroseconds, true);
  std::stable_sort(verdict.shares.begin(), verdict.shares.end(),
                   [](const ResourceShare &a, const ResourceShare &b) { return a.share > b.share; });
  const double warps = double(facts.occupancy.ctasPerSm) * facts.occupancy.warpsPerCta;
  const auto isBinding = [](const ResourceShare &share) {
    return share.share >= (share.name == "launch" ? launchShare : bottleneckShare);
  };
  if (!verdict.shares.empty() && isBinding(verdict.shares.front())) {
    const ResourceShare &first = verdict.shares.front();
    verdict.bound = first.name;
    verdict.evidence = evidenceFor(first, facts);
    verdict.advice = adviceFor(first.name, facts);
  } else if (const auto pair = findAlternating(verdict.shares)) {
    const auto &[first, second] = *pair;
    verdict.bound = fmt::format("{} and {}, alternating", first.name, second.name);
    verdict.evidence = fmt::format("{:.0f} % and {:.0f} % of the time, one while the other waits", 100 * first.share,
                                   100 * second.share);
    verdict.advice = "overlap them: more stages, or two warp groups in different phases";
  } else if (facts.programs > 0 && facts.tailEfficiency() < 0.7) {
    verdict.bound = "tail";
    verdict.evidence =
        fmt::format("{:.0f} {} make {:.2f} waves: {:.0f} % of the multiprocessors' time is used", facts.programs,
                    facts.isPersistent ? "tiles" : "thread blocks", facts.waves(), 100 * facts.tailEfficiency());
    verdict.advice = "smaller tiles, or several blocks per tile (split-K), so that the last wave is fuller";
  } else {
    verdict.bound = "latency";
    verdict.evidence = fmt::format("no resource is busy most of the time, with {:.0f} of {} warps per multiprocessor{}",
                                   warps, facts.occupancy.maxWarps,
                                   facts.occupancy.limit.empty() ? "" : " (limited by " + facts.occupancy.limit + ")");
    verdict.advice = warps * 2 < facts.occupancy.maxWarps
                         ? "more loads in flight: more stages, or a smaller footprint, so that another block fits"
                         : "more independent work per thread, so that operations need not wait for each other";
  }
  return verdict;
}

std::string formatRoofline(const RooflineFacts &facts, const RooflineVerdict &verdict) {
  const double seconds = facts.coldMicroseconds * 1e-6;
  std::string text = fmt::format("  time         {:.2f} us with a cold L2 cache, {:.2f} us with a warm one (graphs)\n",
                                 facts.coldMicroseconds, facts.warmMicroseconds);
  text += fmt::format("  memory       {} ({}), {:.0f} GB/s\n", bytesText(facts.memoryBytes.value),
                      sourceOf(facts.memoryBytes), facts.memoryBytes.value / seconds * 1e-9);
  text += fmt::format("  L2           {} ({}), {:.0f} GB/s\n", bytesText(facts.l2Bytes.value), sourceOf(facts.l2Bytes),
                      facts.l2Bytes.value / seconds * 1e-9);
  if (facts.flops.value > 0)
    text +=
        fmt::format("  FLOPs        {:.4g} GFLOP, {:.2f} TFLOP/s, {:.1f} per byte of memory; the ridge is at {:.0f}\n",
                    facts.flops.value * 1e-9, facts.flops.value / seconds * 1e-12,
                    facts.flops.value / std::max(facts.memoryBytes.value, 1.0),
                    facts.ceilings.flops / std::max(facts.ceilings.memoryBytes, 1.0));
  if (facts.special.value > 0)
    text += fmt::format("  special      {:.4g} million operations ({})\n", facts.special.value * 1e-6,
                        sourceOf(facts.special));
  text += fmt::format("  occupancy    {} of {} warps per multiprocessor: {} thread block{} of {}{}\n",
                      facts.occupancy.ctasPerSm * facts.occupancy.warpsPerCta, facts.occupancy.maxWarps,
                      facts.occupancy.ctasPerSm, facts.occupancy.ctasPerSm == 1 ? "" : "s", facts.occupancy.warpsPerCta,
                      facts.occupancy.limit.empty() ? "" : ", limited by " + facts.occupancy.limit);
  text += fmt::format("  waves        {:.0f} {} on {} multiprocessors: {:.2f}, {:.0f} % of their time in use\n",
                      facts.programs, facts.isPersistent ? "tiles" : "thread blocks", facts.multiprocessors,
                      facts.waves(), 100 * facts.tailEfficiency());
  if (facts.warpsShare)
    text +=
        fmt::format("  warps        {:.0f} % of those that fit were resident (by counters)\n", 100 * *facts.warpsShare);
  text += facts.whyModelled.empty() ? "" : fmt::format("  no hardware counters: {}\n", facts.whyModelled);
  for (const ResourceShare &share : verdict.shares)
    text += fmt::format("    {:<18} at least {:>9.2f} us {:>5.0f} % of the time\n", share.name, share.microseconds,
                        100 * share.share);
  text += fmt::format("  bound by     {}: {}\n", verdict.bound, verdict.evidence);
  text += fmt::format("  try          {}\n", verdict.advice);
  return text;
}

std::string rooflineJson(const RunReport &report, const RooflineFacts &facts, const RooflineVerdict &verdict) {
  const auto figure = [](const Figure &from) {
    return nlohmann::ordered_json{{"value", from.value}, {"by", sourceOf(from)}};
  };
  nlohmann::ordered_json json = {{"kernel", report.kernel},
                                 {"variant", report.variant},
                                 {"artifact", report.artifact},
                                 {"device", report.device},
                                 {"arguments", report.arguments},
                                 {"cold_us", facts.coldMicroseconds},
                                 {"warm_us", facts.warmMicroseconds},
                                 {"memory_bytes", figure(facts.memoryBytes)},
                                 {"l2_bytes", figure(facts.l2Bytes)},
                                 {"flops", figure(facts.flops)},
                                 {"special_functions", figure(facts.special)},
                                 {"ctas_per_sm", facts.occupancy.ctasPerSm},
                                 {"warps_per_cta", facts.occupancy.warpsPerCta},
                                 {"occupancy_limit", facts.occupancy.limit},
                                 {"waves", facts.waves()},
                                 {"bound", verdict.bound},
                                 {"evidence", verdict.evidence},
                                 {"advice", verdict.advice}};
  if (!facts.whyModelled.empty())
    json["no_counters"] = facts.whyModelled;
  if (facts.tensorShare)
    json["tensor_pipe_share"] = facts.tensorShare->value;
  for (const ResourceShare &share : verdict.shares)
    json["shares"][share.name] = {{"least_us", share.microseconds}, {"share", share.share}};
  return json.dump();
}

} // namespace tile::runner
