// From the front end's description to the cost model's, and back; and the table of --explain-config.
#include "Driver/ChooseConfig.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <algorithm>
#include <cmath>

using llvm::formatv;
using tile::frontend::Scalar;
using tile::target::MmaType;

namespace tile::driver {
namespace {

/// The tensor cores' type; what they do not multiply is priced like tf32.
MmaType mmaTypeOf(frontend::DType element) {
  switch (element.scalar) {
  case Scalar::Float16:
    return MmaType::F16;
  case Scalar::BFloat16:
    return MmaType::BF16;
  case Scalar::Float8E4M3:
    return MmaType::F8E4M3;
  case Scalar::Float8E5M2:
    return MmaType::F8E5M2;
  case Scalar::Int8:
    return MmaType::S8;
  case Scalar::UInt8:
    return MmaType::U8;
  case Scalar::Float64:
    return MmaType::F64;
  default:
    return MmaType::TF32;
  }
}

bool runsAll(const GpuPipelineOptions &options, llvm::ArrayRef<llvm::StringRef> passes) {
  return options.optLevel > 0 &&
         llvm::none_of(passes, [&](llvm::StringRef pass) { return llvm::is_contained(options.disabled, pass); });
}

/// Whether kernels that access their operands through pointers get the tensor maps that wgmma needs, and no copies of
/// big tiles in shared memory beside its stages.
bool preparesWgmma(const GpuPipelineOptions &options) {
  return runsAll(options, {"tile-raise-descriptors", "tile-host-descriptors", "cta-remove-conversions"});
}

std::string whyNoWgmma(const CompilerOptions &options, const target::GpuTarget &gpu,
                       const frontend::OpenProduct &product, const target::GemmEstimate &best) {
  if (best.config.wgmma || !gpu.has(target::Feature::Wgmma))
    return "";
  if (!product.alignedRows)
    return "no wgmma: rows of the operands are not promised to start at multiples of 16 bytes (--assume)\n";
  if (!preparesWgmma(options.pipeline))
    return "no wgmma: optimisations that it needs are off\n";
  return "no wgmma: not for these types, operand orders or given values\n";
}

std::string describe(const CompilerOptions &options, const target::GpuTarget &gpu, const frontend::OpenProduct &product,
                     llvm::ArrayRef<target::GemmEstimate> ranked) {
  constexpr size_t shown = 6;
  std::string text = formatv("{0}: {1} x {2} x {3}, {4} to {5}, {6}\n", product.kernel, product.m, product.n, product.k,
                             frontend::shortName(product.element), frontend::shortName(product.output), gpu.name);
  text += whyNoWgmma(options, gpu, product, ranked.front());
  text += "  BLOCK_M BLOCK_N BLOCK_K GROUP_M warps stages instruction    tiles waves  time us  limited by\n";
  for (auto [index, estimate] : llvm::enumerate(ranked.take_front(shown))) {
    const target::GemmConfig &config = estimate.config;
    text += formatv("{0} {1,7} {2,7} {3,7} {4,7} {5,5} {6,6} {7,-11} {8,8} {9,5:F1} {10,8:F1}  {11}\n",
                    index == 0 ? '*' : ' ', config.blockM, config.blockN, config.blockK, config.groupM, config.numWarps,
                    config.numStages, config.wgmma ? "wgmma" : "mma.sync", estimate.tiles, estimate.waves,
                    estimate.microseconds, target::limitName(estimate.limit));
  }
  if (ranked.size() > shown)
    text += formatv("  and {0} more\n", ranked.size() - shown);
  return text;
}

} // namespace

ConfigChoice chooseConfig(const CompilerOptions &options, const target::GpuTarget &gpu,
                          const frontend::OpenProduct &product, std::string *explain) {
  constexpr int64_t largest = 1u << 31; // sizes are 32-bit integers, mostly; beyond, nothing changes
  auto size = [&](int64_t value) { return std::clamp<int64_t>(value, 0, largest); };
  target::GemmProblem problem{
      .m = size(product.m),
      .n = size(product.n),
      .k = size(product.k),
      .element = mmaTypeOf(product.element),
      .outputBytes = std::max(1u, product.output.bits() / 8),
      .numSms = options.numSms,
      .tensorMaps = product.alignedRows && preparesWgmma(options.pipeline),
      .kMajor = product.kMajor,
      .splitRounds = runsAll(options.pipeline, {"tile-make-persistent", "cta-stream-k"}),
      .swapFewRows = runsAll(options.pipeline, {"tile-swap-dot"}),
  };
  auto given = [](std::optional<int64_t> value) {
    constexpr int64_t largestBlock = 1 << 20; // the front end rejects what is no size of a block
    bool isSize = value && *value > 0 && *value <= largestBlock;
    return isSize ? std::optional(unsigned(*value)) : std::nullopt;
  };
  target::GemmChoices choices{
      .blockM = given(product.given.blockM),
      .blockN = given(product.given.blockN),
      .blockK = given(product.given.blockK),
      .groupM = given(product.given.groupM),
      .numWarps = given(product.given.numWarps),
      .numStages = given(product.given.numStages),
  };
  std::vector<target::GemmEstimate> ranked = target::rankGemmConfigs(gpu, problem, choices);
  if (explain)
    *explain = describe(options, gpu, product, ranked);
  const target::GemmConfig &best = ranked.front().config;
  // Whole programs make whole waves.
  bool splits = ranked.front().waves != std::floor(ranked.front().waves);
  return {{best.blockM, best.blockN, best.blockK, best.groupM, best.numWarps, best.numStages}, splits};
}

} // namespace tile::driver
