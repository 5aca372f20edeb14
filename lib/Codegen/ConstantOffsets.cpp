// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Codegen/ConstantOffsets.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/Local.h"

#include <map>
#include <tuple>

using namespace llvm;

namespace tile::codegen {
namespace {

constexpr unsigned globalAddressSpace = 1;
/// Maximum depth of an expression that is split. The address of a block with a few dimensions is at most this deep.
constexpr unsigned maxDepth = 16;

/// A value as a sum: remainder + offset. A null remainder stands for zero.
struct Split {
  Value *remainder;
  APInt offset;
};

class OffsetSplitter {
public:
  explicit OffsetSplitter(Function &function) : function(function), dominators(function) {}

  /// Splits a pointer into another pointer and a constant byte offset.
  Split splitPointer(Value *pointer, unsigned depth = 0) {
    const DataLayout &layout = function.getDataLayout();
    APInt none(layout.getIndexTypeSizeInBits(pointer->getType()), 0);
    auto *address = dyn_cast<GetElementPtrInst>(pointer);
    if (!address || address->getNumIndices() != 1 || address->getType()->isVectorTy() || depth == maxDepth)
      return {pointer, none};
    Value *index = address->getOperand(1);
    if (index->getType()->getScalarSizeInBits() != none.getBitWidth())
      return {pointer, none};
    Split base = splitPointer(address->getPointerOperand(), depth + 1), steps = split(index, /*isDisjoint=*/false, 0);
    uint64_t bytes = layout.getTypeAllocSize(address->getSourceElementType());
    APInt offset = base.offset + steps.offset * bytes;
    if (!steps.remainder)
      return {base.remainder, offset};
    if (base.remainder == address->getPointerOperand() && steps.remainder == index)
      return {pointer, offset};
    Type *element = address->getSourceElementType();
    return {share({Instruction::GetElementPtr, element, base.remainder, steps.remainder},
                  [&](IRBuilder<> &builder) { return builder.CreateGEP(element, base.remainder, steps.remainder); }),
            offset};
  }

private:
  using Key = std::tuple<unsigned, Type *, Value *, Value *>;

  /// Splits an integer into the sum of a remainder and a constant. If `isDisjoint`, the remainder and the constant have
  /// no common bits.
  Split split(Value *value, bool isDisjoint, unsigned depth) {
    auto known = splits.find({value, isDisjoint});
    if (known != splits.end())
      return known->second;
    return splits.try_emplace({value, isDisjoint}, splitAnew(value, isDisjoint, depth)).first->second;
  }

  Split splitAnew(Value *value, bool isDisjoint, unsigned depth) {
    unsigned width = value->getType()->getScalarSizeInBits();
    if (auto *number = dyn_cast<ConstantInt>(value))
      return {nullptr, number->getValue()};
    Split whole{value, APInt(width, 0)};
    auto *instruction = dyn_cast<Instruction>(value);
    if (!instruction || !value->getType()->isIntegerTy() || depth == maxDepth)
      return whole;
    switch (instruction->getOpcode()) {
    case Instruction::Or:
      return cast<PossiblyDisjointInst>(instruction)->isDisjoint() ? splitSum(*instruction, isDisjoint, depth) : whole;
    case Instruction::Add:
      return isDisjoint ? whole : splitSum(*instruction, isDisjoint, depth);
    case Instruction::Mul:
      return isDisjoint ? whole : splitScaled(*instruction, isDisjoint, depth);
    case Instruction::Shl:
      return splitScaled(*instruction, isDisjoint, depth);
    case Instruction::SExt:
    case Instruction::ZExt:
      return splitExtended(cast<CastInst>(*instruction), depth);
    default:
      return whole;
    }
  }

  Split splitSum(Instruction &sum, bool isDisjoint, unsigned depth) {
    Split left = split(sum.getOperand(0), isDisjoint, depth + 1),
          right = split(sum.getOperand(1), isDisjoint, depth + 1);
    APInt offset = left.offset + right.offset;
    if (offset.isZero())
      return {&sum, offset};
    if (!left.remainder || !right.remainder)
      return {left.remainder ? left.remainder : right.remainder, offset};
    // The remainders of two disjoint operands may have common bits, so in general an add is needed.
    unsigned opcode = isDisjoint ? Instruction::Or : Instruction::Add;
    return {share({opcode, sum.getType(), left.remainder, right.remainder},
                  [&](IRBuilder<> &builder) {
                    return isDisjoint ? builder.CreateOr(left.remainder, right.remainder, "", /*IsDisjoint=*/true)
                                      : builder.CreateAdd(left.remainder, right.remainder);
                  }),
            offset};
  }

