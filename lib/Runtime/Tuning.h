// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tuning tables: the variant that was measured to be the fastest, for each size on one device.
//
//   {"schema": 1, "kernel": "matmul", "source": "sha256:...", "pack": "fnv1a64:...", "device": "NVIDIA H200",
//    "driver": 12080, "parameters": ["M", "N", "K"],
//    "variants": ["sm_90a general", "sm_90a aligned-128x256x64"],
//    "entries": [{"sizes": [4096, 4096, 4096], "serves": "3f", "variant": "aligned-128x256x64",
//                 "microseconds": 181.2}]}
//
// A table is valid only for the variants, the device and the major version of the driver with which it was measured;
// "pack" identifies the variants. "serves" is the set of variants that accept the call (Chooser::callClass). Among the
// entries of its class, a call uses the entry for its sizes. If there is none, it uses the entry for the nearest sizes,
// where distances are computed from the logarithms of the ratios of sizes. Each size must be within a factor of two of
// the call's, unless there is no model of the variants' times.
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
  std::vector<int64_t> sizes; ///< values of the table's parameters
  std::string serves;         ///< class of the call
  std::string variant;
  double microseconds = 0;

  bool operator==(const TuningEntry &) const = default;
};

struct TuningTable {
  std::string kernel;
  std::string source; ///< hash of the source of the kernel
  std::string pack;   ///< hash of the variants
  std::string device; ///< name reported by the driver
  int driver = 0;     ///< cuDriverGetVersion: 1000 times the major version, 10 times the minor one; 0: unknown
  std::vector<std::string> parameters;
  std::vector<TuningEntry> entries;
  /// "TARGET NAME" of each variant that was measured, in the order of "serves"; empty in tables of earlier versions.
  std::vector<std::string> variants = {};

  bool operator==(const TuningTable &) const = default;
};

Result<TuningTable> parseTuning(std::string_view json);
Result<TuningTable> readTuningFile(const std::string &path);

/// Returns JSON with sorted entries, one per line. If entries differ only in time, keeps the fastest.
std::string toJson(const TuningTable &table);

/// Merges the entries of both tables. Rejects tables for different variants, devices or parameters. Keeps the newer
/// driver version.
Result<TuningTable> mergeTuning(const TuningTable &a, const TuningTable &b);

/// Checks that the table is for these variants on this device; the error states what differs.
Status checkTuning(const TuningTable &table, const Pack &pack, std::string_view device, int driver);

/// Converts a table that was measured for a larger pack of the same source into a table for this pack. Skips entries
/// whose variant the pack lacks. Fails if kernel or source differ, if the pack has a variant that was not measured, or
/// if no entry remains.
Result<TuningTable> transferTuning(const TuningTable &table, const Pack &pack);

/// Returns the names of a pack's variants in the format of TuningTable::variants.
std::vector<std::string> namesOfVariants(const Pack &pack);

/// Returns the artifact (a cubin with variants, or a .tilepack) with this table, which replaces any table for the same
/// device. Launches use the table automatically.
Result<std::string> withTuning(std::span<const uint8_t> artifact, const TuningTable &table);

} // namespace tile::runtime
