// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The cost model: which tile, how many warps and stages a matrix product c[M, N] = a[M, K] @ b[K, N] should have.
//
//   GemmProblem problem{.m = 4096, .n = 4096, .k = 4096};
//   GemmEstimate best = rankGemmConfigs(*findTarget("sm_90a"), problem).front();   // 128x256x64, 8 warps, 4 stages
//
// Every configuration that this compiler can build for the target is priced by a sum of waves, K steps and fixed costs;
// the cheapest is first. The constants are fitted to measurements (README.md); CostModel.md lists the limits.
// Plain C++, so that a launcher can rank compiled variants by estimateGemm() when it learns the sizes.
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
  MmaType element = MmaType::F16; ///< of a and b
  unsigned outputBytes = 2;       ///< of an element of c
  bool plainStores = false;       ///< of a kernel with tensor maps: c is written without
  unsigned numSms = 0;            ///< 0: what the target's product has
  /// a and b can be read through tensor maps: their rows start at multiples of 16 bytes. Without, there is no wgmma.
  bool tensorMaps = true;
  /// For mma.sync: a thread copies as many bytes of a or b at a time, 1 to 16, past the registers or through them.
  unsigned copyBytes = 16;
  bool asyncCopies = true;
  /// K is contiguous in a (row-major) or b (column-major). wgmma needs both but on 16-bit types.
  bool aKMajor = false, bKMajor = false;
  /// With wgmma, blockN may be any multiple of 16, or blockM, with `canSwap` and `anyRows`.
  bool anyBlockSize = true;
  /// The last wave of tiles is shared by more multiprocessors, as cta-share-steps does where it pays.
  bool splitTail = true;
  /// Also a wave that is the only one, as persistent kernels for any sizes do; what is compiled for given sizes is not
  /// persistent then.
  bool splitOnlyRound = false;
  /// Warp groups multiply blocks of fewer than 64 rows, or of rows that are no power of two, with swapped operands, as
  /// tile-swap-dot makes them.
  bool canSwap = true;
  /// Of these, blocks of rows that are no power of two, too.
  bool anyRows = true;
  /// Threads have half as many sums of a tile as they could, and there is shared memory for the tile's sums, too: for
  /// kernels that keep those of two products, or cannot keep them in the registers where wgmma adds to them.
  bool roomForSums = false;
  /// Products are such as warp groups multiply: not those of f32 that are to be exact.
  bool warpGroups = true;

  bool kMajor() const { return aKMajor && bKMajor; }
  unsigned elementBytes() const { return mmaTypeBits(element) / 8; }
  GemmSize size() const { return {m, n, k}; }
  unsigned multiprocessors(const GpuTarget &target) const { return numSms ? numSms : target.numSms; }
};

struct GemmConfig {
  unsigned blockM, blockN, blockK; ///< elements of a tile of c, and of one step along K
  unsigned groupM;                 ///< tiles of a column that run together, for the L2 cache
  unsigned numWarps;               ///< that multiply; a warp-specialised kernel has four more that copy
  unsigned numStages;              ///< K steps in shared memory at a time
  bool wgmma;                      ///< else mma.sync

  bool operator==(const GemmConfig &) const = default;
};

/// Whether columns of c are wgmma's rows.
bool isSwapped(const GemmConfig &config);

/// What wgmma takes for rows and columns of the tile.
struct WgmmaTile {
  unsigned rows, columns;
};
WgmmaTile wgmmaTile(const GemmConfig &config);

/// What a configuration's time goes to, mostly.
enum class GemmLimit { TensorCores, SharedMemory, L2Cache, GlobalMemory, Power, Copies, KSteps, Fixed };

/// "tensor cores", "shared memory", ...
std::string_view limitName(GemmLimit limit);

struct GemmEstimate {
  GemmConfig config;
  double microseconds = 0;
  GemmLimit limit = GemmLimit::Fixed;
  int64_t tiles = 0;
  double waves = 0; ///< the most tiles, whole and parts, that one multiprocessor computes
};

/// Choices that are made already; the others are made around them.
struct GemmChoices {
  std::optional<unsigned> blockM = {}, blockN = {}, blockK = {}, groupM = {}, numWarps = {}, numStages = {};
};

/// Why this compiler cannot build the configuration for the target and the problem's types, or an empty text.
std::string checkGemmConfig(const GpuTarget &target, const GemmProblem &problem, const GemmConfig &config);

/// Predicts the time of a legal configuration.
GemmEstimate estimateGemm(const GpuTarget &target, const GemmProblem &problem, const GemmConfig &config);

/// The legal configurations that agree with the choices: with wgmma if there is any, else with mma.sync. If these have
/// none, one that is not legal, so that there is always something to compile, or to complain about.
std::vector<GemmConfig> gemmCandidates(const GpuTarget &target, const GemmProblem &problem,
                                       const GemmChoices &choices = {});

/// These, cheapest first.
std::vector<GemmEstimate> rankGemmConfigs(const GpuTarget &target, const GemmProblem &problem,
                                          const GemmChoices &choices = {});

/// Whether wgmma multiplies what TMA loads, on this target.
bool canUseWgmma(const GpuTarget &target, const GemmProblem &problem);

/// Whether wgmma multiplies the configuration's tiles, whatever loads them.
bool multipliesByWarpGroups(const GpuTarget &target, const GemmProblem &problem, const GemmConfig &config);
/// "wgmma" or "mma.sync".
std::string_view instructionName(const GpuTarget &target, const GemmProblem &problem, const GemmConfig &config);

/// Shared memory that the configuration needs, in bytes.
int64_t sharedBytes(const GemmProblem &problem, const GemmConfig &config);

} // namespace tile::target
