// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A kernel whose parameters are found by name, and the arguments that the plan and the caller provide for them.
#pragma once

#include "Distributed/Driver.h"
#include "tile/tile_dist.h"

#include <array>
#include <initializer_list>
#include <optional>
#include <span>
#include <vector>

namespace tile::dist {

/// The parameters for which plans provide arguments.
enum class Name {
#define NAME(name) name,
#include "Distributed/KernelNames.def"
  numNames
};
constexpr size_t numNames = size_t(Name::numNames);

/// An argument: an address or an integer.
struct Argument {
  Name name;
  int64_t value;
};

class KernelCall {
public:
  /// Resolves the parameters. Every parameter must be in `provided` or have an argument in `extra`, and every name in
  /// `provided` must be a parameter. `role` is the kernel's field in tile_dist_kernels.
  static Result<KernelCall> make(tile_kernel *kernel, const char *role, std::initializer_list<Name> provided,
                                 std::span<const tile_dist_argument> extra);

  /// Loads the kernel's variants into the current context, and returns the number of bytes of scratch memory that they
  /// need.
  Result<size_t> prepare(int multiprocessors);
  /// Provides zeroed scratch memory for launches, so that the first launches need not allocate it.
  void useScratch(CUdeviceptr memory, size_t bytes) {
    scratch = memory;
    scratchBytes = bytes;
  }

  /// Launches in the current context. Allocates nothing. Not thread-safe.
  Status launch(CUstream stream, std::initializer_list<Argument> arguments);
  /// Fails if a launch with these arguments would be rejected because of alignment or sizes. `operand` names the
  /// operand of the caller. Does not affect later launches.
  Status check(int multiprocessors, const char *operand, std::initializer_list<Argument> arguments);
  /// Returns the expected time in microseconds, or nullopt if it is unknown.
  std::optional<double> estimate(int multiprocessors, std::initializer_list<Argument> arguments);

private:
  void set(std::initializer_list<Argument> arguments);
  bool isPointer(Name name) const;
  bool hasAccepted(std::initializer_list<Argument> arguments) const;
  /// Finds the variant that a launch would use; returns the status of libtilert.
  tile_status choose(int multiprocessors, uint32_t &index);

  tile_kernel *kernel = nullptr;
  const char *role = "";
  CUdeviceptr scratch = 0;
  size_t scratchBytes = 0;
  std::vector<tile_value> values; ///< by parameter
  std::vector<void *> pointers;   ///< the addresses of the values, as a launch expects them
  /// Arguments of successful checks, since a check takes longer than a launch. An address stands for all addresses with
  /// the same alignment.
  std::vector<std::vector<Argument>> accepted;
  std::array<int, numNames> places = {};
};

} // namespace tile::dist
