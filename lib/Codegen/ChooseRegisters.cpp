// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Chooses the register limit of a kernel by requesting a number of CTAs per multiprocessor. With more registers, a
// thread can have more loads in flight; with fewer, a multiprocessor can hold more threads. By default, ptxas allocates
// the registers that the shortest code needs, or that give the highest occupancy. A loop that sums rows gets 32
// registers, so its loads are serialized; a GEMM with small tiles gets 237 registers, so only one CTA is resident,
// which stalls in every iteration. ptxas takes into account neither the latencies in a loop nor the shared memory of a
// CTA.
//
//   kernel                      | CTAs requested
//   MMAs                        | ptxas default; then one more at a time, while spills are few and outside of loops
//   loop that only loads        | as many as have 512 threads, if the default needs few registers
//   any other                   | ptxas default, as many as have 1024 threads if these hardly spill, or more at no cost
//   loads one after the other   | as many as have 512 threads, if loads are then in flight together; without MMAs
//   few resident warps          | the resident number, if loads and issue then take fewer cycles
//
// The constants are fitted to launches of public kernels: 72 kernels that were assembled for 2 to 8 CTAs, 241 for two
// choices (bench/results/h200/registers.md), and 16 for up to 16 CTAs (bench/results/h200/public-launches.md).
#include "Codegen/ChooseRegisters.h"
#include "Codegen/IssueCycles.h"
#include "Codegen/SpillPlaces.h"
#include "Target/Plan/Residency.h"
#include "Target/Tuned.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

using llvm::formatv;
using llvm::StringRef;

namespace tile::codegen {
namespace {

using target::registerGranule;

/// Returns the number of bytes that all kernels together store and load for spills.
unsigned spilledBytes(const Assembled &assembled) {
  unsigned bytes = 0;
  for (const KernelResources &kernel : assembled.report.kernels)
    bytes += kernel.spillStores + kernel.spillLoads;
  return bytes;
}

unsigned registersOf(const Assembled &assembled) {
  return llvm::alignTo(std::max(assembled.report.kernels.front().registers, 1u), registerGranule);
}

/// Adds ".minnctapersm" after each ".reqntid" (PTX ISA, "Performance-Tuning Directives").
std::string forCtas(StringRef ptx, unsigned ctas) {
  std::string text;
  for (StringRef line : llvm::split(ptx, '\n')) {
    text += (line + "\n").str();
    if (line.starts_with(".reqntid"))
      text += formatv(".minnctapersm {0}\n", ctas).str();
  }
  return text;
}

/// Returns the number of threads per CTA of the first kernel; 0 if the PTX does not declare it.
unsigned threadsOf(StringRef ptx) {
  size_t place = ptx.find(".reqntid ");
  unsigned threads = 0;
  StringRef remaining = place == StringRef::npos ? "" : ptx.substr(place + StringRef(".reqntid ").size());
  return remaining.consumeInteger(10, threads) ? 0 : threads;
}

/// Returns the opcode of a PTX instruction, such as "ld.global.v4.b32", without the predicate.
StringRef opcodeOf(StringRef line) {
  if (line.starts_with("@"))
    line = line.drop_until([](char c) { return c == ' ' || c == '\t'; }).ltrim();
  return line.take_until([](char c) { return c == ' ' || c == '\t' || c == ';'; });
}

/// The kinds of accesses to global memory that the loops of a kernel contain.
struct LoopAccesses {
  bool loads = false, writes = false;
};

/// Finds the accesses between a label and a branch back to it.
LoopAccesses findLoopAccesses(StringRef ptx) {
  struct Counts {
    unsigned loads = 0, writes = 0;
  } counts;
  llvm::StringMap<Counts> before; // counts before each label
  LoopAccesses found;
  for (StringRef line : llvm::split(ptx, '\n')) {
    line = line.trim();
    StringRef opcode = opcodeOf(line);
    bool isGlobal = opcode.contains(".global");
    if (line.starts_with("$L") && line.consume_back(":")) {
      before.try_emplace(line, counts);
    } else if (isGlobal && (opcode.starts_with("ld.") || opcode.starts_with("cp.async."))) {
      ++counts.loads;
    } else if (isGlobal && (opcode.starts_with("st.") || opcode.starts_with("red.") || opcode.starts_with("atom."))) {
      ++counts.writes;
    } else if (opcode.starts_with("bra")) {
      auto label = before.find(line.drop_until([](char c) { return c == '$'; }).rtrim("; "));
      if (label == before.end() || label->second.loads == counts.loads)
        continue;
      found.loads = true;
      found.writes |= label->second.writes != counts.writes;
    }
  }
  return found;
}

class Choice {
public:
  Choice(StringRef ptx, const target::GpuTarget &target, int64_t dynamicShared, Assembler assembler)
      : ptx(ptx), target(target), tuned(target::tunedOf(target)), dynamicShared(dynamicShared), assembler(assembler),
        threads(threadsOf(ptx)) {}

