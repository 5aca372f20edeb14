// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Combining tuples of scalars, and shuffling them; see Combine.h.
#include "Combine.h"
#include "EmitLayout.h"
#include "Ptx.h"

#include "Layout/LinearLayout.h"
#include "Tile/Commutative.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tile::conversion {

/// Folds an operation whose operands are all constant, such as element counts of whole blocks.
bool CombineEmitter::mapConstants(Operation &op, IRMapping &mapping) {
  SmallVector<Attribute> operands(op.getNumOperands());
  for (auto [value, operand] : llvm::zip_equal(op.getOperands(), operands))
    if (!matchPattern(mapping.lookupOrDefault(value), m_Constant(&operand)))
      return false;
  SmallVector<OpFoldResult> results;
  if (failed(op.fold(operands, results)) || results.empty() || !llvm::all_of(results, [](OpFoldResult result) {
        return isa_and_present<TypedAttr>(dyn_cast<Attribute>(result));
      }))
    return false;
  for (auto [value, result] : llvm::zip_equal(op.getResults(), results))
    mapping.map(value, arith::ConstantOp::create(builder, loc, cast<TypedAttr>(cast<Attribute>(result))).getResult());
  return true;
}

Tuple CombineEmitter::combine(const Tuple &left, const Tuple &right) {
  IRMapping mapping;
  for (size_t index = 0; index < left.size(); ++index) {
    mapping.map(combineBlock.getArgument(index), left[index]);
    mapping.map(combineBlock.getArgument(left.size() + index), right[index]);
  }
  for (Operation &op : combineBlock.without_terminator())
    if (!mapConstants(op, mapping))
      builder.clone(op, mapping);
  Tuple result;
  for (Value value : combineBlock.getTerminator()->getOperands())
    result.push_back(mapping.lookupOrDefault(value));
  return result;
}

bool CombineEmitter::isCommutative() const {
  return tile::isCommutative(combineBlock, /*isExact=*/true);
}

Tuple CombineEmitter::combineAcross(const Tuple &own, unsigned laneBit) {
  Tuple other = shuffleXor(own, laneBit);
  if (isCommutative() && isa<arith::AddFOp>(combineBlock.front()))
    return {addUncontracted(own.front(), other.front())};
  if (isCommutative())
    return combine(own, other);
  Value bit = arith::AndIOp::create(builder, loc, emitThreadId(builder, loc), emitI32(builder, loc, 1 << laneBit));
  Value isUpper = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, bit, emitI32(builder, loc, 0));
  Tuple first, second;
  for (auto [mine, others] : llvm::zip_equal(own, other)) {
    bool isSame = mine == others;
    first.push_back(isSame ? mine : arith::SelectOp::create(builder, loc, isUpper, others, mine).getResult());
    second.push_back(isSame ? mine : arith::SelectOp::create(builder, loc, isUpper, mine, others).getResult());
  }
  return combine(first, second);
}

Tuple CombineEmitter::combineLanes(Tuple own, ArrayRef<unsigned> laneBits) {
  // maximum number of lane bits for which preserving the order is cheaper than one more shuffle
  constexpr size_t fewLanes = 2;
  if (laneBits.size() <= fewLanes || isCommutative()) {
    for (unsigned bit : laneBits)
      own = combineAcross(own, bit);
    return own;
  }
  int64_t others = 0;
  for (unsigned bit : laneBits) {
    own = combine(own, shuffleXor(own, bit));
    others |= int64_t(1) << bit;
  }
  Value first =
      others == layout::lanesPerWarp - 1
          ? emitI32(builder, loc, 0)
          : arith::AndIOp::create(builder, loc, emitThreadId(builder, loc), emitI32(builder, loc, ~others)).getResult();
  return shuffleFrom(own, first);
}

static std::optional<NVVM::ReduxKind> findReductionKind(Operation &op) {
  return llvm::TypeSwitch<Operation *, std::optional<NVVM::ReduxKind>>(&op)
      .Case([](arith::AddIOp) { return NVVM::ReduxKind::ADD; })
      .Case([](arith::AndIOp) { return NVVM::ReduxKind::AND; })
      .Case([](arith::OrIOp) { return NVVM::ReduxKind::OR; })
      .Case([](arith::XOrIOp) { return NVVM::ReduxKind::XOR; })
      .Case([](arith::MinSIOp) { return NVVM::ReduxKind::MIN; })
      .Case([](arith::MaxSIOp) { return NVVM::ReduxKind::MAX; })
      .Case([](arith::MinUIOp) { return NVVM::ReduxKind::UMIN; })
      .Case([](arith::MaxUIOp) { return NVVM::ReduxKind::UMAX; })
      .Default([](Operation *) { return std::nullopt; });
}

