// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// More registers let a thread have more loads in flight; fewer let a multiprocessor hold more threads. Left to itself
// ptxas takes what the shortest code needs, or what lets most CTAs run side by side: 32 registers for a loop that adds
// up rows, whose loads then come one after the other, and 237 for a product of small tiles, which waits alone for each
// of its steps. It knows neither what a loop waits for nor how much shared memory a CTA takes.
//
//   kernel                    | CTAs asked for
//   a product                 | as ptxas likes; then one more at a time, while that spills little, outside of loops
//   a loop that only loads    | those of 512 threads if ptxas likes few registers: a thread's loads hide each other
//   any other                 | as ptxas likes, or those of 1024 threads if they hardly spill, or more at no cost
//   what has few warps then   | as many as there are anyway, if instructions wait less for each other
//
// The figures are fitted to launches of public kernels, 72 of them assembled for 2 to 8 CTAs, 241 for two choices
// (bench/results/h200/registers.md).
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

/// Bytes that the threads of all kernels spill.
unsigned spilledBytes(const Assembled &assembled) {
  unsigned bytes = 0;
  for (const KernelResources &kernel : assembled.report.kernels)
    bytes += kernel.spillStores + kernel.spillLoads;
  return bytes;
}

unsigned registersOf(const Assembled &assembled) {
  return llvm::alignTo(std::max(assembled.report.kernels.front().registers, 1u), registerGranule);
}

/// ".minnctapersm" after each ".reqntid" (PTX ISA, "Performance-Tuning Directives").
std::string forCtas(StringRef ptx, unsigned ctas) {
  std::string text;
  for (StringRef line : llvm::split(ptx, '\n')) {
    text += (line + "\n").str();
    if (line.starts_with(".reqntid"))
      text += formatv(".minnctapersm {0}\n", ctas).str();
  }
  return text;
}

/// Of the first kernel; 0 if it does not say.
unsigned threadsOf(StringRef ptx) {
  size_t place = ptx.find(".reqntid ");
  unsigned threads = 0;
  StringRef rest = place == StringRef::npos ? "" : ptx.substr(place + StringRef(".reqntid ").size());
  return rest.consumeInteger(10, threads) ? 0 : threads;
}

/// What an instruction of PTX does: "ld.global.v4.b32", without its predicate.
StringRef opcodeOf(StringRef line) {
  if (line.starts_with("@"))
    line = line.drop_until([](char c) { return c == ' ' || c == '\t'; }).ltrim();
  return line.take_until([](char c) { return c == ' ' || c == '\t' || c == ';'; });
}

/// What the loops of a kernel do in global memory.
struct LoopAccesses {
  bool loads = false, writes = false;
};