  /// Splits a multiplication by a constant.
  Split splitScaled(Instruction &product, bool isDisjoint, unsigned depth) {
    auto *factor = dyn_cast<ConstantInt>(product.getOperand(1));
    unsigned width = product.getType()->getScalarSizeInBits();
    bool isShift = product.getOpcode() == Instruction::Shl;
    Split whole{&product, APInt(width, 0)};
    if (!factor || (isShift && factor->getValue().uge(width)))
      return whole;
    Split scaled = split(product.getOperand(0), isDisjoint, depth + 1);
    APInt offset = isShift ? scaled.offset.shl(factor->getValue()) : scaled.offset * factor->getValue();
    if (offset.isZero() || !scaled.remainder)
      return scaled.remainder ? whole : Split{nullptr, offset};
    return {share({product.getOpcode(), product.getType(), scaled.remainder, factor},
                  [&](IRBuilder<> &builder) {
                    return isShift ? builder.CreateShl(scaled.remainder, factor)
                                   : builder.CreateMul(scaled.remainder, factor);
                  }),
            offset};
  }

  /// Splits an extension. The two parts of its operand have no common bits, so there is no carry; the sign is part of
  /// the remainder.
  Split splitExtended(CastInst &extension, unsigned depth) {
    unsigned width = extension.getType()->getScalarSizeInBits();
    Split narrow = split(extension.getOperand(0), /*isDisjoint=*/true, depth + 1);
    bool isSigned = isa<SExtInst>(extension);
    if (!narrow.remainder || narrow.offset.isZero() || (isSigned && narrow.offset.isNegative()))
      return {&extension, APInt(width, 0)};
    return {share({extension.getOpcode(), extension.getType(), narrow.remainder, nullptr},
                  [&](IRBuilder<> &builder) {
                    return builder.CreateCast(extension.getOpcode(), narrow.remainder, extension.getType());
                  }),
            narrow.offset.zext(width)};
  }

  /// Returns one shared instruction for equal computations; it is placed after the definition of its last operand.
  Value *share(Key key, function_ref<Value *(IRBuilder<> &)> create) {
    Value *&shared = created[key];
    if (shared)
      return shared;
    BasicBlock::iterator place = function.getEntryBlock().getFirstInsertionPt();
    Instruction *last = nullptr;
    for (Value *operand : {std::get<2>(key), std::get<3>(key)})
      if (auto *instruction = dyn_cast_or_null<Instruction>(operand))
        if (!last || dominators.dominates(last, instruction))
          last = instruction;
    if (last)
      if (std::optional<BasicBlock::iterator> insertionPoint = last->getInsertionPointAfterDef())
        place = *insertionPoint;
    IRBuilder<> builder(place->getParent(), place);
    builder.SetCurrentDebugLocation(last ? last->getDebugLoc() : DebugLoc());
    return shared = create(builder);
  }

  Function &function;
  DominatorTree dominators;
  std::map<std::pair<Value *, bool>, Split> splits;
  std::map<Key, Value *> created;
};

/// Collects the uses of computed global addresses by instructions that access memory or convert the address to an
/// integer.
void collectAddresses(Function &function, SmallVectorImpl<Use *> &addresses) {
  for (Instruction &instruction : instructions(function)) {
    if (isa<GetElementPtrInst, PHINode>(instruction))
      continue;
    for (Use &operand : instruction.operands())
      if (isa<GetElementPtrInst>(operand) && operand->getType()->getPointerAddressSpace() == globalAddressSpace)
        addresses.push_back(&operand);
  }
}

} // namespace

void splitConstantOffsets(Function &function) {
  if (function.isDeclaration())
    return;
  SmallVector<Use *> addresses;
  collectAddresses(function, addresses);
  OffsetSplitter splitter(function);
  struct Member {
    Use *address;
    APInt offset;
  };
  MapVector<Value *, SmallVector<Member>> groups;
  for (Use *address : addresses) {
    Split split = splitter.splitPointer(*address);
    groups[split.remainder].push_back({address, split.offset});
  }
  SmallVector<WeakTrackingVH> replaced;
  for (auto &[remainder, members] : groups) {
    if (all_of(members, [&](const Member &member) { return member.address->get() == members.front().address->get(); }))
      continue;
    for (const Member &member : members) {
      replaced.emplace_back(member.address->get());
      if (member.offset.isZero()) {
        member.address->set(remainder);
        continue;
      }
      IRBuilder<> builder(cast<Instruction>(member.address->getUser()));
      member.address->set(builder.CreatePtrAdd(remainder, builder.getInt(member.offset)));
    }
  }
  for (auto &[remainder, members] : groups)
    replaced.emplace_back(remainder); // deletes remainders that end up without uses
  RecursivelyDeleteTriviallyDeadInstructionsPermissive(replaced);
}

} // namespace tile::codegen
