// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// More registers let a thread have more loads in flight; fewer let a multiprocessor hold more threads. Left to itself
// ptxas takes what the shortest code needs, or what lets most CTAs run side by side: 32 registers for a loop that adds
// up rows, whose loads then come one after the other, and 237 for a product of small tiles, which waits alone for each
// of its steps. It knows neither what a loop waits for nor how much shared memory a CTA takes.
//
//   kernel                       | CTAs asked for
//   a product                    | as ptxas likes; then one more at a time, while that spills little
//   a loop that loads, no product| those of 512 threads: the loop's own loads hide each other
//   neither, few registers       | as ptxas likes: there are as many threads as a multiprocessor holds
//   neither, more                | those of 640 threads: all loads come first, and then the arithmetic
//
// The figures are fitted to 71 launches of public kernels that were assembled for 2 to 8 CTAs and timed
// (bench/results/h200/registers.md).
#include "Codegen/ChooseRegisters.h"
#include "Target/ResidentCtas.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

using llvm::formatv;
using llvm::StringRef;

namespace tile::codegen {
namespace {

constexpr unsigned threadsOfWarp = 32;

/// Bytes that the threads of all kernels spill.
unsigned spilledBytes(const Assembled &assembled) {
  unsigned bytes = 0;
  for (const KernelResources &kernel : assembled.report.kernels)
    bytes += kernel.spillStores + kernel.spillLoads;
  return bytes;
}

unsigned registersOf(const Assembled &assembled) {
  constexpr unsigned granularity = 8; // of a thread's number of registers
  return llvm::alignTo(std::max(assembled.report.kernels.front().registers, 1u), granularity);
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

/// Whether something is loaded from global memory between a label and a branch back to it.
bool loadsInLoop(StringRef ptx) {
  llvm::StringMap<unsigned> loadsBefore; // each label
  unsigned loads = 0;
  for (StringRef line : llvm::split(ptx, '\n')) {
    line = line.trim();
    if (line.starts_with("$L") && line.consume_back(":"))
      loadsBefore.try_emplace(line, loads);
    else if (line.contains("ld.global") || line.contains("cp.async"))
      ++loads;
    else if (size_t place = line.find("bra"); place != StringRef::npos) {
      auto label = loadsBefore.find(line.substr(line.find('$', place)).rtrim(';'));
      if (label != loadsBefore.end() && label->second < loads)
        return true;
    }
  }
  return false;
}

class Choice {
public:
  Choice(StringRef ptx, const target::GpuTarget &target, int64_t dynamicShared, Assembler assembler)
      : ptx(ptx), target(target), dynamicShared(dynamicShared), assembler(assembler), threads(threadsOf(ptx)) {}

  llvm::Expected<Assembled> run() {
    if (threads == 0 || ptx.contains(".minnctapersm") || ptx.count(".reqntid") != 1)
      return assembler(ptx);
    if (ptx.contains("mma."))
      return moreCtas(asLiked());
    if (loadsInLoop(ptx))
      return forLoop();
    return forStraightLine(asLiked());
  }

private:
  llvm::Expected<Assembled> assembleFor(unsigned ctas) { return assembler(forCtas(ptx, ctas)); }

  /// CTAs that a multiprocessor holds.
  unsigned resident(unsigned registers) const {
    return target::countResidentCtas(target, registers, threads, dynamicShared).least();
  }

  /// Without a word on CTAs, ptxas may give a kernel that spills anyway as few registers as most CTAs can have: a
  /// product for sm_80 32 registers and 5.5 KB of spills, where 255 leave 0.8 KB. So it is asked for one CTA then, and
  /// at once where that is likely, which is the only question if even one CTA has too few registers.
  llvm::Expected<Assembled> asLiked() {
    constexpr unsigned mostRegisters = 255; // of a thread
    // Few registers, for many CTAs, and a long time for it: few threads and much code.
    constexpr int64_t fewThreads = 64, muchCode = 4000; // lines; half a second
    bool isOneLikely = threads <= fewThreads && ptx.count('\n') > muchCode;
    llvm::Expected<Assembled> alone = isOneLikely ? assembleFor(1) : Assembled();
    if (!alone || (isOneLikely && spilledBytes(*alone) > 0))
      return alone;
    llvm::Expected<Assembled> liked = assembler(ptx);
    if (!liked || spilledBytes(*liked) == 0 || liked->report.kernels.front().registers >= mostRegisters)
      return liked;
    if (!isOneLikely)
      alone = assembleFor(1);
    return alone && spilledBytes(*alone) < spilledBytes(*liked) ? std::move(alone) : drop(alone, std::move(liked));
  }

  static llvm::Expected<Assembled> drop(llvm::Expected<Assembled> &failed, llvm::Expected<Assembled> kept) {
    llvm::consumeError(failed.takeError());
    return kept;
  }

  /// `ctas` on a multiprocessor if that spills at most `bytes` and does not make products wait for each other, which
  /// ptxas warns of; else nothing.
  std::optional<Assembled> tryFor(unsigned ctas, unsigned bytes, const Assembled &instead) {
    llvm::Expected<Assembled> made = assembleFor(ctas);
    if (made && spilledBytes(*made) <= bytes && made->report.warnings.size() <= instead.report.warnings.size())
      return std::move(*made);
    llvm::consumeError(made.takeError());
    return std::nullopt;
  }

  /// One CTA more at a time, while there is room for it. Up to three warps for each scheduler, which hide what they
  /// wait for badly, a hundred spills cost less than they gain; more warps gain less.
  llvm::Expected<Assembled> moreCtas(llvm::Expected<Assembled> made) {
    constexpr unsigned fewWarps = 12, mostWarps = 32;
    while (made) {
      unsigned used = registersOf(*made), ctas = target::registersPerSm / (used * threads) + 1;
      unsigned warps = ctas * threads / threadsOfWarp, allowed = target::registersPerSm / (ctas * threads) / 8 * 8;
      unsigned spills = warps <= fewWarps ? 480 : 32, fewer = warps <= fewWarps ? 72 : 40; // bytes; registers
      if (warps > mostWarps || resident(/*registers=*/0) < ctas || allowed + fewer < used || spilledBytes(*made) > 64)
        break;
      std::optional<Assembled> more = tryFor(ctas, spills, *made);
      if (!more || registersOf(*more) > allowed)
        break;
      made = std::move(*more);
    }
    return made;
  }

  /// At least two CTAs, of which one works while the other is at a barrier.
  llvm::Expected<Assembled> forLoop() {
    constexpr unsigned wanted = 512, least = 2, fewSpills = 160; // threads; CTAs; bytes
    llvm::Expected<Assembled> made = assembleFor(std::max(least, wanted / threads));
    if (!made || spilledBytes(*made) <= fewSpills)
      return made;
    return moreCtas(asLiked());
  }

  llvm::Expected<Assembled> forStraightLine(llvm::Expected<Assembled> made) {
    constexpr unsigned fewRegisters = 40, wanted = 640, least = 512, fewSpills = 160; // the latter: threads; bytes
    if (!made)
      return made;
    unsigned used = registersOf(*made);
    // Two CTAs of 1024 threads wait for memory in turns.
    if (threads >= 1024 && resident(used) < 2) {
      std::optional<Assembled> two = tryFor(2, /*bytes=*/0, *made);
      return two ? std::move(*two) : std::move(made);
    }
    if (used <= fewRegisters || spilledBytes(*made) > 0)
      return moreCtas(std::move(made));
    if (std::optional<Assembled> more = tryFor(llvm::divideCeil(wanted, threads), /*bytes=*/0, *made))
      return std::move(*more);
    if (resident(used) * threads < least && threads < least)
      if (std::optional<Assembled> more = tryFor(least / threads, fewSpills, *made))
        return std::move(*more);
    return moreCtas(std::move(made));
  }

  StringRef ptx;
  const target::GpuTarget &target;
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
