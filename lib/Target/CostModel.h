// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The cost model: chooses the tile, warps and stages of a GEMM c[M, N] = a[M, K] @ b[K, N].
//
//   GemmProblem problem{.m = 4096, .n = 4096, .k = 4096};
//   GemmEstimate best = rankGemmConfigs(*findTarget("sm_90a"), problem).front();   // 128x256x64, 8 warps, 4 stages
//
// The model estimates the time of every configuration that this compiler can build for the target, from its waves, K
// steps and fixed costs, and sorts the configurations by time. The constants are fitted to measurements (README.md);
// CostModel.md lists the limits. The model is plain C++, so that a launcher can rank compiled variants by
// estimateGemm() once it has the sizes.
#pragma once

#include "Target/GpuTarget.h"
#include "Target/MmaTable.h"

#include <optional>

namespace tile::target {

struct GemmSize {
  int64_t m, n, k;

  bool operator==(const GemmSize &) const = default;
};

struct GemmProblem {
  int64_t m = 4096, n = 4096, k = 4096;
  MmaType element = MmaType::F16; ///< type of a and b
  unsigned outputBytes = 2;       ///< bytes of an element of c
  bool plainStores = false;       ///< whether a kernel with tensor maps writes c without one
  unsigned numSms = 0;            ///< 0: as many as the target's GPU has
  /// Whether a and b can be read through tensor maps, because their rows start at multiples of 16 bytes. wgmma requires
  /// tensor maps.
  bool tensorMaps = true;
  /// With mma.sync: the bytes of a or b that a thread copies at a time, 1 to 16, by cp.async or through registers.
  unsigned copyBytes = 16;
  bool asyncCopies = true;
  /// Whether K is contiguous in a (row-major) and in b (column-major). wgmma requires both, except for 16-bit types.
  bool aKMajor = false, bKMajor = false;
  /// With wgmma, whether blockN may be any multiple of 16. With `canSwap` and `anyRows`, the same holds for blockM.
  bool anyBlockSize = true;
  /// Whether cta-share-steps may split the tiles of the last wave over idle multiprocessors.
  bool splitTail = true;
  /// Whether cta-share-steps may also split the tiles if there is only one wave, as it does in persistent kernels for
  /// all sizes. Kernels for given sizes with one wave are not persistent.
  bool splitOnlyRound = false;
  /// Whether wgmma may compute blocks of fewer than 64 rows, or of a number of rows that is not a power of two, with
  /// swapped operands (tile-swap-dot).
  bool canSwap = true;
  /// With `canSwap`, whether blocks may have a number of rows that is not a power of two.
  bool anyRows = true;
  /// True if a tile must leave space for other accumulators: each thread then holds at most half as many accumulators
  /// of a tile as it could, and shared memory also holds the tile's accumulators. This is set for kernels with the
  /// accumulators of two dots, or with accumulators that cannot stay in wgmma's registers.
  bool roomForAccumulators = false;
  /// Whether wgmma can compute the dots; it cannot compute f32 dots that must be exact.
  bool warpGroups = true;

  bool kMajor() const { return aKMajor && bKMajor; }
  unsigned elementBytes() const { return mmaTypeBits(element) / 8; }
  GemmSize size() const { return {m, n, k}; }
  unsigned multiprocessors(const GpuTarget &target) const { return numSms ? numSms : target.numSms; }
};

struct GemmConfig {
  unsigned blockM, blockN, blockK; ///< elements of a tile of c, and of one K step
  unsigned groupM;    ///< number of rows of tiles that form a group; a group's tiles run together, for the L2 cache
  unsigned numWarps;  ///< warps that compute; a warp-specialised kernel has four more that copy
  unsigned numStages; ///< number of K steps that shared memory holds at a time
  bool wgmma;         ///< otherwise mma.sync

  bool operator==(const GemmConfig &) const = default;
};

/// Returns true if the columns of c are wgmma's rows, because operands are swapped.
bool isSwapped(const GemmConfig &config);

/// The rows and columns of the tile as wgmma counts them.
struct WgmmaTile {
  unsigned rows, columns;
};
WgmmaTile wgmmaTile(const GemmConfig &config);

/// The resource that takes most of a configuration's time.
enum class GemmLimit { TensorCores, SharedMemory, L2Cache, GlobalMemory, Power, Copies, KSteps, Fixed };

/// Returns "tensor cores", "shared memory", ...
std::string_view limitName(GemmLimit limit);

struct GemmEstimate {
  GemmConfig config;
  double microseconds = 0;
  GemmLimit limit = GemmLimit::Fixed;
  int64_t tiles = 0;
  double waves = 0; ///< number of tiles, whole and partial, that the busiest multiprocessor computes
};

/// Fixed values of parameters; the model chooses the parameters without a value.
struct GemmChoices {
  std::optional<unsigned> blockM = {}, blockN = {}, blockK = {}, groupM = {}, numWarps = {}, numStages = {};
};

/// Returns why this compiler cannot build the configuration for the target and the problem's types; empty if it can.
std::string checkGemmConfig(const GpuTarget &target, const GemmProblem &problem, const GemmConfig &config);

/// Predicts the time of a legal configuration.
GemmEstimate estimateGemm(const GpuTarget &target, const GemmProblem &problem, const GemmConfig &config);

/// Returns the legal configurations that agree with the choices: with wgmma if there are any, otherwise with mma.sync.
/// If none is legal, returns one illegal configuration, so that there is something to compile or to diagnose.
std::vector<GemmConfig> gemmCandidates(const GpuTarget &target, const GemmProblem &problem,
                                       const GemmChoices &choices = {});

/// Returns the estimates of the configurations of gemmCandidates(), cheapest first.
std::vector<GemmEstimate> rankGemmConfigs(const GpuTarget &target, const GemmProblem &problem,
                                          const GemmChoices &choices = {});

/// Returns true if wgmma can multiply operands that TMA loads, on this target.
bool canUseWgmma(const GpuTarget &target, const GemmProblem &problem);

/// Returns true if wgmma computes the configuration's tiles, no matter how the operands are loaded.
bool multipliesByWarpGroups(const GpuTarget &target, const GemmProblem &problem, const GemmConfig &config);
/// Returns "wgmma" or "mma.sync".
std::string_view instructionName(const GpuTarget &target, const GemmProblem &problem, const GemmConfig &config);

/// Returns the bytes of shared memory that the configuration needs.
int64_t sharedBytes(const GemmProblem &problem, const GemmConfig &config);

} // namespace tile::target
