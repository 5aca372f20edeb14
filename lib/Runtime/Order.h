// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The record in the manifest that determines the bits of a kernel's results.
//
//   "order": {"value": "91d3…", "program": "0f2c…", "steps": "77ab…", "arithmetic": "c05e…",
//             "list": ["39:15: dot f16 x f16 -> f32 by wgmma: 64 elements of K in order, 16 in an instruction"]}
//
// If two kernels have the same value, a call with the same arguments gives the same bits, on one model of GPU. Kernels
// without a value (`unknown` says why) are never equal. tools/docs/pages/same-bits.md says what the parts cover.
#pragma once

#include <string>
#include <vector>

namespace tile::runtime {

struct Order {
  std::string value;             ///< hash of the parts; empty if something is unknown, or the order not fixed
  std::string program;           ///< hash of the tile program: which elements are combined
  std::string steps;             ///< hash of `list` with layouts and positions
  std::string arithmetic;        ///< hash of the floating-point instructions
  std::vector<std::string> list; ///< the order in readable form
  std::vector<std::string> unknown;

  bool isRecorded() const { return !value.empty() || !unknown.empty(); }
  bool operator==(const Order &) const = default;
};

/// Returns why two kernels may have different bits; empty if they have the same.
std::string explainDifference(const Order &first, const Order &second);

} // namespace tile::runtime
