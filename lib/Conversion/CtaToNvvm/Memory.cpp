// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loads from and stores to global memory through pointers.
//
// Contract with cta-vectorize-access: if `vector` is v > 1, the registers r … r + v - 1 with r % v == 0 hold
// consecutive addresses, the first of which is aligned to v elements, and have the same mask value. One instruction (or
// several instructions of 16 bytes each) accesses all of them. In a `partial` access, the mask values in a group may
// differ. A branch then chooses wide accesses if all elements of the thread are enabled, and element-wise accesses
// otherwise, so masks at the boundary of a tensor slow down only the blocks at the boundary. A register that replicates
// another one is not accessed again. If several threads hold an element, only the first of them stores it. If a load is
// marked `first`, only the first thread reads it. An `unaligned` load reads the aligned chunks that cover each group
// (CoveringWords.h). If all elements of a group are disabled, the wide accesses can still be used.
#include "CoveringWords.h"
#include "EmitLayout.h"
#include "GlobalAccess.h"
#include "Patterns.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace tile::conversion {

namespace {

/// The registers of an access, in groups of `size`, one instruction each. Replicas are not accessed.
struct AccessGroups {
  unsigned size = 1;
  std::vector<int32_t> canonical; // register -> lowest register with the same element

  /// Returns the first register of each group that is not a replica of another group.
  SmallVector<unsigned> own() const {
    SmallVector<unsigned> firsts;
    for (unsigned first = 0; first < canonical.size(); first += size)
      if (canonical[first] == int32_t(first))
        firsts.push_back(first);
    return firsts;
  }
};

AccessGroups planGroups(Type pointerType, int64_t vector) {
  auto tensor = dyn_cast<RankedTensorType>(pointerType);
  if (!tensor)
    return {1, {0}};
  const layout::LinearLayout &layout = cta::getLayout(tensor);
  unsigned bytes = getBytesInMemory(cast<PtrType>(tensor.getElementType()).getPointee());
  int64_t size = std::min<int64_t>({vector, std::max(1u, 16 / bytes), layout.numRegisters()});
  return {unsigned(size), canonicalRegisters(layout)};
}

/// Returns an i1 that is true if all elements of the thread are enabled, so that a partial access can access whole
/// groups.
Value emitAllEnabled(OpBuilder &builder, Location loc, ValueRange masks) {
  Value all;
  for (Value mask : masks)
    all = emitAnd(builder, loc, all, dropTrue(mask));
  return all;
}

/// Collects the conditions whose conjunction `mask` is, except constants that are true.
void collectConditions(Value mask, llvm::SetVector<Value> &conditions) {
  if (auto both = mask.getDefiningOp<arith::AndIOp>()) {
    collectConditions(both.getLhs(), conditions);
    collectConditions(both.getRhs(), conditions);
  } else if (dropTrue(mask)) {
    conditions.insert(mask);
  }
}

/// Returns, for each element of a group, the conditions of its mask that the elements of the group do not all have in
/// common.
SmallVector<SmallVector<Value>> collectOwnConditions(ValueRange masks) {
  SmallVector<llvm::SetVector<Value>> all(masks.size());
  for (auto [mask, conditions] : llvm::zip(masks, all))
    collectConditions(mask, conditions);
  SmallVector<SmallVector<Value>> own(masks.size());
  for (auto [conditions, unshared] : llvm::zip(all, own))
    llvm::copy_if(conditions, std::back_inserter(unshared), [&](Value condition) {
      return !llvm::all_of(all, [&](auto &others) { return others.contains(condition); });
    });
  return own;
}

/// Returns an i1 that is true if, in each group, all elements are enabled or all are disabled; null if that always
/// holds. Within a group, masks usually differ only in a limit along the contiguous dimension. Most groups have the
/// same limits, which are compared only once.
Value emitGroupsWhole(OpBuilder &builder, Location loc, const AccessGroups &groups, ValueRange masks) {
  SmallVector<SmallVector<SmallVector<Value>>> seen;
  Value whole;
  for (unsigned first : groups.own()) {
    SmallVector<SmallVector<Value>> elements = collectOwnConditions(masks.slice(first, groups.size));
    if (llvm::is_contained(seen, elements) || llvm::all_of(elements, [](auto &own) { return own.empty(); }))
      continue;
    Value yes = arith::ConstantIntOp::create(builder, loc, builder.getI1Type(), 1), all, any;
    for (ArrayRef<Value> conditions : elements) {
      Value mask;
      for (Value condition : conditions)
        mask = emitAnd(builder, loc, mask, condition);
      mask = mask ? mask : yes;
      all = emitAnd(builder, loc, all, mask);
      any = any ? arith::OrIOp::create(builder, loc, any, mask).getResult() : mask;
    }
    Value none = arith::XOrIOp::create(builder, loc, any, yes);
    whole = emitAnd(builder, loc, whole, arith::OrIOp::create(builder, loc, all, none));
    seen.push_back(std::move(elements));
  }
  return whole;
}

/// Returns the first operation of the load's block that needs its result; the terminator if there is none.
Operation *findFirstUser(LoadOp op) {
  Operation *first = op->getBlock()->getTerminator();
  for (Operation *user : op->getUsers())
    if (Operation *within = op->getBlock()->findAncestorOpInBlock(*user); within && within->isBeforeInBlock(first))
      first = within;
  return first;
}

/// Returns the addresses of the elements of a partial access, each as the first address of its group plus a constant
/// distance. The distance is encoded in the instruction, so loops carry only one address per group.
Registers emitOffsetsInGroups(OpBuilder &builder, Location loc, Type pointerType, ValueRange pointers, int64_t vector) {
  AccessGroups groups = planGroups(pointerType, vector);
  auto bytes = int32_t(getBytesInMemory(cast<PtrType>(getElementTypeOf(pointerType)).getPointee()));
  Registers addresses;
  for (auto [index, pointer] : llvm::enumerate(pointers)) {
    auto distance = int32_t(index % groups.size);
    Value first = pointers[index - distance];
    addresses.push_back(distance == 0 ? first : emitByteOffset(builder, loc, first, distance * bytes));
  }
  return addresses;
}

/// The data of a load, in the words that its wide accesses move.
class GroupWords {
public:
  GroupWords(LoadOp op, OpBuilder &builder)
      : builder(builder), loc(op.getLoc()), element(getElementTypeOf(op.getType())),
        groups(planGroups(op.getPtr().getType(), op.getVector())), format(wordsFor(element, groups.size)) {}

