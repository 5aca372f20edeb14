// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A kernel with parameters known by name, and the arguments that the plan and the caller provide.
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
  /// Resolves the parameters. Every parameter must be among `provided`, or have an argument of the caller; each of
  /// `provided` must be a parameter. `role` is the kernel's field in tile_dist_kernels.
  static Result<KernelCall> make(tile_kernel *kernel, const char *role, std::initializer_list<Name> provided,
                                 std::span<const tile_dist_argument> extra);

  /// Loads the kernel's variants into the current context, and returns the number of bytes of scratch memory that they
  /// need.
  Result<size_t> prepare(int multiprocessors);
  /// Provides zeroed scratch memory for launches; otherwise the first launches would allocate it.
  void useScratch(CUdeviceptr memory, size_t bytes) {
    scratch = memory;
    scratchBytes = bytes;
  }

  /// Launches in the current context. Allocates nothing. Not thread-safe.
  Status launch(CUstream stream, std::initializer_list<Argument> arguments);
  /// Fails if a launch with these arguments would be rejected, for alignment or sizes. `operand` names what the caller
  /// has passed. Later launches are not affected.
  Status check(int multiprocessors, const char *operand, std::initializer_list<Argument> arguments);
  /// Returns the expected time in microseconds, or none.
  std::optional<double> estimate(int multiprocessors, std::initializer_list<Argument> arguments);

private:
  void set(std::initializer_list<Argument> arguments);
  bool isPointer(Name name) const;
  bool hasAccepted(std::initializer_list<Argument> arguments) const;
  /// Returns the status of libtilert, and the variant that a launch would use.
  tile_status choose(int multiprocessors, uint32_t &index);

  tile_kernel *kernel = nullptr;
  const char *role = "";
  CUdeviceptr scratch = 0;
  size_t scratchBytes = 0;
  std::vector<tile_value> values; ///< by parameter
  std::vector<void *> pointers;   ///< to the values
  /// Arguments of successful checks, which take longer than launches. Addresses stand for all with the same alignment.
  std::vector<std::vector<Argument>> accepted;
  std::array<int, numNames> places = {};
};

} // namespace tile::dist
