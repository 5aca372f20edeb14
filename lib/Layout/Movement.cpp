// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Plans a conversion according to the inputs on which its source map depends; see Movement.h.

#include "Layout/Movement.h"

namespace tile::layout {

namespace {

/// The output dimensions of conversionMap.
enum { registerOut, laneOut, warpOut };

/// Returns the effect of each bit of the input `name` on output `out`. This function is called several times for every
/// pair of layouts. For speed, it extracts the output from the flat bases.
std::vector<uint64_t> basesOfOutput(const LinearLayout &map, unsigned out, std::string_view name) {
  unsigned below = 0;
  for (unsigned inner = out + 1; inner < map.rank(); ++inner)
    below += map.outSizeLog2(inner);
  std::vector<uint64_t> bases = map.flatBases(name);
  for (uint64_t &basis : bases)
    basis = basis >> below & ((uint64_t(1) << map.outSizeLog2(out)) - 1);
  return bases;
}

/// Returns true if output `out` of the map equals input `name` bit by bit, and depends on nothing else.
bool passesThrough(const LinearLayout &map, unsigned out, std::string_view name) {
  for (std::string_view input : {registerDim, laneDim, warpDim}) {
    std::vector<uint64_t> bases = basesOfOutput(map, out, input);
    for (size_t bit = 0; bit < bases.size(); ++bit)
      if (bases[bit] != (input == name ? uint64_t(1) << bit : 0))
        return false;
  }
  return true;
}

/// Returns log2 of the number of source registers from which different threads read the same destination register.
unsigned registerChoices(const LinearLayout &map) {
  Span choices;
  for (std::string_view input : {laneDim, warpDim})
    for (uint64_t basis : basesOfOutput(map, registerOut, input))
      choices.insert(basis);
  return choices.dimension();
}

/// Returns the source register of each destination register, for maps in which lanes and warps do not affect the
/// register.
std::vector<int32_t> findRegisterSources(const LinearLayout &map) {
  std::vector<int32_t> sources = {0};
  for (uint64_t basis : basesOfOutput(map, registerOut, registerDim))
    for (size_t index = 0, count = sources.size(); index < count; ++index)
      sources.push_back(sources[index] ^ static_cast<int32_t>(basis));
  return sources;
}

} // namespace

Movement planMovement(const LinearLayout &src, const LinearLayout &dst, int64_t maxShufflesPerRegister) {
  Movement movement;
  movement.sources = conversionMap(src, dst);
  const LinearLayout &map = movement.sources;
  movement.crossesWarps = !passesThrough(map, warpOut, warpDim);
  bool crossesLanes = movement.crossesWarps || !passesThrough(map, laneOut, laneDim);
  unsigned choices = registerChoices(map);

  if (!crossesLanes && choices == 0) {
    movement.registerSources = findRegisterSources(map);
    bool renames = src.numRegisters() != dst.numRegisters() || !passesThrough(map, registerOut, registerDim);
    movement.kind = renames ? MovementKind::registers : MovementKind::none;
    return movement;
  }
  if (!movement.crossesWarps && int64_t(1) << choices <= maxShufflesPerRegister) {
    movement.kind = MovementKind::lanes;
    movement.shuffles = dst.numRegisters() << choices;
    return movement;
  }
  movement.kind = MovementKind::shared;
  return movement;
}

Distance findDistance(const LinearLayout &layout, unsigned axis, int64_t bits) {
  std::vector<int32_t> coordinate(layout.rank(), 0);
  coordinate[axis] = static_cast<int32_t>(bits);
  uint64_t input = *Span(layout.toMatrix().columns()).express(layout.flatten(coordinate));
  std::vector<int32_t> inputs = layout.unflattenInput(input);
  return {inputs[0], inputs[1], inputs[2]};
}

bool movesByPairs(const LinearLayout &sources, unsigned elementBytes) {
  const Bases &registers = sources.bases(registerDim);
  return elementBytes == 1 && registers.size() >= 2 && registers[0][laneOut] == 0 && registers[1][laneOut] != 0 &&
         passesThrough(sources, warpOut, warpDim) && registerChoices(sources) <= 1;
}

bool movesByShuffles(const LinearLayout &src, const LinearLayout &dst, unsigned elementBytes) {
  constexpr unsigned shuffleBytes = 4;
  if (src.rank() != 1)
    return movesByPairs(conversionMap(src, dst), elementBytes);
  return elementBytes <= shuffleBytes &&
         planMovement(src, dst, /*maxShufflesPerRegister=*/1).kind == MovementKind::lanes;
}

} // namespace tile::layout