  llvm::Expected<Assembled> run(std::optional<unsigned> requested) {
    if (threads == 0 || ptx.contains(".minnctapersm") || ptx.count(".reqntid") != 1)
      return assembler(ptx);
    if (requested)
      return *requested == 0 ? assembler(ptx) : assembleFor(*requested);
    llvm::Expected<Assembled> made = withPtxasDefault();
    if (!made || made->report.kernels.size() != 1) // no resource report
      return made;
    if (hasMmas())
      return moreCtas(std::move(*made));
    LoopAccesses loop = findLoopAccesses(ptx);
    bool onlyLoads = loop.loads && !loop.writes;
    return withLoadsInFlight(onlyLoads ? forMemoryBoundLoop(std::move(*made))
                                       : forMoreThreads(std::move(*made), loop.loads));
  }

private:
  bool hasMmas() const { return ptx.contains("mma."); }
  llvm::Expected<Assembled> assembleFor(unsigned ctas) { return assembler(forCtas(ptx, ctas)); }

  /// Returns the number of CTAs that fit on a multiprocessor, for each resource.
  target::Residency residency(unsigned registers) const {
    return target::planResidency(target, {.threads = threads, .registers = registers, .sharedBytes = dynamicShared});
  }
  unsigned resident(unsigned registers) const { return residency(registers).ctas(); }

  /// Assembles without requesting a number of CTAs, unless requesting one CTA spills less. If a kernel spills anyway,
  /// ptxas may allocate as few registers as the highest occupancy requires: a GEMM for sm_80 got 32 registers and 5.5
  /// KB of spills, whereas 255 registers leave 0.8 KB. If this is likely, one CTA is requested first; if that spills as
  /// well, there is no other attempt.
  llvm::Expected<Assembled> withPtxasDefault() {
    // True for small CTAs with much code. ptxas may choose few registers for them, for high occupancy, and it takes
    // long to assemble them.
    bool isOneLikely = threads <= tuned.fewThreads && int64_t(ptx.count('\n')) > tuned.largeCode;
    llvm::Expected<Assembled> alone = isOneLikely ? assembleFor(1) : Assembled();
    if (!alone || (isOneLikely && spilledBytes(*alone) > 0))
      return alone;
    llvm::Expected<Assembled> liked = assembler(ptx);
    if (!liked || spilledBytes(*liked) == 0 || liked->report.kernels.front().registers >= target::maxRegistersPerThread)
      return liked;
    if (!isOneLikely)
      alone = assembleFor(1);
    if (alone && spilledBytes(*alone) < spilledBytes(*liked))
      return alone;
    llvm::consumeError(alone.takeError());
    return liked;
  }

  /// Assembles for `ctas` CTAs per multiprocessor. Returns nullopt if that spills more than `bytes` bytes, or makes
  /// ptxas warn about serialized wgmmas.
  std::optional<Assembled> tryFor(unsigned ctas, unsigned bytes, const Assembled &instead) {
    llvm::Expected<Assembled> made = assembleFor(ctas);
    if (made && made->report.kernels.size() == 1 && spilledBytes(*made) <= bytes &&
        made->report.warnings.size() <= instead.report.warnings.size())
      return std::move(*made);
    llvm::consumeError(made.takeError());
    return std::nullopt;
  }

  /// Returns true if the spills are in a loop, and so are repeated in each iteration.
  bool spillsOften(const Assembled &made, bool isLoop) const {
    return isLoop && spilledBytes(made) > 0 && !spillsHardlyInLoops(made.cubin, tuned.spillAccessesInLoops);
  }