std::optional<Tuple> CombineEmitter::combineWarp(const Tuple &own) {
  constexpr unsigned bits = 32;
  Type type = own.front().getType(), word = builder.getIntegerType(bits);
  if (!type.isInteger() || type.getIntOrFloatBitWidth() > bits || !isCommutative() ||
      !llvm::hasNItems(combineBlock.without_terminator(), 1))
    return std::nullopt;
  std::optional<NVVM::ReduxKind> kind = findReductionKind(combineBlock.front());
  if (!kind)
    return std::nullopt;
  bool isSigned = isa<arith::MinSIOp, arith::MaxSIOp>(combineBlock.front());
  Value value = own.front();
  if (type != word)
    value = isSigned ? arith::ExtSIOp::create(builder, loc, word, value).getResult()
                     : arith::ExtUIOp::create(builder, loc, word, value).getResult();
  value = NVVM::ReduxOp::create(builder, loc, word, value, *kind, emitI32(builder, loc, -1));
  return Tuple{type == word ? value : arith::TruncIOp::create(builder, loc, type, value).getResult()};
}

/// Returns `own` + `other`, where `other` was rounded before it was shuffled. If `own` is the result of a
/// multiplication, LLVM and ptxas would fuse the multiplication and the addition, and the lanes would round
/// differently. To prevent this, the addition has explicit rounding: such additions are never contracted (PTX ISA,
/// "add.f32"). Not all targets can add smaller types with explicit rounding; for these types, `own` also goes through a
/// shuffle.
Value CombineEmitter::addUncontracted(Value own, Value other) {
  Type type = own.getType();
  if (!type.isF32() && !type.isF64()) {
    Value rounded = emitShuffle(builder, loc, own, emitI32(builder, loc, 0), ShuffleSource::Xor);
    return combine({rounded}, {other}).front();
  }
  std::string text = type.isF32() ? "add.rn.f32 $0, $1, $2;" : "add.rn.f64 $0, $1, $2;";
  return emitPtx(builder, loc, {.text = text, .results = {type}, .operands = {own, other}, .hasSideEffects = false})
      .front();
}

/// Shuffles a value, except for constants, which are the same in all lanes.
Value CombineEmitter::shuffle(Value value, Value lane, ShuffleSource source) {
  return matchPattern(value, m_Constant()) ? value : emitShuffle(builder, loc, value, lane, source);
}

Tuple CombineEmitter::shuffleXor(const Tuple &tuple, unsigned laneBit) {
  Value mask = emitI32(builder, loc, int64_t(1) << laneBit);
  Tuple moved;
  for (Value value : tuple)
    moved.push_back(shuffle(value, mask, ShuffleSource::Xor));
  return moved;
}

Tuple CombineEmitter::shuffleFrom(const Tuple &tuple, Value lane) {
  Tuple moved;
  for (Value value : tuple)
    moved.push_back(shuffle(value, lane, ShuffleSource::Lane));
  return moved;
}

Tuple CombineEmitter::shuffleBy(const Tuple &tuple, int64_t lanes, bool isFromAbove) {
  Value distance = emitI32(builder, loc, lanes);
  Tuple moved;
  for (Value value : tuple)
    moved.push_back(shuffle(value, distance, isFromAbove ? ShuffleSource::Above : ShuffleSource::Below));
  return moved;
}

static Value shuffleWord(OpBuilder &builder, Location loc, Value word, Value lane, ShuffleSource source) {
  constexpr NVVM::ShflKind kinds[] = {NVVM::ShflKind::idx, NVVM::ShflKind::bfly, NVVM::ShflKind::up,
                                      NVVM::ShflKind::down};
  int64_t farthest = source == ShuffleSource::Below ? 0 : 31;
  return NVVM::ShflOp::create(builder, loc, word.getType(), emitI32(builder, loc, -1), word, lane,
                              emitI32(builder, loc, farthest), kinds[static_cast<unsigned>(source)],
                              /*return_value_and_is_valid=*/UnitAttr());
}

/// Emits shuffles for a value of any width. One shuffle moves 32 bits: smaller values are widened, and larger values
/// are split.
Value emitShuffle(OpBuilder &builder, Location loc, Value value, Value lane, ShuffleSource source) {
  Type type = value.getType(), i32 = builder.getI32Type();
  unsigned bits = type.getIntOrFloatBitWidth();
  if (bits == 32)
    return shuffleWord(builder, loc, value, lane, source);
  Type integer = builder.getIntegerType(bits);
  Value word = type == integer ? value : arith::BitcastOp::create(builder, loc, integer, value).getResult();
  if (bits < 32) {
    word = shuffleWord(builder, loc, arith::ExtUIOp::create(builder, loc, i32, word), lane, source);
    word = arith::TruncIOp::create(builder, loc, integer, word);
  } else {
    auto pairType = VectorType::get(2, i32);
    Value pair = LLVM::BitcastOp::create(builder, loc, pairType, word), moved = pair;
    for (int index : {0, 1}) {
      Value position = emitI32(builder, loc, index);
      Value half =
          shuffleWord(builder, loc, LLVM::ExtractElementOp::create(builder, loc, pair, position), lane, source);
      moved = LLVM::InsertElementOp::create(builder, loc, moved, half, position);
    }
    word = LLVM::BitcastOp::create(builder, loc, integer, moved);
  }
  return type == integer ? word : arith::BitcastOp::create(builder, loc, type, word).getResult();
}

} // namespace tile::conversion
