// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Index arithmetic for layouts; see EmitLayout.h.
#include "EmitLayout.h"

#include "Cta/CtaDialect.h"
#include "Layout/Movement.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

#include <bit>
#include <map>

using namespace mlir;
using tile::layout::LinearLayout;

namespace tile::conversion {

namespace {

std::vector<uint64_t> threadBases(std::vector<uint64_t> lanes, const std::vector<uint64_t> &warps) {
  lanes.insert(lanes.end(), warps.begin(), warps.end());
  return lanes;
}

std::vector<uint64_t> alongAxis(const layout::Bases &bases, unsigned axis) {
  std::vector<uint64_t> result;
  for (const std::vector<int32_t> &basis : bases)
    result.push_back(static_cast<uint64_t>(basis[axis]));
  return result;
}

} // namespace

ThreadMap ThreadMap::flat(const LinearLayout &layout, uint64_t scale) {
  ThreadMap map{layout.flatBases(layout::registerDim),
                threadBases(layout.flatBases(layout::laneDim), layout.flatBases(layout::warpDim))};
  for (std::vector<uint64_t> *bases : {&map.registers, &map.threads})
    for (uint64_t &basis : *bases)
      basis *= scale;
  return map;
}

ThreadMap ThreadMap::coordinate(const LinearLayout &layout, unsigned axis) {
  return {alongAxis(layout.bases(layout::registerDim), axis),
          threadBases(alongAxis(layout.bases(layout::laneDim), axis), alongAxis(layout.bases(layout::warpDim), axis))};
}

uint64_t ThreadMap::ofRegister(uint64_t index) const {
  uint64_t value = 0;
  for (size_t bit = 0; bit < registers.size(); ++bit)
    if (index >> bit & 1)
      value ^= registers[bit];
  return value;
}

Value emitThreadId(OpBuilder &builder, Location loc) {
  return NVVM::ThreadIdXOp::create(builder, loc, builder.getI32Type());
}

Value emitI32(OpBuilder &builder, Location loc, int64_t value) {
  return arith::ConstantIntOp::create(builder, loc, builder.getI32Type(), value);
}

Value emitByteOffset(OpBuilder &builder, Location loc, Value base, int64_t bytes) {
  if (bytes == 0)
    return base;
  constexpr unsigned constantBits = 29; // width of a constant index of llvm.getelementptr
  SmallVector<LLVM::GEPArg, 1> index;
  if (llvm::isInt<constantBits>(bytes))
    index.emplace_back(static_cast<int32_t>(bytes));
  else
    index.emplace_back(arith::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(bytes)).getResult());
  return LLVM::GEPOp::create(builder, loc, base.getType(), builder.getI8Type(), base, index, LLVM::GEPNoWrapFlags::nuw);
}

Value emitLinearMap(OpBuilder &builder, Location loc, Value input, const std::vector<uint64_t> &bases) {
  // Groups bits by the distance that they move. The value is the XOR of (input & mask) << distance over all distances.
  std::map<int, uint64_t> masks;
  for (size_t in = 0; in < bases.size(); ++in)
    for (uint64_t remaining = bases[in]; remaining != 0; remaining &= remaining - 1)
      masks[std::countr_zero(remaining) - static_cast<int>(in)] |= uint64_t(1) << in;
  Value sum;
  uint64_t used = 0;
  for (auto [distance, mask] : masks) {
    Value term = arith::AndIOp::create(builder, loc, input, emitI32(builder, loc, mask));
    if (distance > 0)
      term = arith::ShLIOp::create(builder, loc, term, emitI32(builder, loc, distance));
    if (distance < 0)
      term = arith::ShRUIOp::create(builder, loc, term, emitI32(builder, loc, -distance));
    uint64_t image = distance >= 0 ? mask << distance : mask >> -distance;
    if (!sum)
      sum = term;
    else if (used & image)
      sum = arith::XOrIOp::create(builder, loc, sum, term);
    else
      sum = arith::OrIOp::create(builder, loc, sum, term);
    used |= image;
  }
  return sum;
}

OffsetEmitter::OffsetEmitter(OpBuilder &builder, Location loc, ThreadMap map)
    : builder(builder), loc(loc), map(std::move(map)) {
  for (uint64_t basis : this->map.threads)
    threadMask |= basis;
}

void OffsetEmitter::moveBy(Value value, uint64_t mask) {
  moved = value;
  threadMask |= mask;
  dynamicParts.clear();
  bases.clear();
}

Value OffsetEmitter::dynamicPart(uint64_t bits) {
  auto [entry, isNew] = dynamicParts.try_emplace(bits);
  if (!isNew)
    return entry->second;
  if (bits != 0) {
    Value base = dynamicPart(0);
    return dynamicParts[bits] = arith::XOrIOp::create(builder, loc, base, emitI32(builder, loc, bits));
  }
  bool isConstant = llvm::all_of(map.threads, [](uint64_t basis) { return basis == 0; });
  Value sum = isConstant ? Value() : emitLinearMap(builder, loc, emitThreadId(builder, loc), map.threads);
  if (moved)
    sum = sum ? Value(arith::XOrIOp::create(builder, loc, sum, moved)) : moved;
  return dynamicParts[0] = sum;
}

