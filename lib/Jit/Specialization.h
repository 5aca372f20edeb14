// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What of a call a kernel is compiled for, and the table of kernels by it.
#pragma once

#include "tile/tilert.h"

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace tile::jit {

/// As much of a call as tells kernels apart.
struct CallClass {
  std::array<uint64_t, TILE_MAX_PARAMETERS / 64> aligned = {}; ///< bit i: parameter i is a multiple of 16
  uint64_t sizes = 0; ///< of the bit lengths of all integers; 0 where sizes do not count

  bool has(const CallClass &other) const { // parameters that are aligned there
    return (other.aligned[0] & ~aligned[0]) == 0 && (other.aligned[1] & ~aligned[1]) == 0;
  }
  bool operator==(const CallClass &other) const { return aligned == other.aligned && sizes == other.sizes; }
  uint64_t hash() const;
};

/// A parameter as far as the class of a call depends on it.
struct Parameter {
  std::string name;
  bool isPointer = false;
  uint32_t bytes = 0; ///< 0: never counts (floats, booleans)
};

std::vector<Parameter> parametersOf(const tile_kernel *kernel);

/// What a kernel promises: of its parameters those that must be multiples of 16.
CallClass promisesOf(const tile_kernel *kernel);

CallClass classify(const std::vector<Parameter> &parameters, bool countsSizes, void *const *arguments);

/// Options of tilec that have a kernel compiled for this class; `arguments` are of a call in it.
std::vector<std::string> optionsFor(const std::vector<Parameter> &parameters, const CallClass &wanted,
                                    void *const *arguments);

/// One kernel for a class; null while it is compiled, and if it cannot be.
struct Specialization {
  CallClass of;
  std::vector<std::string> options;
  std::atomic<tile_kernel *> kernel = nullptr;
  bool hasConstantsOfGeneral = false; ///< written before `kernel`
};

/// Grows only, up to `most`. Finding takes no lock.
class SpecializationTable {
public:
  static constexpr size_t most = 32;

  Specialization *find(const CallClass &wanted) const;
  /// Null if there are `limit` already; `isNew` tells whether it was there.
  Specialization *add(const CallClass &wanted, size_t limit, bool &isNew);
  size_t size() const { return count.load(std::memory_order_acquire); }
  Specialization &operator[](size_t index) { return *entries[index]; }

private:
  static constexpr size_t slots = 2 * most; // a power of two

  std::mutex adding;
  std::atomic<size_t> count = 0;
  std::array<std::unique_ptr<Specialization>, most> entries;
  std::array<std::atomic<Specialization *>, slots> table = {};
};

} // namespace tile::jit