  /// Requests one more CTA at a time, as long as it fits. With up to three warps per scheduler, latency is poorly
  /// hidden: a hundred spills before and after a loop cost less than the additional warps gain, but twenty spills in a
  /// loop cost a third of the speed. To get a fourth warp, a few spills in a loop are acceptable. Further warps gain
  /// less.
  Assembled moreCtas(Assembled made) {
    bool isAsked = false;
    while (spilledBytes(made) <= tuned.toleratedSpills) {
      unsigned used = registersOf(made), ctas = residency(used).byRegisters + 1;
      unsigned warps = ctas * threads / target::threadsPerWarp;
      unsigned allowed = target::registersForCtas(ctas, threads);
      bool hasFewWarps = warps <= tuned.fewWarps;
      unsigned spills = hasFewWarps ? tuned.spillsForFewWarps : tuned.spillsForMoreWarps;
      unsigned fewer = hasFewWarps ? tuned.registersForFewWarps : tuned.registersForMoreWarps;
      bool isBeyondHalf = warps > tuned.manyWarps;
      if (isBeyondHalf) {
        spills = 0;
        fewer = registerGranule;
      }
      // After one request, a thread has few registers to spare: of four kernels, none could manage with 32 fewer.
      bool isSpare = !isAsked || used - allowed <= 2 * registerGranule;
      if (!isSpare || resident(/*registers=*/0) < ctas || target::registersPerSm / (ctas * threads) + fewer < used)
        break;
      std::optional<Assembled> more = tryFor(ctas, spills, made);
      unsigned inLoops = warps <= tuned.someWarps ? tuned.spillAccessesInLoops : 0;
      if (!more || registersOf(*more) > allowed ||
          (spilledBytes(*more) > 0 && !spillsHardlyInLoops(more->cubin, inLoops)) ||
          (isBeyondHalf && more->cubin.size() > made.cubin.size()))
        break;
      made = std::move(*more);
      isAsked = true;
    }
    return isAsked ? std::move(made) : withLowerStallCount(std::move(made));
  }

  /// Requests as many CTAs as are already resident, if the code then stalls less. At low occupancy, other warps do not
  /// hide latency, so instructions must be ordered to minimize stalls. ptxas uses registers for this only if the PTX
  /// declares how many CTAs share them: the loop of a single warp took 2552 cycles by default, and 1695 when the
  /// resident number of CTAs was requested. If a CTA with MMAs is alone on its multiprocessor because of its registers,
  /// ptxas generates such code by default (the code of four GEMMs did not change), so no request is made. For a long
  /// kernel that already has the maximum number of registers, a second assembly would take long and gain little.
  Assembled withLowerStallCount(Assembled made) {
    target::Residency held = residency(registersOf(made));
    unsigned ctas = held.ctas();
    bool isFull = registersOf(made) >= target::maxRegistersPerThread && int64_t(ptx.count('\n')) > tuned.largeCode;
    bool hasMaximum = isFull || (hasMmas() && ctas == 1 && held.byRegisters == 1);
    if (spilledBytes(made) > 0 || ctas == 0 || hasMaximum ||
        ctas * threads > tuned.scheduledWarps * target::threadsPerWarp)
      return made;
    std::optional<Assembled> asked = tryFor(ctas, /*bytes=*/0, made);
    uint64_t cycles = asked ? loadCycles(asked->cubin, tuned.loadLatency) : 0; // also 0 if the code cannot be decoded
    // A smaller gain would be within the error of the static estimate.
    bool isSooner = cycles > 0 && cycles * 100 < loadCycles(made.cubin, tuned.loadLatency) * tuned.shorterStalls;
    return isSooner ? std::move(*asked) : std::move(made);
  }

  /// Requests a quarter of the threads of a multiprocessor, but at least two CTAs, so that one works while the other
  /// waits at a barrier. If the default takes many registers, the loop does not only load, so it is handled like other
  /// code (forMoreThreads).
  Assembled forMemoryBoundLoop(Assembled made) {
    if (registersOf(made) > tuned.loadingLoopRegisters)
      return forMoreThreads(std::move(made), /*isLoop=*/true);
    std::optional<Assembled> more = tryFor(std::max(2u, quarterOfThreads() / threads), /*bytes=*/0, made);
    return more ? std::move(*more) : made;
  }

  /// Returns true if the code uses all the registers that a thread may have when the maximum number of threads is
  /// resident.
  bool isShortOfRegisters(const Assembled &made) const {
    return made.report.kernels.front().registers + 1 >= target::registersForCtas(resident(/*registers=*/0), threads);
  }