/// Between a label and a branch back to it.
LoopAccesses findLoopAccesses(StringRef ptx) {
  struct Counts {
    unsigned loads = 0, writes = 0;
  } counts;
  llvm::StringMap<Counts> before; // each label
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

  llvm::Expected<Assembled> run() {
    if (threads == 0 || ptx.contains(".minnctapersm") || ptx.count(".reqntid") != 1)
      return assembler(ptx);
    llvm::Expected<Assembled> made = asLiked();
    if (!made || made->report.kernels.size() != 1) // ptxas says nothing
      return made;
    if (ptx.contains("mma."))
      return moreCtas(std::move(*made));
    LoopAccesses loop = findLoopAccesses(ptx);
    if (loop.loads && !loop.writes)
      return forLoadingLoop(std::move(*made));
    return forMoreThreads(std::move(*made), loop.loads);
  }

private:
  llvm::Expected<Assembled> assembleFor(unsigned ctas) { return assembler(forCtas(ptx, ctas)); }

  /// CTAs that a multiprocessor holds.
  target::Residency residency(unsigned registers) const {
    return target::planResidency(target, {.threads = threads, .registers = registers, .sharedBytes = dynamicShared});
  }
  unsigned resident(unsigned registers) const { return residency(registers).ctas(); }

  /// Without a word on CTAs, ptxas may give a kernel that spills anyway as few registers as most CTAs can have: a
  /// product for sm_80 32 registers and 5.5 KB of spills, where 255 leave 0.8 KB. So it is asked for one CTA then, and
  /// at once where that is likely, which is the only question if even one CTA has too few registers.
  llvm::Expected<Assembled> asLiked() {
    // Few registers, for many CTAs, and a long time for it: few threads and much code.
    bool isOneLikely = threads <= tuned.fewThreads && int64_t(ptx.count('\n')) > tuned.muchCode;
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

  /// `ctas` on a multiprocessor if that spills at most `bytes` and does not make products wait for each other, which
  /// ptxas warns of; else nothing.
  std::optional<Assembled> tryFor(unsigned ctas, unsigned bytes, const Assembled &instead) {
    llvm::Expected<Assembled> made = assembleFor(ctas);
    if (made && made->report.kernels.size() == 1 && spilledBytes(*made) <= bytes &&
        made->report.warnings.size() <= instead.report.warnings.size())
      return std::move(*made);
    llvm::consumeError(made.takeError());
    return std::nullopt;
  }

  /// One CTA more at a time, while there is room for it. Up to three warps for each scheduler, which hide badly what
  /// they wait for, a hundred spills in front of a loop and after it cost less than the warps gain; in a loop twenty
  /// cost a third of its speed, and a few are worth the fourth warp. More warps gain less.
  Assembled moreCtas(Assembled made) {
    bool isAsked = false;
    while (spilledBytes(made) <= tuned.spilledAnyway) {
      unsigned used = registersOf(made), ctas = residency(used).byRegisters + 1;
      unsigned warps = ctas * threads / target::threadsPerWarp;
      unsigned allowed = target::registersForCtas(ctas, threads);
      bool areFew = warps <= tuned.fewWarps;
      unsigned spills = areFew ? tuned.spillsForFewWarps : tuned.spillsForMoreWarps;
      unsigned fewer = areFew ? tuned.registersForFewWarps : tuned.registersForMoreWarps;
      bool isBeyondHalf = warps > tuned.manyWarps;
      if (isBeyondHalf) {
        spills = 0;
        fewer = registerGranule;
      }
      // Asked once, a thread has few registers to spare: of four kernels none could do with 32 fewer.
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
    return isAsked ? std::move(made) : soonerIssued(std::move(made));
  }

  /// Nobody hides what a warp waits for where few run, so instructions have to be in an order in which it waits little.
  /// ptxas takes pains over that, and the registers, only if it is told on how many CTAs they are to be shared: a loop
  /// that one warp runs took 2552 cycles, and 1695 then, on as many CTAs as before. A CTA
  /// that is alone because of its registers has them anyway: the code of four products was the same, and none is asked.
  /// Nor are threads that have all registers there are: of 15 kernels none gained.
  Assembled soonerIssued(Assembled made) {
    target::Residency held = residency(registersOf(made));
    unsigned ctas = held.ctas();
    bool hasThem = (ctas == 1 && held.byRegisters == 1) || registersOf(made) >= target::maxRegistersPerThread;
    if (spilledBytes(made) > 0 || ctas == 0 || hasThem ||
        ctas * threads > tuned.scheduledWarps * target::threadsPerWarp)
      return made;
    std::optional<Assembled> asked = tryFor(ctas, /*bytes=*/0, made);
    uint64_t cycles = asked ? issueCycles(asked->cubin) : 0; // 0, too, if the code is not understood
    // Smaller gains are in the noise of what is not counted.
    bool isSooner = cycles > 0 && cycles * 100 < issueCycles(made.cubin) * tuned.shorterIssue;
    return isSooner ? std::move(*asked) : std::move(made);
  }

  /// With few registers there are as many threads as a multiprocessor holds, if the grid has as many. At least two
  /// CTAs, of which one works while the other is at a barrier.
  Assembled forLoadingLoop(Assembled made) {
    if (registersOf(made) > tuned.loadingLoopRegisters)
      return forMoreThreads(std::move(made), /*isLoop=*/true);
    std::optional<Assembled> more = tryFor(std::max(2u, quarterOfThreads() / threads), /*bytes=*/0, made);
    return more ? std::move(*more) : made;
  }

  /// Half of the threads that a multiprocessor holds if that spills next to nothing: a kernel without products waits
  /// for memory, and hides that by having threads. Some spills, as of 20 registers, written and read once, cost less
  /// than having an eighth of the threads, or one CTA, all of which waits at once.
  Assembled forMoreThreads(Assembled made, bool isLoop) {
    constexpr unsigned most = target::maxThreadsPerCta;
    const unsigned quarter = quarterOfThreads(), fewSpills = tuned.fewSpills;
    if (spilledBytes(made) > fewSpills)
      return made;
    unsigned now = resident(registersOf(made)) * threads;
    // Two CTAs of as many threads as there can be have 32 registers.
    unsigned half = threads == most ? 2 * most : tuned.halfOfThreads;
    unsigned spills = threads == most ? 0 : now == threads ? fewSpills : tuned.hardlySpilled;
    if (now >= half)
      return threads == most ? std::move(made) : moreForNothing(std::move(made));
    bool isNear = registersOf(made) <= target::registersPerSm / half + tuned.savedRegisters;
    if (half >= 2 * threads && (isNear || now == threads))
      if (std::optional<Assembled> more = tryFor(half / threads, spills, made))
        return std::move(*more);
    // A loop that does not fit there has its registers.
    if ((isLoop || now < quarter) && quarter >= 2 * threads)
      if (std::optional<Assembled> more = tryFor(quarter / threads, now < quarter ? fewSpills : 0, made))
        return std::move(*more);
    return moreCtas(std::move(made));
  }

  /// All threads that a multiprocessor can hold if that takes eight registers less and neither spills nor the time to
  /// issue instructions says that they are missing: ptxas takes a few more than it needs where nothing tells it what
  /// they are worth, and a row of 1024 halves, of a layer norm in four warps, is on 12 CTAs then instead of 16.
  Assembled moreForNothing(Assembled made) {
    unsigned used = registersOf(made), all = std::min(2 * tuned.halfOfThreads / threads, resident(/*registers=*/0));
    if (resident(used) >= all || resident(used - registerGranule) < all)
      return made;
    std::optional<Assembled> more = tryFor(all, /*bytes=*/0, made);
    bool isFree = more && issueCycles(more->cubin) * 100 <= issueCycles(made.cubin) * tuned.longerIssue;
    return isFree ? std::move(*more) : std::move(made);
  }

  /// Of those that a multiprocessor holds.
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
                                          Assembler assemble) {
  return Choice(ptx, target, dynamicShared, assemble).run();
}

} // namespace tile::codegen
