// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The properties of a call for which a kernel is specialized, and the lock-free table of specializations.
#pragma once

#include "tile/tilert.h"

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace tile::jit {

/// The properties of a call that select a specialization.
struct CallClass {
  std::array<uint64_t, TILE_MAX_PARAMETERS / 64> aligned = {}; ///< bit i: parameter i is a multiple of 16
  uint64_t sizes = 0; ///< hash of the bit lengths of all integers; 0 if sizes are ignored

  bool has(const CallClass &other) const { // whether all parameters that are aligned in `other` are also aligned here
    return (other.aligned[0] & ~aligned[0]) == 0 && (other.aligned[1] & ~aligned[1]) == 0;
  }
  bool operator==(const CallClass &other) const { return aligned == other.aligned && sizes == other.sizes; }
  uint64_t hash() const;
};

/// The properties of a parameter that determine the class of a call.
struct Parameter {
  std::string name;
  bool isPointer = false;
  uint32_t bytes = 0; ///< 0: the kernel is never specialized for the parameter (floats, booleans)
};

std::vector<Parameter> parametersOf(const tile_kernel *kernel);

/// Returns the assumptions of a kernel: the parameters that must be multiples of 16.
CallClass promisesOf(const tile_kernel *kernel);

CallClass classify(const std::vector<Parameter> &parameters, bool countsSizes, void *const *arguments);

/// Returns the tilec options that specialize a kernel for this class; `arguments` belong to a call in the class.
std::vector<std::string> optionsFor(const std::vector<Parameter> &parameters, const CallClass &wanted,
                                    void *const *arguments);

/// The specialized kernel for one class; null while it is being compiled, or if that failed.
struct Specialization {
  CallClass of;
  std::vector<std::string> options;
  std::atomic<tile_kernel *> kernel = nullptr;
  bool hasConstantsOfGeneral = false; ///< written before `kernel`
};

/// An append-only table of at most `most` entries, in which lookups take no lock.
class SpecializationTable {
public:
  static constexpr size_t most = 32;

  Specialization *find(const CallClass &wanted) const;
  /// Returns the entry for `wanted`, which is added if there is none. Returns null if that would exceed `limit`
  /// entries. Sets `isNew` if the entry was added.
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