  SmallVector<Type> types() const {
    SmallVector<Type> types;
    for (size_t first = 0; first < groups.canonical.size(); first += groups.size)
      if (isOwn(first))
        types.append(format.count, builder.getIntegerType(format.bits));
    return types;
  }

  Registers pack(ValueRange registers) const {
    Registers words;
    for (size_t first = 0; first < registers.size(); first += groups.size)
      if (isOwn(first))
        llvm::append_range(words, packWords(builder, loc, registers.slice(first, groups.size), format));
    return words;
  }

  Registers unpack(ValueRange words) const {
    Registers registers(groups.canonical.size());
    for (size_t first = 0; first < registers.size(); first += groups.size) {
      if (!isOwn(first)) {
        std::copy_n(registers.begin() + groups.canonical[first], groups.size, registers.begin() + first);
        continue;
      }
      llvm::copy(unpackWords(builder, loc, words.take_front(format.count), element, format), registers.begin() + first);
      words = words.drop_front(format.count);
    }
    return registers;
  }

private:
  bool isOwn(size_t first) const { return groups.canonical[first] == int32_t(first); }

  OpBuilder &builder;
  Location loc;
  Type element;
  AccessGroups groups;
  WordFormat format;
};

struct LoadLowering : TargetPattern<LoadOp> {
  using TargetPattern::TargetPattern;

