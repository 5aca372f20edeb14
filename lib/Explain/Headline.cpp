// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The first sentences of a page: how far the kernel is from the roofline of the GPU, whether the grid fills the device,
// and what to do first.
#include "Explain/Evidence.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace tile::explain {
namespace {

/// Share of the multiprocessors that must have a thread block; below it, the device counts as empty.
constexpr double emptyShare = 0.9;
constexpr double nearRoof = 0.7; ///< share of the roofline above which there is little to gain
/// Threshold of (bytes moved) / (size of the arrays); above it, blocks should share more data.
constexpr double rereads = 2;

/// Returns the expected microseconds according to the cost model. Without a cost model, returns the modelled time of
/// one thread block times the number of waves, but at least the time of the roofline.
double expectedTime(const Evidence &evidence, const Json &document) {
  if (evidence.expectedMicroseconds > 0)
    return evidence.expectedMicroseconds;
  const double clock = document["pipeline"]["clock_ghz"], waves = document["grid"]["waves"];
  const double least = document["resources"]["roofline"]["least_us"];
  return std::max(least, evidence.timeline.clocks * std::ceil(waves) / (clock * 1e3));
}

std::string advice(const Json &document, double share, uint64_t blocks, uint64_t sms) {
  const Json &roof = document["resources"]["roofline"];
  if (double(blocks) < emptyShare * double(sms))
    return fmt::format(
        "The grid is too small for the device: {} thread block{} leave{} {} of {} multiprocessors idle. Use "
        "smaller blocks, let several programs share a row or a reduction (split K), or give it larger "
        "sizes.",
        blocks, blocks == 1 ? "" : "s", blocks == 1 ? "s" : "", sms - std::min(blocks, sms), sms);
  if (share >= nearRoof)
    return "Only fewer bytes or operations can make it much faster: smaller types, or fusion with its neighbours.";
  if (!document["findings"].empty())
    return "Begin with the first finding below.";
  const double least = roof["least_bytes"], moved = roof["moved_bytes"];
  if (roof["bound"] == "memory" && moved > rereads * least)
    return fmt::format("The multiprocessors move {:.1f} times the bytes of all arrays: larger blocks, or an order of "
                       "programs that shares L2, would reuse more.",
                       moved / least);
  return "No unit is busy all the time: keep more in flight, with more stages (num_stages), more resident thread "
         "blocks "
         "(smaller blocks, fewer registers) or more work per program.";
}

} // namespace

Json describeHeadline(const Evidence &evidence, const Json &document) {
  const Json &roof = document["resources"]["roofline"];
  const double least = roof["least_us"], expected = expectedTime(evidence, document);
  const double share = expected > 0 ? std::min(least / expected, 1.0) : 0;
  const uint64_t blocks = document["grid"]["thread_blocks"], sms = document["grid"]["multiprocessors"];
  return {
      {"share", share},
      {"expected_us", expected},
      {"text", fmt::format("About {:.0f} % of the roofline of {} (modelled): {:.3g} µs, of which {} need{} {:.3g}. {}",
                           100 * share, evidence.gpu.deviceName, expected, roof["bound"].get<std::string>(),
                           roof["bound"] == "tensor cores" ? "" : "s", least, advice(document, share, blocks, sms))}};
}

} // namespace tile::explain
