// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The manifest: what an artifact says about itself. Plain data, the JSON reader and the JSON writer.
//
//   {"schema": 1, "abi_version": 1, "kernel": "matmul", "entry": "matmul", "target": "sm_90a", "format": "cubin",
//    "parameters": [{"name": "a", "type": "ptr<f16>", "alignment": 16, "buffer": {"shape": ["M", "K"], ...}}, ...],
//    "launch": {"threads_per_cta": 256, "grid": ["cdiv(M, 128)", ...], ...}, "expect": [...]}
//
// The compiler fills a Manifest and writes `toJson`; runtime and runner read it back with `parseManifest`, which checks
// everything that a reader relies on: types, ranges, unique names, and that every expression compiles.
// README.md of this folder documents each field.
#pragma once

#include "Runtime/Cost.h"
#include "Runtime/DataType.h"
#include "Runtime/Expression.h"
#include "Runtime/ProgramsCost.h"
#include "Runtime/Result.h"

#include <algorithm>
#include <optional>
#include <variant>

namespace tile::runtime {

constexpr int manifestSchema = 1;

/// Most tensor maps of one kernel: they are made on the stack, and are 128 of the 4096 bytes of kernel arguments each.
constexpr size_t mostTensorMaps = 16;
constexpr size_t highestTensorRank = 5; // of a tensor map: CUDA driver API, cuTensorMapEncodeTiled

enum class BufferRole { Random, Output, Inout, Zeros };
std::string_view bufferRoleName(BufferRole role);

/// The logical array behind a pointer parameter; shape and strides (in elements) are integer expressions.
struct BufferSpec {
  std::vector<std::string> shape;
  std::vector<std::string> strides; ///< empty: row-major contiguous
  BufferRole role = BufferRole::Random;
};

struct Parameter {
  std::string name;
  DataType type = DataType::I32; ///< of a pointer: the pointee
  bool isPointer = false;
  int64_t alignment = 1;                   ///< pointers: bytes that the compiler assumed; 1 = nothing assumed
  int64_t divisibility = 1;                ///< integers: divisor that the compiler assumed; 1 = nothing assumed
  std::optional<std::string> defaultValue; ///< expression over the other parameters; pointers: what fills the buffer
  std::optional<BufferSpec> buffer;        ///< pointers

  std::string typeName() const;
  unsigned argumentSize() const { return isPointer ? 8 : dataTypeSize(type); }
  /// The bytes of which an address must be a multiple: what the compiler assumed, and no less than an element.
  int64_t requiredAlignment() const { return std::max<int64_t>(alignment, isPointer ? dataTypeSize(type) : 1); }
  bool isInteger() const { return !isPointer && !isFloatType(type); }
};

/// A tensor map (TMA descriptor) that the runtime makes for a launch; the kernel takes it after its parameters.
/// Outermost dimension first, the last one contiguous.
struct TensorMapSpec {
  std::string base; ///< pointer parameter
  DataType element = DataType::F16;
  std::vector<std::string> shape;   ///< one to five expressions, in elements
  std::vector<std::string> strides; ///< in elements; of all dimensions but the last
  std::vector<int64_t> box;         ///< elements that one access moves
  int64_t swizzle = 0;              ///< bytes: 0, 32, 64 or 128
  int64_t l2Promotion = 128;        ///< bytes that L2 reads from memory at a time: 128 or 256
};

using ConstantValue = std::variant<int64_t, double, bool, std::string>;

struct LaunchInfo {
  int64_t threadsPerCta = 0;
  int64_t numWarps = 0;
  int64_t cluster[3] = {1, 1, 1};
  /// Of a persistent kernel: programs, side by side in the grid, that a cluster works off together; zeros: each thread
  /// block of it has one, in the order of the grid.
  int64_t programsPerCluster[3] = {0, 0, 0};
  int64_t sharedStatic = 0;  ///< bytes
  int64_t sharedDynamic = 0; ///< bytes
  int64_t registers = 0;     ///< a thread; 0 = unknown
  int64_t spillBytes = 0;
  std::vector<std::string> grid; ///< one to three expressions; empty: the caller must give the grid
  bool pdl = false;              ///< may be launched before the previous kernel has ended
  bool cooperative = false;
  bool persistent = false; ///< few blocks work off the grid, which the kernel takes after its tensor maps
  int64_t ctasPerSm = 1;   ///< blocks of a persistent kernel on one multiprocessor
  /// Bytes of global memory that a persistent kernel takes for each block, as its last argument; 0 = none.
  int64_t scratchPerCta = 0;
  /// Blocks share the tiles of the last wave through scratch memory, so those beyond the number of programs work, too.
  bool sharesTails = false;
};

struct Expectation {
  std::string buffer;
  std::string expression; ///< tensor expression, see Runner/Check/TensorExpr.h
  double tolerance = 0;   ///< bound of ||out - reference|| / ||reference||
};

/// Conditions of one kernel: far above what a person writes; each is evaluated at every launch.
inline constexpr size_t mostRequirements = 64;

struct Manifest {
  std::string compiler;
  std::string kernel;
  std::string entry;
  std::string sourceFile;
  std::string sourceHash;
  std::string target; ///< "sm_90a"
  std::string format; ///< "cubin" or "ptx"; empty where the manifest was never in an artifact
  /// Its name among those of one artifact; empty where the artifact has this one alone. Letters, digits and ".+_-".
  std::string variant;
  std::vector<Parameter> parameters;
  std::vector<std::pair<std::string, ConstantValue>> constants;
  std::vector<TensorMapSpec> tensorMaps;
  LaunchInfo launch;
  std::vector<std::string> requirements; ///< expressions that must not be 0 for the arguments of a launch
  std::optional<CostSpec> cost;          ///< the product that it computes, for the model of its time; none: it is none
  std::optional<ProgramsCost> programs;  ///< else the work of a program; neither: no model knows how long a call takes
  std::vector<Expectation> expect;

  const Parameter *findParameter(std::string_view name) const;
};

/// Slot i is parameter i; slot `parameters.size()` is `num_sms`. Integer constants are folded in.
ExpressionNames expressionNames(const Manifest &manifest);

/// The names that expressions of tensor maps may use: without num_sms, because a map depends on the arguments alone.
ExpressionNames tensorMapNames(const Manifest &manifest);

Result<Manifest> parseManifest(std::string_view json);

/// One line without `indent` (PTX needs that), pretty-printed with.
std::string toJson(const Manifest &manifest, int indent = -1);

/// What parseManifest checks beyond the JSON itself; for writers that want to know before they write.
Status validate(const Manifest &manifest);

} // namespace tile::runtime
