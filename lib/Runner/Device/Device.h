// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where a kernel runs. The runner prepares buffers in host memory; a device runs the kernel on them and leaves its
// results in the same memory, guards included, so that all checks are the same for every device.
#pragma once

#include "Runner/Inputs/HostBuffer.h"

#include <array>

namespace tile::runner {

class CudaDevice;

using Grid = std::array<int64_t, 3>;

/// One kernel argument: a buffer for a pointer, else the bits of the scalar in the kernel ABI, right-aligned.
struct DeviceArgument {
  const runtime::Parameter *parameter = nullptr;
  HostBuffer *buffer = nullptr;
  uint64_t bits = 0;
  /// Of a table of addresses: the argument whose address is missing in its elements.
  std::optional<size_t> pointsInto;
};

/// While it lives, the elements of tables are addresses. `values[i]` is the address of argument i.
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
  double milliseconds = -1; ///< of the kernel itself; negative: not measured
};

/// A device that holds one compiled kernel.
class Device {
public:
  virtual ~Device() = default;
  virtual std::string name() const = 0;
  /// What `num_sms` means in expressions.
  virtual int multiprocessorCount() const = 0;
  /// The option that chooses what the last run did, where runs differ: "--order=seed:3".
  virtual std::string lastRun() const { return {}; }
  /// The CUDA device behind this one; only it can be measured.
  virtual CudaDevice *asCuda() { return nullptr; }
  /// Runs the kernel once, to its end. The grid has been checked to be non-negative.
  virtual Result<RunTiming> run(const runtime::Manifest &manifest, const Grid &grid,
                                std::span<DeviceArgument> arguments) = 0;
};

} // namespace tile::runner
