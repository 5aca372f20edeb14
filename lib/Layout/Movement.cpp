// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Classifies a conversion by what its source map depends on; see Movement.h.

#include "Layout/Movement.h"

namespace tile::layout {

namespace {

/// Output dimensions of conversionMap.
enum { registerOut, laneOut, warpOut };

/// Whether output `out` of the map is equal to input `name`, bit by bit, and depends on nothing else.
bool passesThrough(const LinearLayout &map, unsigned out, std::string_view name) {
  for (std::string_view input : {registerDim, laneDim, warpDim}) {
    Bases bases = map.bases(input);
    for (size_t bit = 0; bit < bases.size(); ++bit)
      if (bases[bit][out] != (input == name ? int32_t(1) << bit : 0))
        return false;
  }
  return true;
}

/// How many source registers the threads read for one destination register, as a power of two.
unsigned registerChoices(const LinearLayout &map) {
  Span choices;
  for (std::string_view input : {laneDim, warpDim})
    for (const std::vector<int32_t> &basis : map.bases(input))
      choices.insert(static_cast<uint64_t>(basis[registerOut]));
  return choices.dimension();
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
    for (int32_t index = 0; index < dst.numRegisters(); ++index)
      movement.registerSources.push_back(map.apply({{registerDim, index}})[registerOut]);
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
  uint64_t input = layout.toMatrix().rightInverse()->apply(layout.flatten(coordinate));
  std::vector<int32_t> numbers = layout.unflattenInput(input);
  return {numbers[0], numbers[1], numbers[2]};
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