Value OffsetEmitter::index(uint64_t constant, int64_t start) {
  int64_t added = static_cast<int64_t>(constant & ~threadMask) + start;
  Value dynamic = dynamicPart(constant & threadMask);
  if (!dynamic)
    return emitI32(builder, loc, added);
  if (added == 0)
    return dynamic;
  // The result, a coordinate plus the start of a range, fits in 31 bits.
  return arith::AddIOp::create(builder, loc, dynamic, emitI32(builder, loc, added), arith::IntegerOverflowFlags::nsw);
}

Value OffsetEmitter::address(Value base, uint64_t constant) {
  uint64_t bits = constant & threadMask;
  Value &shared = bases[{base, bits}];
  if (!shared) {
    Value dynamic = dynamicPart(bits);
    shared = !dynamic ? base
                      : Value(LLVM::GEPOp::create(builder, loc, base.getType(), builder.getI8Type(), base,
                                                  ArrayRef<LLVM::GEPArg>{dynamic}, LLVM::GEPNoWrapFlags::nuw));
  }
  return emitByteOffset(builder, loc, shared, static_cast<int64_t>(constant & ~threadMask));
}

std::vector<int32_t> canonicalRegisters(const LinearLayout &layout) {
  std::vector<uint64_t> bases = layout.flatBases(layout::registerDim);
  layout::Span registers(bases);
  std::vector<int32_t> result;
  for (int64_t index = 0; index < layout.numRegisters(); ++index) {
    uint64_t element = layout.applyFlat({{layout::registerDim, index}});
    result.push_back(static_cast<int32_t>(*registers.express(element)));
  }
  return result;
}

uint64_t redundantThreadBits(const LinearLayout &layout) {
  layout::Span held(layout.flatBases(layout::registerDim));
  uint64_t redundant = 0;
  std::vector<uint64_t> threads = ThreadMap::flat(layout).threads;
  for (size_t bit = 0; bit < threads.size(); ++bit)
    if (!held.insert(threads[bit]))
      redundant |= uint64_t(1) << bit;
  return redundant;
}

Value emitBitsAreZero(OpBuilder &builder, Location loc, uint64_t bits) {
  Value tid = emitThreadId(builder, loc);
  Value masked = arith::AndIOp::create(builder, loc, tid, emitI32(builder, loc, bits));
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, masked, emitI32(builder, loc, 0));
}

Value emitIsFirstCopy(OpBuilder &builder, Location loc, const LinearLayout &layout) {
  uint64_t redundant = redundantThreadBits(layout);
  return redundant == 0 ? Value() : emitBitsAreZero(builder, loc, redundant);
}

Value emitIsFirstThread(OpBuilder &builder, Location loc) {
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, emitThreadId(builder, loc),
                               emitI32(builder, loc, 0));
}

Value emitIsFirstOfRole(OpBuilder &builder, Operation *op) {
  std::optional<cta::Role> role = cta::findRole(op);
  if (!role || (role->getFirstWarp() == 0 && role->getAttr().getTeams() == 1 && !role->getAttr().getOneThread()))
    return emitIsFirstThread(builder, op->getLoc());
  if (role->getAttr().getOneThread())
    return {};
  if (role->getAttr().getTeams() > 1) // teams start at multiples of their size
    return emitBitsAreZero(builder, op->getLoc(), role->getAttr().getWarps() * target::threadsPerWarp - 1);
  return arith::CmpIOp::create(builder, op->getLoc(), arith::CmpIPredicate::eq, emitThreadId(builder, op->getLoc()),
                               emitI32(builder, op->getLoc(), role->getFirstWarp() * target::threadsPerWarp));
}

Value emitGroupInRole(OpBuilder &builder, Operation *op) {
  Location loc = op->getLoc();
  Value group = arith::DivUIOp::create(builder, loc, emitUniformWarpId(builder, loc),
                                       emitI32(builder, loc, target::warpsPerGroup));
  std::optional<cta::Role> role = cta::findRole(op);
  unsigned first = role ? role->getFirstWarp() / target::warpsPerGroup : 0;
  return first == 0 ? group : arith::SubIOp::create(builder, loc, group, emitI32(builder, loc, first)).getResult();
}

Value emitUniformWarpId(OpBuilder &builder, Location loc) {
  Value warp = arith::ShRUIOp::create(builder, loc, emitThreadId(builder, loc), emitI32(builder, loc, 5));
  return NVVM::ShflOp::create(builder, loc, builder.getI32Type(), /*mask=*/emitI32(builder, loc, -1), warp,
                              /*lane=*/emitI32(builder, loc, 0), /*clamp=*/emitI32(builder, loc, 31),
                              NVVM::ShflKind::idx, /*return_value_and_is_valid=*/UnitAttr());
}

std::optional<std::vector<int32_t>> registerSources(const LinearLayout &src, const LinearLayout &dst) {
  layout::Movement movement = layout::planMovement(src, dst);
  if (movement.kind != layout::MovementKind::none && movement.kind != layout::MovementKind::registers)
    return std::nullopt;
  return movement.registerSources;
}

} // namespace tile::conversion