  LogicalResult matchAndRewrite(LoadOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    if (op.getUnaligned() && op.getVector() > 1) {
      rewriter.replaceOpWithMultiple(op, {loadUnaligned(op, adaptor, rewriter)});
      return success();
    }
    Value all = op.getPartial() ? emitAllEnabled(rewriter, op.getLoc(), adaptor.getMask()) : Value();
    if (!all) {
      ValueRange masks = op.getPartial() ? ValueRange() : adaptor.getMask();
      rewriter.replaceOpWithMultiple(op, {load(op, adaptor, adaptor.getPtr(), op.getVector(), masks, rewriter)});
      return success();
    }
    // The branch yields words; if it yielded elements, most users would have to pack them again afterwards.
    GroupWords words(op, rewriter);
    auto branch = scf::IfOp::create(rewriter, op.getLoc(), words.types(), all, /*withElseRegion=*/true);
    rewriter.setInsertionPointToStart(branch.thenBlock());
    Registers whole = load(op, adaptor, adaptor.getPtr(), op.getVector(), {}, rewriter);
    scf::YieldOp::create(rewriter, op.getLoc(), words.pack(whole));
    rewriter.setInsertionPointToStart(branch.elseBlock());
    Registers addresses =
        emitOffsetsInGroups(rewriter, op.getLoc(), op.getPtr().getType(), adaptor.getPtr(), op.getVector());
    Registers single = load(op, adaptor, addresses, /*vector=*/1, adaptor.getMask(), rewriter);
    scf::YieldOp::create(rewriter, op.getLoc(), words.pack(single));
    rewriter.setInsertionPointAfter(branch);
    rewriter.replaceOpWithMultiple(op, {words.unpack(branch.getResults())});
    return success();
  }

private:
  /// Emits an unaligned load. The chunks that cover the groups are shifted just before the first use of an element, so
  /// threads wait for the loads only there.
  Registers loadUnaligned(LoadOp op, OneToNOpAdaptor adaptor, OpBuilder &builder) const {
    Location loc = op.getLoc();
    Type element = getElementTypeOf(op.getType());
    AccessGroups groups = planGroups(op.getPtr().getType(), op.getVector());
    WordFormat format = wordsFor(element, groups.size);
    Value whole = op.getPartial() ? emitGroupsWhole(builder, loc, groups, adaptor.getMask()) : Value();
    SmallVector<CoveringWords> covering =
        whole ? loadEither(op, adaptor, whole, groups, builder) : loadCovering(op, adaptor, groups, builder);
    builder.setInsertionPoint(findFirstUser(op));
    Registers registers(groups.canonical.size());
    for (auto [first, words] : llvm::zip(groups.own(), covering))
      llvm::copy(unpackWords(builder, loc, words.shift(builder, loc), element, format), registers.begin() + first);
    for (auto [index, source] : llvm::enumerate(groups.canonical))
      registers[index] = registers[source];
    return registers;
  }

  /// Loads the covering chunks if `whole` is true, that is, if in each group all elements are enabled or all are
  /// disabled. Otherwise loads individual elements and packs them.
  SmallVector<CoveringWords> loadEither(LoadOp op, OneToNOpAdaptor adaptor, Value whole, const AccessGroups &groups,
                                        OpBuilder &builder) const {
    Location loc = op.getLoc();
    WordFormat format = wordsFor(getElementTypeOf(op.getType()), groups.size);
    SmallVector<unsigned> own = groups.own();
    SmallVector<Type> types(own.size() * CoveringWords::numValues, builder.getI32Type());
    auto branch = scf::IfOp::create(builder, loc, types, whole, /*withElseRegion=*/true);
    auto yield = [&](ArrayRef<CoveringWords> covering) {
      SmallVector<Value> values;
      for (const CoveringWords &words : covering)
        llvm::append_range(values, words.values());
      scf::YieldOp::create(builder, loc, values);
    };
    builder.setInsertionPointToStart(branch.thenBlock());
    yield(loadCovering(op, adaptor, groups, builder));
    builder.setInsertionPointToStart(branch.elseBlock());
    Registers addresses = emitOffsetsInGroups(builder, loc, op.getPtr().getType(), adaptor.getPtr(), op.getVector());
    Registers single = load(op, adaptor, addresses, /*vector=*/1, adaptor.getMask(), builder);
    yield(llvm::map_to_vector(own, [&](unsigned first) {
      return CoveringWords::of(builder, loc,
                               packWords(builder, loc, ValueRange(single).slice(first, groups.size), format));
    }));
    builder.setInsertionPointAfter(branch);
    SmallVector<CoveringWords> covering;
    for (size_t index = 0; index < own.size(); ++index)
      covering.emplace_back(branch.getResults().slice(index * CoveringWords::numValues, CoveringWords::numValues));
    return covering;
  }

  /// Loads the chunks of each group whose first element is enabled.
  SmallVector<CoveringWords> loadCovering(LoadOp op, OneToNOpAdaptor adaptor, const AccessGroups &groups,
                                          OpBuilder &builder) const {
    Location loc = op.getLoc();
    WordFormat format = wordsFor(getElementTypeOf(op.getType()), groups.size);
    GlobalAccess access(builder, loc, format, {.cache = op.getCache(), .evict = op.getEvict(), .covers = true}, gpu);
    Value zero = arith::ConstantIntOp::create(builder, loc, builder.getI32Type(), 0);
    Value isFirst = op.getFirst() ? emitIsFirstCopy(builder, loc, cta::getLayout(op.getType())) : Value();
    return llvm::map_to_vector(groups.own(), [&](unsigned first) {
      Value mask = op.getMask() ? dropTrue(adaptor.getMask()[first]) : Value();
      SmallVector<Value> other(format.count, zero);
      if (mask && op.getOther())
        other = packWords(builder, loc, adaptor.getOther().slice(first, groups.size), format);
      return CoveringWords::load(builder, loc, access, adaptor.getPtr()[first], emitAnd(builder, loc, mask, isFirst),
                                 other);
    });
  }

