// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Interface of devices. The runner prepares buffers in host memory. A device runs the kernel on them and leaves its
// results in the same memory, including guards, so that all checks are the same for every device.
#pragma once

#include "Runner/Inputs/HostBuffer.h"

#include <array>

namespace tile::runner {

class CudaDevice;

using Grid = std::array<int64_t, 3>;

/// A kernel argument: a buffer for a pointer, otherwise the bits of the scalar in the kernel ABI, right-aligned.
struct DeviceArgument {
  const runtime::Parameter *parameter = nullptr;
  HostBuffer *buffer = nullptr;
  uint64_t bits = 0;
  /// For a table of addresses: the argument whose address must be added to the elements.
  std::optional<size_t> pointsInto;
};

/// Makes the elements of tables absolute addresses during its lifetime. `values[i]` is the address of argument i.
class Addressed {
public:
  Addressed(std::span<DeviceArgument> arguments, std::span<const uint64_t> values)
      : arguments(arguments), values(values.begin(), values.end()) {
    add(1);
  }
  ~Addressed() { add(uint64_t(-1)); }
  Addressed(const Addressed &) = delete;

private:
  void add(uint64_t sign) {
    for (const DeviceArgument &argument : arguments)
      if (argument.buffer && argument.pointsInto)
        addAddress(*argument.buffer, sign * values[*argument.pointsInto]);
  }
  std::span<DeviceArgument> arguments;
  const std::vector<uint64_t> values;
};

struct RunTiming {
  double milliseconds = -1; ///< duration of the kernel; negative: not measured
};

/// A device that has loaded one kernel.
class Device {
public:
  virtual ~Device() = default;
  virtual std::string name() const = 0;
  /// Returns the value of `num_sms` in expressions.
  virtual int multiprocessorCount() const = 0;
  /// Returns the option that reproduces the last run if runs differ: "--order=seed:3".
  virtual std::string lastRun() const { return {}; }
  /// Returns the CUDA device, the only kind that can be measured; null for others.
  virtual CudaDevice *asCuda() { return nullptr; }
  /// Runs the kernel once, to completion. The grid has been checked to be non-negative.
  virtual Result<RunTiming> run(const runtime::Manifest &manifest, const Grid &grid,
                                std::span<DeviceArgument> arguments) = 0;
};

} // namespace tile::runner
