// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The interface of devices. The runner prepares buffers in host memory. A device runs the kernel on these buffers and
// leaves the results, including the guards, in the same memory, so all checks are the same for every device.
#pragma once

#include "Runner/Inputs/HostBuffer.h"

#include <array>

namespace tile::runner {

class CudaDevice;

using Grid = std::array<int64_t, 3>;

/// A kernel argument: the buffer of a pointer, or the bits of a scalar, right-aligned, as the kernel ABI passes them.
struct DeviceArgument {
  const runtime::Parameter *parameter = nullptr;
  HostBuffer *buffer = nullptr;
  uint64_t bits = 0;
  /// For a table of addresses: the argument whose address must be added to the table's elements.
  std::optional<TableTarget> pointsInto;
};

/// The addresses of this rank's arguments and, for tables with addresses of peers, those of all ranks.
struct Addresses {
  std::span<const uint64_t> own;                ///< one per argument
  std::vector<std::span<const uint64_t>> peers; ///< one entry per rank; empty for a run on one device

  uint64_t of(const DeviceArgument &table, size_t element) const {
    return (table.pointsInto->isOfPeers && !peers.empty() ? peers[element] : own)[table.pointsInto->parameter];
  }
};

/// Turns the elements of tables into absolute addresses for the lifetime of this object.
class Addressed {
public:
  Addressed(std::span<DeviceArgument> arguments, Addresses addresses)
      : arguments(arguments), addresses(std::move(addresses)) {
    add(1);
  }
  Addressed(std::span<DeviceArgument> arguments, std::span<const uint64_t> values)
      : Addressed(arguments, Addresses{values, {}}) {}
  ~Addressed() { add(uint64_t(-1)); }
  Addressed(const Addressed &) = delete;

private:
  void add(uint64_t sign) {
    for (const DeviceArgument &argument : arguments)
      if (argument.buffer && argument.pointsInto)
        addAddresses(*argument.buffer, [&](size_t element) { return sign * addresses.of(argument, element); });
  }
  std::span<DeviceArgument> arguments;
  const Addresses addresses;
};

struct RunTiming {
  double milliseconds = -1; ///< duration of the kernel; negative: not measured
};

/// A device that has loaded one kernel.
class Device {
public:
  virtual ~Device() = default;
  virtual std::string name() const = 0;
  /// Returns the number of multiprocessors, the value of `num_sms` in expressions.
  virtual int multiprocessorCount() const = 0;
  /// Returns the option that reproduces the last run, such as "--order=seed:3"; empty if all runs are the same.
  virtual std::string lastRun() const { return {}; }
  /// Returns this device if it is a CUDA device, the only kind on which time can be measured; otherwise null.
  virtual CudaDevice *asCuda() { return nullptr; }
  /// Runs the kernel on several GPUs of this kind at the same time, which can access each other's buffers. `ranks`
  /// contains the arguments for each GPU.
  virtual Result<RunTiming> runOnRanks(const runtime::Manifest &manifest, const Grid &grid,
                                       std::span<std::vector<DeviceArgument>> ranks) {
    if (ranks.size() == 1)
      return run(manifest, grid, ranks[0]);
    return runtime::makeError(TILE_ERROR_UNSUPPORTED, "the device '{}' cannot run several ranks", name());
  }
  /// Runs the kernel once, to completion. The caller has checked that the grid is not negative.
  virtual Result<RunTiming> run(const runtime::Manifest &manifest, const Grid &grid,
                                std::span<DeviceArgument> arguments) = 0;
};

} // namespace tile::runner
