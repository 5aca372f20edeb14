// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tuning tables: which variant was measured to be the fastest for which sizes, on one device.
//
//   {"schema": 1, "kernel": "matmul", "source": "sha256:...", "pack": "fnv1a64:...", "device": "NVIDIA H200",
//    "driver": 12080, "parameters": ["M", "N", "K"],
//    "entries": [{"sizes": [4096, 4096, 4096], "serves": "3f", "variant": "aligned-128x256x64", "microseconds":
//    181.2}]}
//
// A table is for the variants that were measured: one of other variants ("pack"), another device or another major
// version of the driver is refused, not used. "serves" says which variants could have been taken (Chooser::callClass).
// A call takes, of the entries of its class: those for its sizes; else those for the nearest sizes, by the logarithms
// of their ratios, none of them beyond a factor of two, or beyond all factors if no model knows how long variants take.
#pragma once

#include "Runtime/Result.h"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace tile::runtime {

class Pack;

constexpr int tuningSchema = 1;

struct TuningEntry {
  std::vector<int64_t> sizes; ///< of the table's parameters
  std::string serves;         ///< class of the call
  std::string variant;
  double microseconds = 0;

  bool operator==(const TuningEntry &) const = default;
};

struct TuningTable {
  std::string kernel;
  std::string source; ///< hash of the kernel's source
  std::string pack;   ///< hash of its variants
  std::string device; ///< as the driver names it
  int driver = 0;     ///< cuDriverGetVersion: 1000 times the major version, 10 times the minor one; 0: unknown
  std::vector<std::string> parameters;
  std::vector<TuningEntry> entries;

  bool operator==(const TuningTable &) const = default;
};

Result<TuningTable> parseTuning(std::string_view json);
Result<TuningTable> readTuningFile(const std::string &path);

/// Sorted, an entry a line; of entries that differ in their times alone the fastest is kept.
std::string toJson(const TuningTable &table);

/// Both tables' entries. Refuses tables that are not of the same variants, device and parameters. The newer driver's
/// version is kept.
Result<TuningTable> mergeTuning(const TuningTable &a, const TuningTable &b);

/// Whether the table is for these variants on this device; the error says what differs.
Status checkTuning(const TuningTable &table, const Pack &pack, std::string_view device, int driver);

/// The artifact, a cubin with variants or a .tilepack, with the table in it, instead of one that it has for the same
/// device. Launches use it without being told to.
Result<std::string> withTuning(std::span<const uint8_t> artifact, const TuningTable &table);

} // namespace tile::runtime
