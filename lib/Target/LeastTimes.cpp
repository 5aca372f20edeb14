// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Evaluates the formula of GemmTime, PingPong and ScheduleTime without branches, roots and integers. Comments say where
// the result is lower than the formula's.
#include "Target/LeastTimes.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <limits>

namespace tile::target {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

/// Rounds values below 2^22 to the nearest integer: their sum with this constant has no bits for the fraction.
template <typename Vector> Vector nearest(Vector x) {
  constexpr float large = 12582912; // 1.5 * 2^23
  return (x + large) - large;
}

/// Divides integers and rounds up. Half of the divisor's inverse exceeds all rounding errors. For large integers, the
/// result may be one too large (see compute).
template <typename Vector> Vector ceilDivide(Vector x, Vector inverse) {
  return nearest(x * inverse + (0.5f - 0.5f * inverse));
}

template <typename Vector> Vector min(Vector a, Vector b) {
  return a < b ? a : b;
}

template <typename Vector> Vector max(Vector a, Vector b) {
  return a > b ? a : b;
}

/// Returns the largest power of two that divides the size.
float divisorOf(int64_t size) {
  return static_cast<float>(size & -size);
}

} // namespace

struct LeastTimes::Size {
  float m, n, k;
  float outputs, inputs;              ///< elements of c; elements of a and b
  float divisorM, divisorN, divisorK; ///< the largest powers of two that divide m, n and k
};

void LeastTimes::add(const ScheduleFormula &formula) {
  const std::optional<PingPongFormula> &pingPong = formula.pingPong;
  const GemmFormula &tiles = pingPong ? pingPong->alone : formula.tiles;
  assert((!tiles.tail || (formula.cluster == 0 && formula.change == 0)) &&
         "only persistent kernels without clusters split the tail");
  const size_t i = count++ % lanes;
  if (i == 0)
    fours.emplace_back();
  Kernels &all = fours.back();
  const auto set = [i](Lanes &field, double value) { field[i] = static_cast<float>(value); };
  constexpr double us = 1e-3;                                  // per ns
  const double atoms = tiles.busy * us, l2 = tiles.l2 * atoms; // the atoms of a step
  const double line = double(tiles.elementsOfLine);
  set(all.blockM, tiles.config.blockM);
  set(all.blockN, tiles.config.blockN);
  set(all.inverseM, 1.0 / tiles.config.blockM);
  set(all.inverseN, 1.0 / tiles.config.blockN);
  set(all.inverseK, 1.0 / tiles.config.blockK);
  set(all.inverseSms, 1.0 / double(tiles.numSms));
  set(all.inverseParts, 1.0 / double(tiles.ctasPerTile));
  set(all.parts, double(tiles.ctasPerTile));
  set(all.numSms, double(tiles.numSms));
  set(all.lostSteps, tiles.tail ? double(tiles.tail->sum + tiles.tail->fixed) : infinity);
  set(all.lineM, tiles.aKMajor ? 0 : line);
  set(all.lineKOfA, tiles.aKMajor ? line : 0);
  set(all.lineN, tiles.bKMajor ? 0 : line);
  set(all.lineKOfB, tiles.bKMajor ? line : 0);
  set(all.evenA, tiles.linesOf(tiles.aKMajor, 0) * l2);
  set(all.straddlingA, tiles.linesOf(tiles.aKMajor, 1) * l2);
  set(all.evenB, tiles.linesOf(tiles.bKMajor, 0) * l2);
  set(all.straddlingB, tiles.linesOf(tiles.bKMajor, 1) * l2);
  set(all.missing, tiles.config.wgmma ? tiles.missingLines * l2 : 0);
  set(all.minAtom, tiles.unchanging.largest() * atoms);
  set(all.energy, tiles.energy * atoms);
  set(all.ingest, tiles.ingest * atoms);
  set(all.gap, tiles.gap * us);
  set(all.minStep, tiles.minStep * us);
  set(all.epilogue, tiles.epilogue * us);
  set(all.stages, tiles.config.numStages);
  set(all.late, tiles.late * us);
  set(all.atATime, tiles.tilesAtATime);
  set(all.crowded, tiles.crowded);
  set(all.spills, tiles.spills);
  const bool canGain = pingPong && pingPong->isMeasured;
  set(all.pingPongShortK, canGain ? double(pingPong->numSms) : infinity);
  set(all.pingPongLongK, canGain ? double(pingPong->numSms * PingPongGain::manyTiles) : infinity);
  set(all.pingPongLate, pingPong ? pingPong->pingPong.late * us : 0);
  set(all.pingPongAtATime, pingPong ? pingPong->pingPong.tilesAtATime : 1);
  set(all.read, tiles.elementBytes * tiles.memory * us);
  set(all.written, tiles.outputBytes * tiles.writes * us);
  set(all.l2Elements, tiles.l2Bytes / tiles.elementBytes);
  set(all.narrowA, tiles.narrowA);
  set(all.narrowB, tiles.narrowB);
  set(all.pause, tiles.pause * us);
  set(all.fixed, tiles.fixed * us);
  set(all.start, formula.start - formula.change);
  set(all.round, formula.cluster + formula.change);
  set(all.unusedSplit, formula.unusedSplit);
}

