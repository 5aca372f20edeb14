// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The manifest: the description inside an artifact. Plain data, the JSON reader and the JSON writer.
//
//   {"schema": 1, "abi_version": 1, "kernel": "matmul", "entry": "matmul", "target": "sm_90a", "format": "cubin",
//    "parameters": [{"name": "a", "type": "ptr<f16>", "alignment": 16, "buffer": {"shape": ["M", "K"], ...}}, ...],
//    "launch": {"threads_per_cta": 256, "grid": ["cdiv(M, 128)", ...], ...}, "expect": [...]}
//
// The compiler fills a Manifest and writes `toJson`; runtime and runner read it back with `parseManifest`, which checks
// everything that a reader relies on: types, ranges, unique names, and that every expression compiles. Manifest.md
// documents each field.
#pragma once

#include "Runtime/Cost.h"
#include "Runtime/DataType.h"
#include "Runtime/Expression.h"
#include "Runtime/Order.h"
#include "Runtime/ProgramsCost.h"
#include "Runtime/Result.h"
#include "Target/Card/Card.h"

#include <algorithm>
#include <optional>
#include <variant>

namespace tile::runtime {

constexpr int manifestSchema = 1;

/// Maximum tensor maps per kernel. They are created on the stack, and each takes 128 of the 4096 bytes of kernel
/// arguments.
constexpr size_t maxTensorMaps = 16;
constexpr size_t highestTensorRank = 5; // maximum rank of a tensor map (CUDA driver API, cuTensorMapEncodeTiled)

enum class BufferRole { Random, Output, Inout, Zeros };
std::string_view bufferRoleName(BufferRole role);

/// The logical array to which a pointer parameter points; shape and strides (in elements) are integer expressions.
struct BufferSpec {
  std::vector<std::string> shape;
  std::vector<std::string> strides; ///< empty: row-major contiguous
  BufferRole role = BufferRole::Random;
};

struct Parameter {
  std::string name;
  DataType type = DataType::I32; ///< for a pointer: the pointee
  bool isPointer = false;
  int64_t alignment = 1;    ///< pointers: bytes that the compiler assumed; 1: no assumption
  int64_t divisibility = 1; ///< integers: divisor that the compiler assumed; 1: no assumption
  /// Expression over the other parameters; for pointers, the initial contents of the buffer.
  std::optional<std::string> defaultValue;
  std::optional<BufferSpec> buffer; ///< pointers

  std::string typeName() const;
  unsigned argumentSize() const { return isPointer ? 8 : dataTypeSize(type); }
  /// Returns the required alignment of an address: the compiler's assumption, but at least the size of an element.
  int64_t requiredAlignment() const { return std::max<int64_t>(alignment, isPointer ? dataTypeSize(type) : 1); }
  bool isInteger() const { return !isPointer && !isFloatType(type); }
};

/// A tensor map (TMA descriptor) that the runtime creates for a launch; the kernel takes it after its parameters.
/// Dimensions are outermost first; the last one is contiguous.
struct TensorMapSpec {
  std::string base; ///< pointer parameter
  DataType element = DataType::F16;
  std::vector<std::string> shape;   ///< one to five expressions, in elements
  std::vector<std::string> strides; ///< in elements; all dimensions but the last
  std::vector<int64_t> box;         ///< elements per access
  int64_t swizzle = 0;              ///< bytes: 0, 32, 64 or 128
  int64_t l2Promotion = 128;        ///< bytes that L2 fetches from memory at a time: 128 or 256
};

using ConstantValue = std::variant<int64_t, double, bool, std::string>;

struct LaunchInfo {
  int64_t threadsPerCta = 0;
  int64_t numWarps = 0;
  int64_t cluster[3] = {1, 1, 1};
  /// For a persistent kernel: the adjacent programs of the grid that a cluster computes together. Zeros: each thread
  /// block of the cluster computes one program, in the order of the grid.
  int64_t programsPerCluster[3] = {0, 0, 0};
  int64_t sharedStatic = 0;  ///< bytes
  int64_t sharedDynamic = 0; ///< bytes
  int64_t registers = 0;     ///< per thread; 0: unknown
  int64_t spillBytes = 0;
  std::vector<std::string> grid; ///< one to three expressions; empty: the caller must give the grid
  bool pdl = false;              ///< may be launched before the previous kernel has ended
  bool cooperative = false;
  bool persistent = false; ///< resident blocks compute all programs of the grid, which is passed after the tensor maps
  int64_t ctasPerSm = 1;   ///< blocks of a persistent kernel per multiprocessor
  /// Bytes of global memory for each block of a persistent kernel, passed as its last argument; 0: none.
  int64_t scratchPerCta = 0;
  /// Blocks share the tiles of the last wave through scratch memory, so blocks beyond the number of programs are
  /// useful.
  bool sharesTails = false;
};

struct Expectation {
  std::string buffer;
  std::string expression; ///< tensor expression, see Runner/Check/TensorExpr.h
  double tolerance = 0;   ///< upper bound of ||out - reference|| / ||reference||
};

/// Maximum number of conditions of a kernel, each of which is evaluated at every launch; far above any handwritten
/// kernel.
inline constexpr size_t maxRequirements = 64;

struct Manifest {
  std::string compiler;
  std::string kernel;
  std::string entry;
  std::string sourceFile;
  std::string sourceHash;
  std::string target;               ///< "sm_90a"
  std::optional<target::Card> card; ///< the card whose constants the compiler used; its notes are not stored
  std::string format;               ///< "cubin" or "ptx"; empty if the manifest was never in an artifact
  /// The variant's name within its artifact; empty for a single variant. Letters, digits and ".+_-".
  std::string variant;
  bool isFallback = false;    ///< chosen only for calls that no other variant serves, however fast it is
  bool isAlternative = false; ///< another schedule of a variant, which only a tuning table chooses
  std::vector<Parameter> parameters;
  std::vector<std::pair<std::string, ConstantValue>> constants;
  std::vector<TensorMapSpec> tensorMaps;
  LaunchInfo launch;
  std::vector<std::string> requirements; ///< expressions that must be nonzero for a launch
  /// The GEMM that the kernel computes, for the cost model; nullopt: it is not a GEMM.
  std::optional<CostSpec> cost;
  /// The work of one program if the kernel is not a GEMM. With neither, times are unknown.
  std::optional<ProgramsCost> programs;
  std::vector<Expectation> expect;
  Order order;

  const Parameter *findParameter(std::string_view name) const;
};

/// Returns the names that expressions may use. Slot i is parameter i; slot `parameters.size()` is `num_sms`. Names of
/// integer constants are replaced by their values, as are `this_rank` and `num_ranks`, which are 0 and 1 if there are
/// no constants of these names.
ExpressionNames expressionNames(const Manifest &manifest);

/// Returns the names that expressions of tensor maps may use: excludes num_sms, because a map depends only on
/// arguments.
ExpressionNames tensorMapNames(const Manifest &manifest);

Result<Manifest> parseManifest(std::string_view json);

/// Returns JSON: a single line, as PTX needs, or with `indent` pretty-printed text.
std::string toJson(const Manifest &manifest, int indent = -1);

/// Performs the checks that parseManifest makes beyond JSON syntax, for code that writes manifests.
Status validate(const Manifest &manifest);

} // namespace tile::runtime