  /// Loads the registers in groups of `vector`. If `masks` is empty, loads all of them unconditionally.
  Registers load(LoadOp op, OneToNOpAdaptor adaptor, ValueRange pointers, int64_t vector, ValueRange masks,
                 OpBuilder &builder) const {
    Location loc = op.getLoc();
    Type element = getElementTypeOf(op.getType());
    AccessGroups groups = planGroups(op.getPtr().getType(), vector);
    WordFormat format = wordsFor(element, groups.size);
    GlobalAccess access(builder, loc, format, {op.getCache(), op.getEvict(), op.getIsVolatile()}, gpu);
    Value zero = arith::ConstantIntOp::create(builder, loc, builder.getIntegerType(format.bits), 0);
    Value isFirst = op.getFirst() ? emitIsFirstCopy(builder, loc, cta::getLayout(op.getType())) : Value();

    Registers registers(pointers.size());
    for (size_t first = 0; first < registers.size(); first += groups.size) {
      size_t source = groups.canonical[first];
      if (source != first) {
        std::copy_n(registers.begin() + source, groups.size, registers.begin() + first);
        continue;
      }
      Value mask = masks.empty() ? Value() : dropTrue(masks[first]);
      SmallVector<Value> other(format.count, zero);
      if (mask && op.getOther())
        other = packWords(builder, loc, adaptor.getOther().slice(first, groups.size), format);
      SmallVector<Value> words = access.load(pointers[first], emitAnd(builder, loc, mask, isFirst), other);
      llvm::copy(unpackWords(builder, loc, words, element, format), registers.begin() + first);
    }
    return registers;
  }
};

struct StoreLowering : TargetPattern<StoreOp> {
  using TargetPattern::TargetPattern;

  LogicalResult matchAndRewrite(StoreOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Value all = op.getPartial() ? emitAllEnabled(rewriter, op.getLoc(), adaptor.getMask()) : Value();
    if (!all) {
      store(op, adaptor, adaptor.getPtr(), op.getVector(), op.getPartial() ? ValueRange() : adaptor.getMask(),
            rewriter);
    } else {
      auto branch = scf::IfOp::create(rewriter, op.getLoc(), all, /*withElseRegion=*/true);
      rewriter.setInsertionPointToStart(branch.thenBlock());
      store(op, adaptor, adaptor.getPtr(), op.getVector(), {}, rewriter);
      rewriter.setInsertionPointToStart(branch.elseBlock());
      Registers addresses =
          emitOffsetsInGroups(rewriter, op.getLoc(), op.getPtr().getType(), adaptor.getPtr(), op.getVector());
      store(op, adaptor, addresses, /*vector=*/1, adaptor.getMask(), rewriter);
    }
    rewriter.eraseOp(op);
    return success();
  }

private:
  void store(StoreOp op, OneToNOpAdaptor adaptor, ValueRange pointers, int64_t vector, ValueRange masks,
             OpBuilder &builder) const {
    Location loc = op.getLoc();
    AccessGroups groups = planGroups(op.getPtr().getType(), vector);
    WordFormat format = wordsFor(getElementTypeOf(op.getValue().getType()), groups.size);
    GlobalAccess access(builder, loc, format, {op.getCache(), op.getEvict(), /*isVolatile=*/false}, gpu);
    auto tensor = dyn_cast<RankedTensorType>(op.getPtr().getType());
    Value isFirst = tensor ? emitIsFirstCopy(builder, loc, cta::getLayout(tensor)) : emitIsFirstOfRole(builder, op);

    for (size_t first = 0; first < pointers.size(); first += groups.size) {
      if (groups.canonical[first] != int32_t(first))
        continue;
      Value mask = masks.empty() ? Value() : dropTrue(masks[first]);
      access.store(pointers[first], emitAnd(builder, loc, mask, isFirst),
                   packWords(builder, loc, adaptor.getValue().slice(first, groups.size), format));
    }
  }
};

} // namespace

void registerMemoryLowerings(Lowerings &lowerings) {
  lowerings.patterns.add<LoadLowering, StoreLowering>(lowerings.converter, lowerings.context, lowerings.gpu);
}

} // namespace tile::conversion