  /// Requests 512 threads if the code serializes loads that could be in flight together: eight 16-byte loads per
  /// iteration cost four latencies with 56 registers, and one latency with 80. A kernel with serialized loads is slow
  /// if the grid is small, whatever occupancy its registers allow; a transpose with 32 registers is slow even at full
  /// occupancy.
  Assembled withLoadsInFlight(Assembled made) {
    unsigned ctas = std::max(2u, quarterOfThreads() / threads), threadsNow = resident(registersOf(made)) * threads;
    if (threadsNow <= ctas * threads || spilledBytes(made) > 0 || !isShortOfRegisters(made))
      return made;
    uint64_t cycles = loadCycles(made.cubin, tuned.loadLatency), issued = issueCycles(made.cubin);
    // The kernel is bound by instruction issue, the code cannot be decoded, or loads are already in flight together.
    if (cycles < 2 * issued || cycles - issued < 2 * tuned.loadLatency)
      return made;
    std::optional<Assembled> asked = tryFor(ctas, /*bytes=*/0, made);
    if (!asked)
      return made;
    uint64_t threadsNext = resident(registersOf(*asked)) * threads;
    bool isFaster = loadCycles(asked->cubin, tuned.loadLatency) * threadsNow * tuned.loadThroughputGain <
                    cycles * threadsNext * 100;
    return isFaster ? std::move(*asked) : std::move(made);
  }

  /// Requests half of the threads of a multiprocessor if that causes almost no spills: a kernel without MMAs waits for
  /// memory, and occupancy hides the latency. A few spills (20 registers, each stored and loaded once) cost less than
  /// an occupancy of one eighth, or than a single CTA, whose warps all wait at the same time.
  Assembled forMoreThreads(Assembled made, bool isLoop) {
    constexpr unsigned most = target::maxThreadsPerCta;
    const unsigned quarter = quarterOfThreads(), fewSpills = tuned.fewSpills;
    if (spilledBytes(made) > fewSpills)
      return made;
    unsigned now = resident(registersOf(made)) * threads;
    // With two CTAs of the maximum number of threads, each thread has 32 registers.
    unsigned half = threads == most ? 2 * most : tuned.halfOfThreads;
    unsigned spills = threads == most ? 0 : now == threads ? fewSpills : tuned.negligibleSpills;
    if (now >= half)
      return threads == most ? std::move(made) : withFreeOccupancy(std::move(made));
    bool isNear = registersOf(made) <= target::registersPerSm / half + tuned.savedRegisters;
    if (half >= 2 * threads && (isNear || now == threads))
      if (std::optional<Assembled> more = tryFor(half / threads, spills, made); more && !spillsOften(*more, isLoop))
        return std::move(*more);
    // If half of the threads do not fit, a loop still has enough registers with a quarter of them.
    if ((isLoop || now < quarter) && quarter >= 2 * threads)
      if (std::optional<Assembled> more = tryFor(quarter / threads, now < quarter ? fewSpills : 0, made))
        return std::move(*more);
    return moreCtas(std::move(made));
  }

  /// Requests more CTAs if that costs each thread at most two granules of registers and causes no spills. By default,
  /// ptxas allocates a few more registers than necessary: a layer norm with four warps and rows of 1024 halves then
  /// runs 12 CTAs instead of 16, and one with 16 warps and rows of 8192 halves runs two instead of three.
  Assembled withFreeOccupancy(Assembled made) {
    unsigned used = registersOf(made), now = resident(used), all = resident(/*registers=*/0);
    unsigned next = resident(used - registerGranule);
    if (next == now && used > 2 * registerGranule)
      next = resident(used - 2 * registerGranule);
    bool isWorthwhile = next == all || next * 100 >= now * tuned.occupancyGain;
    if (now == 0 || next == now || !isWorthwhile)
      return made;
    std::optional<Assembled> more = tryFor(std::min(next, all), /*bytes=*/0, made);
    if (!more)
      return made;
    unsigned then = resident(registersOf(*more));
    // The cost of additional instructions, and of serialized loads, must be clearly less than the gain from the higher
    // occupancy.
    uint64_t issued = issueCycles(made.cubin), gained = uint64_t(then - now) * 100 / now;
    bool isFree = then > now && issueCycles(more->cubin) * 100 <= issued * (100 + gained / tuned.occupancyPerIssue) &&
                  loadCycles(more->cubin, tuned.loadLatency) * now <= loadCycles(made.cubin, tuned.loadLatency) * then;
    return isFree ? std::move(*more) : std::move(made);
  }

  /// Returns a quarter of the number of threads that a multiprocessor can hold.
  unsigned quarterOfThreads() const { return tuned.halfOfThreads / 2; }

  StringRef ptx;
  const target::GpuTarget &target;
  const target::Tuned &tuned;
  int64_t dynamicShared;
  Assembler assembler;
  unsigned threads;
};

} // namespace

llvm::Expected<Assembled> chooseRegisters(StringRef ptx, const target::GpuTarget &target, int64_t dynamicShared,
                                          Assembler assemble, std::optional<unsigned> requested) {
  return Choice(ptx, target, dynamicShared, assemble).run(requested);
}

} // namespace tile::codegen