LeastTimes::Lanes LeastTimes::leastTimes(const Kernels &all, const Size &size) {
  const Lanes zero = {}, one = zero + 1, m = zero + size.m, n = zero + size.n, k = zero + size.k;
  // The tiles and K steps. If the tail is split, each multiprocessor takes at least the time of an equal share of all K
  // steps plus `lostSteps`.
  const Lanes tiles = ceilDivide(m, all.inverseM) * ceilDivide(n, all.inverseN) * all.parts;
  const Lanes steps = ceilDivide(ceilDivide(k, all.inverseK), all.inverseParts);
  const Lanes rounds = ceilDivide(tiles, all.inverseSms), wholeSteps = rounds * steps;
  const Lanes maxSteps = min(wholeSteps, tiles * all.inverseSms * steps + all.lostSteps);
  const Lanes inPieces = (m * all.narrowA + n * all.narrowB) * k;
  const Lanes inputs = size.inputs + (size.inputs > all.l2Elements ? inPieces : zero);
  const Lanes memory = inputs * all.read + size.outputs * all.written + (rounds - one) * all.pause;
  // The time of a step's MMAs is the largest limit. More multiprocessors are active in a split tail than in a whole
  // one.
  const Lanes active = min(tiles, all.numSms), usedM = min(all.blockM, m), usedN = min(all.blockN, n);
  const auto straddlesA = (size.divisorM < all.lineM) | (size.divisorK < all.lineKOfA);
  const auto straddlesB = (size.divisorN < all.lineN) | (size.divisorK < all.lineKOfB);
  const Lanes lines = usedM * (straddlesA ? all.straddlingA : all.evenA) +
                      usedN * (straddlesB ? all.straddlingB : all.evenB) +
                      (all.blockM - usedM + all.blockN - usedN) * all.missing;
  const Lanes mmas =
      max(max(all.minAtom, (usedM + usedN) * all.ingest), max(lines, usedM * usedN * all.energy) * active);
  // All steps and epilogues.
  const Lanes pingPongFrom = size.k <= PingPongGain::shortK ? all.pingPongShortK
                             : size.k <= PingPongGain::maxK ? all.pingPongLongK
                                                            : zero + infinity;
  const auto usesPingPong = tiles > pingPongFrom;
  Lanes compute = maxSteps * max(mmas + all.gap, all.minStep) + rounds * all.epilogue;
  compute += max(zero, maxSteps - all.stages) * (usesPingPong ? all.pingPongLate : all.late) *
             max(zero, one - memory / compute);
  const Lanes together = min(usesPingPong ? all.pingPongAtATime : all.atATime, rounds);
  const Lanes shared = max(maxSteps * mmas * all.crowded + steps * all.gap + all.epilogue, compute / together);
  compute = (together > one ? shared : compute) * all.spills;
  const Lanes time = all.fixed + max(compute, memory);
  return all.start + time * (usesPingPong ? zero + float(1 / PingPongGain::underestimate) : one) + rounds * all.round +
         (maxSteps < wholeSteps ? zero : all.unusedSplit);
}

void LeastTimes::compute(GemmSize size, std::span<float> microseconds) const {
  assert(microseconds.size() >= count);
  size = ScheduleFormula::clamp(size);
  const float m = float(size.m), n = float(size.n), k = float(size.k);
  const Size sizes{m, n, k, m * n, (m + n) * k, divisorOf(size.m), divisorOf(size.n), divisorOf(size.k)};
  // The factor allows for sums in a different order and for quotients that are one too large: those of rounds from 2^22
  // tiles on, and those of tiles or steps at larger sizes.
  constexpr int64_t large = 1 << 21;
  const float rounding = std::max({size.m, size.n, size.k}) > large ? 0.99f : 0.999f;
  for (size_t i = 0; i < count; i += lanes) {
    const Lanes times = leastTimes(fours[i / lanes], sizes) * rounding;
    if (i + lanes <= count) {
      std::memcpy(&microseconds[i], &times, sizeof(times));
      continue;
    }
    for (size_t lane = 0; i + lane < count; ++lane)
      microseconds[i + lane] = times[lane];
  }
}

} // namespace tile::target
