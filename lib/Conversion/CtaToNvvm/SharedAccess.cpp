// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Accesses to tiles in shared memory; see SharedAccess.h. lib/Layout/Access.h plans which registers form one access;
// OffsetEmitter computes the addresses.
#include "SharedAccess.h"

#include "EmitLayout.h"
#include "Words.h"

#include "Layout/Access.h"
#include "Tile/TileDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using tile::layout::LinearLayout;
using tile::layout::MatrixAccess;
using tile::layout::VectorAccess;

namespace tile::conversion {

namespace {

/// Loads the words of one aligned access.
SmallVector<Value> loadWords(OpBuilder &builder, Location loc, Value address, WordFormat format) {
  Type word = builder.getIntegerType(format.bits);
  if (format.count == 1)
    return {LLVM::LoadOp::create(builder, loc, word, address, format.bytes())};
  Value vector = LLVM::LoadOp::create(builder, loc, VectorType::get(format.count, word), address, format.bytes());
  SmallVector<Value> words;
  for (unsigned index = 0; index < format.count; ++index)
    words.push_back(LLVM::ExtractElementOp::create(builder, loc, vector, emitI32(builder, loc, index)));
  return words;
}

void storeWords(OpBuilder &builder, Location loc, Value address, ValueRange words, WordFormat format) {
  Value value = words.front();
  if (format.count > 1) {
    value = LLVM::UndefOp::create(builder, loc, VectorType::get(format.count, words.front().getType()));
    for (auto [index, word] : llvm::enumerate(words))
      value = LLVM::InsertElementOp::create(builder, loc, value, word, emitI32(builder, loc, index));
  }
  LLVM::StoreOp::create(builder, loc, value, address, format.bytes());
}

/// Plans an access with ldmatrix or stmatrix; returns nullopt if the target lacks the instruction or the layout does
/// not permit it.
std::optional<MatrixAccess> planMatrix(const SharedTile &tile, bool hasInstruction) {
  if (!hasInstruction)
    return std::nullopt;
  return layout::planMatrixAccess(tile.distributed, tile.layout, getBytesInMemory(tile.element));
}

/// Returns the distance in bytes by which an element moves when its row-major index is XORed with `shift`.
uint64_t shiftInBytes(const SharedTile &tile, uint64_t shift) {
  return *layout::Span(tile.layout.toMatrix().columns()).express(shift) * getBytesInMemory(tile.element);
}

/// Calls `function(index, canonical)` for each access; if `canonical` differs from `index`, access `index` repeats
/// access `canonical`.
template <typename Function> void forEachAccess(const LinearLayout &addresses, Function function) {
  std::vector<int32_t> canonical = canonicalRegisters(addresses);
  for (int32_t index = 0; index < addresses.numRegisters(); ++index)
    function(index, canonical[index]);
}

SmallVector<Value> loadMatrices(OpBuilder &builder, Location loc, const SharedTile &tile, const MatrixAccess &access,
                                uint64_t shiftBytes) {
  ThreadMap map = ThreadMap::flat(access.addresses);
  OffsetEmitter offsets(builder, loc, map);
  WordFormat format{32, 1, access.elementsPerRegister};
  Type i32 = builder.getI32Type(), result = i32;
  if (access.matrices > 1)
    result = LLVM::LLVMStructType::getLiteral(builder.getContext(), SmallVector<Type>(access.matrices, i32));
  auto layout = access.transposed ? NVVM::MMALayout::col : NVVM::MMALayout::row;
  auto shape = NVVM::LdStMatrixShapeAttr::get(builder.getContext(), 8, 8);
  SmallVector<Value> registers(access.registerOrder.size());
  for (int64_t index = 0; index < access.addresses.numRegisters(); ++index) {
    Value address = offsets.address(tile.base, map.ofRegister(index) ^ shiftBytes);
    Value loaded = NVVM::LdMatrixOp::create(builder, loc, result, address, access.matrices, layout, shape,
                                            NVVM::LdStMatrixEltType::B16);
    for (unsigned matrix = 0; matrix < access.matrices; ++matrix) {
      Value word = access.matrices == 1 ? loaded : LLVM::ExtractValueOp::create(builder, loc, loaded, matrix);
      for (auto [element, value] : llvm::enumerate(unpackWords(builder, loc, word, tile.element, format)))
        registers[access.registerAt(index, matrix, element)] = value;
    }
  }
  return registers;
}

void storeMatrices(OpBuilder &builder, Location loc, const SharedTile &tile, const MatrixAccess &access,
                   ValueRange registers) {
  OffsetEmitter offsets(builder, loc, ThreadMap::flat(access.addresses));
  WordFormat format{32, 1, access.elementsPerRegister};
  auto layout = access.transposed ? NVVM::MMALayout::col : NVVM::MMALayout::row;
  auto shape = NVVM::LdStMatrixShapeAttr::get(builder.getContext(), 8, 8);
  forEachAccess(access.addresses, [&](int32_t index, int32_t canonical) {
    if (index != canonical)
      return;
    SmallVector<Value> words;
    for (unsigned matrix = 0; matrix < access.matrices; ++matrix) {
      SmallVector<Value> values;
      for (unsigned element = 0; element < access.elementsPerRegister; ++element)
        values.push_back(registers[access.registerAt(index, matrix, element)]);
      words.append(packWords(builder, loc, values, format));
    }
    NVVM::StMatrixOp::create(builder, loc, offsets.addressOfRegister(tile.base, index), words, layout, shape,
                             NVVM::LdStMatrixEltType::B16);
  });
}

} // namespace

struct SharedPartLoader::State {
  OpBuilder &builder;
  Location loc;
  Value base;
  Type element;
  VectorAccess access;
  layout::Span tileOffsets; // maps a row-major index to an offset within the tile
  std::vector<int32_t> canonical;
  ThreadMap map;
  std::optional<OffsetEmitter> offsets;
};

SharedPartLoader::SharedPartLoader(OpBuilder &builder, Location loc, const SharedTile &tile,
                                   const std::vector<uint64_t> &shifts)
    : state(new State{
          builder, loc, tile.base, tile.element, {}, layout::Span(tile.layout.toMatrix().columns()), {}, {}, {}}) {
  unsigned bytes = getBytesInMemory(tile.element);
  LinearLayout memory = layout::memoryOffsets(tile.distributed, tile.layout);
  // Accesses must remain aligned after a shift.
  unsigned width = widestAccess;
  for (uint64_t shift : shifts)
    while (width > bytes && *state->tileOffsets.express(shift) * bytes % width != 0)
      width /= 2;
  state->access = layout::planVectorAccess(memory, bytes, width);
  state->canonical = canonicalRegisters(state->access.addresses);
  state->map = ThreadMap::flat(state->access.addresses, bytes);
  state->offsets.emplace(builder, loc, state->map);
}

SharedPartLoader::~SharedPartLoader() = default;

void SharedPartLoader::moveBy(Value index, const std::vector<uint64_t> &ofBit) {
  std::vector<uint64_t> bytes;
  uint64_t mask = 0;
  for (uint64_t shift : ofBit) {
    bytes.push_back(*state->tileOffsets.express(shift) * getBytesInMemory(state->element));
    mask |= bytes.back();
  }
  if (Value moved = emitLinearMap(state->builder, state->loc, index, bytes))
    state->offsets->moveBy(moved, mask);
}

SmallVector<Value> SharedPartLoader::load(uint64_t shift) {
  const VectorAccess &access = state->access;
  WordFormat format = wordsFor(state->element, access.elements);
  uint64_t offset = *state->tileOffsets.express(shift) * getBytesInMemory(state->element);
  SmallVector<Value> registers(access.registerOrder.size());
  for (int64_t index = 0; index < access.addresses.numRegisters(); ++index) {
    auto first = access.registerOrder.begin() + index * access.elements;
    if (state->canonical[index] != index) {
      auto source = access.registerOrder.begin() + state->canonical[index] * access.elements;
      for (unsigned element = 0; element < access.elements; ++element)
        registers[first[element]] = registers[source[element]];
      continue;
    }
    Value address = state->offsets->address(state->base, state->map.ofRegister(index) ^ offset);
    SmallVector<Value> words = loadWords(state->builder, state->loc, address, format);
    for (auto [element, value] :
         llvm::enumerate(unpackWords(state->builder, state->loc, words, state->element, format)))
      registers[first[element]] = value;
  }
  return registers;
}

SmallVector<Value> emitSharedLoad(OpBuilder &builder, Location loc, const SharedTile &tile, uint64_t shift,
                                  const target::GpuTarget &gpu) {
  uint64_t shiftBytes = shiftInBytes(tile, shift);
  // ldmatrix reads complete, aligned rows of 16 bytes.
  bool keepsRows = shiftBytes % widestAccess == 0;
  if (std::optional<MatrixAccess> access = planMatrix(tile, keepsRows && gpu.has(target::Feature::LdMatrix)))
    return loadMatrices(builder, loc, tile, *access, shiftBytes);
  return SharedPartLoader(builder, loc, tile, {shift}).load(shift);
}

void emitSharedStore(OpBuilder &builder, Location loc, const SharedTile &tile, ValueRange registers,
                     const target::GpuTarget &gpu) {
  if (std::optional<MatrixAccess> access = planMatrix(tile, gpu.has(target::Feature::StMatrix)))
    return storeMatrices(builder, loc, tile, *access, registers);
  unsigned bytes = getBytesInMemory(tile.element);
  VectorAccess access = layout::planVectorAccess(layout::memoryOffsets(tile.distributed, tile.layout), bytes);
  WordFormat format = wordsFor(tile.element, access.elements);
  OffsetEmitter offsets(builder, loc, ThreadMap::flat(access.addresses, bytes));
  forEachAccess(access.addresses, [&](int32_t index, int32_t canonical) {
    if (index != canonical)
      return;
    SmallVector<Value> values;
    for (unsigned element = 0; element < access.elements; ++element)
      values.push_back(registers[access.registerOrder[index * access.elements + element]]);
    storeWords(builder, loc, offsets.addressOfRegister(tile.base, index), packWords(builder, loc, values, format),
               format);
  });
}

} // namespace tile::conversion
