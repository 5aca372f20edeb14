// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Panels of tensors in shared memory. A panel consists of the elements whose offset in a buffer for the whole tensor
// has the panel's index in its high bits.
//
// The offset of (register r, thread t) is registers(r) XOR threads(t), and the same holds for its high bits. If the
// high bits do not depend on the thread, the registers of a panel are known at compile time, and all threads access the
// same registers. Otherwise each thread computes the high bits of threads(t) once. A store is then executed only if the
// register belongs to the panel. A load reads all registers that may belong to the panel (the addresses are always
// inside the buffer), and selects the registers that do.
#include "Panels.h"

#include "Cta/PanelOps.h"
#include "EmitLayout.h"
#include "Words.h"

#include "Layout/Access.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using tile::layout::LinearLayout;
using tile::layout::VectorAccess;

namespace tile::conversion {

namespace {

/// One memory access of a thread, which may belong to the panel.
struct PanelWord {
  int32_t access; ///< The index of the access in the access plan.
  Value address;
  Value condition; ///< True if the access belongs to the panel; null if it always does.
};

class PanelAccess {
public:
  PanelAccess(OpBuilder &builder, Location loc, Value base, cta::BufferType buffer, const LinearLayout &distributed,
              const LinearLayout &whole, unsigned panel)
      : builder(builder), loc(loc), base(base), element(buffer.getElementType()), panel(panel),
        panelBits(buffer.getLayout().getLayout().totalOutBits()) {
    unsigned bytes = getBytesInMemory(element);
    uint64_t panelBytes = bytes << panelBits;
    vectors = layout::planVectorAccess(layout::memoryOffsets(distributed, whole), bytes,
                                       std::min<uint64_t>(widestAccess, panelBytes));
    format = wordsFor(element, vectors.elements);
    canonical = canonicalRegisters(vectors.addresses);
  }

  /// Returns the accesses that may belong to the panel, without duplicates.
  SmallVector<PanelWord> plan() {
    unsigned bytes = getBytesInMemory(element);
    const uint64_t inPanel = (uint64_t(1) << panelBits) - 1;
    ThreadMap offsets = ThreadMap::flat(vectors.addresses), high = offsets;
    for (std::vector<uint64_t> *bases : {&offsets.registers, &offsets.threads})
      for (uint64_t &basis : *bases)
        basis = (basis & inPanel) * bytes;
    uint64_t ofThreads = 0;
    for (std::vector<uint64_t> *bases : {&high.registers, &high.threads})
      for (uint64_t &basis : *bases)
        basis >>= panelBits;
    for (uint64_t basis : high.threads)
      ofThreads |= basis;
    Value own = ofThreads ? emitLinearMap(builder, loc, emitThreadId(builder, loc), high.threads) : Value();
    OffsetEmitter addresses(builder, loc, offsets);
    DenseMap<uint64_t, Value> conditions;
    SmallVector<PanelWord> words;
    for (int32_t index = 0; index < vectors.addresses.numRegisters(); ++index) {
      uint64_t needed = high.ofRegister(index) ^ panel; // The high bits that the thread's part of the offset must have.
      if (canonical[index] != index || (needed & ~ofThreads) != 0)
        continue;
      Value &condition = conditions[needed];
      if (own && !condition)
        condition = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, own, emitI32(builder, loc, needed));
      words.push_back({index, addresses.addressOfRegister(base, index), condition});
    }
    return words;
  }

  void store(ValueRange registers) {
    llvm::MapVector<Value, SmallVector<PanelWord>> groups;
    for (const PanelWord &word : plan())
      groups[word.condition].push_back(word);
    for (auto &[condition, words] : groups) {
      OpBuilder::InsertionGuard guard(builder);
      if (condition)
        builder.setInsertionPointToStart(scf::IfOp::create(builder, loc, condition).thenBlock());
      for (const PanelWord &word : words)
        storeWord(word, registers);
    }
  }

  /// Returns `registers`, in which the registers that belong to the panel are replaced by loaded values. The others
  /// hold elements of other panels, or are still undefined.
  Registers load(Registers registers) {
    for (const PanelWord &word : plan()) {
      SmallVector<Value> loaded = unpackWords(builder, loc, loadWord(word), element, format);
      for (auto [value, place] : llvm::zip(loaded, registersOf(word.access))) {
        Value &target = registers[place];
        target =
            word.condition ? LLVM::SelectOp::create(builder, loc, word.condition, value, target).getResult() : value;
      }
    }
    for (auto [index, source] : llvm::enumerate(canonical))
      for (auto [place, from] : llvm::zip(registersOf(int32_t(index)), registersOf(source)))
        registers[place] = registers[from];
    return registers;
  }

private:
  ArrayRef<int32_t> registersOf(int32_t access) const {
    return ArrayRef(vectors.registerOrder).slice(access * vectors.elements, vectors.elements);
  }

  void storeWord(const PanelWord &word, ValueRange registers) {
    SmallVector<Value> values;
    for (int32_t place : registersOf(word.access))
      values.push_back(registers[place]);
    SmallVector<Value> words = packWords(builder, loc, values, format);
    Value stored = words.front();
    if (format.count > 1) {
      stored = LLVM::UndefOp::create(builder, loc, VectorType::get(format.count, stored.getType()));
      for (auto [number, part] : llvm::enumerate(words))
        stored = LLVM::InsertElementOp::create(builder, loc, stored, part, emitI32(builder, loc, number));
    }
    LLVM::StoreOp::create(builder, loc, stored, word.address, format.bytes());
  }

  SmallVector<Value> loadWord(const PanelWord &word) {
    Type type = builder.getIntegerType(format.bits);
    if (format.count > 1)
      type = VectorType::get(format.count, type);
    Value loaded = LLVM::LoadOp::create(builder, loc, type, word.address, format.bytes());
    if (format.count == 1)
      return {loaded};
    SmallVector<Value> words;
    for (unsigned number = 0; number < format.count; ++number)
      words.push_back(LLVM::ExtractElementOp::create(builder, loc, loaded, emitI32(builder, loc, number)));
    return words;
  }

  OpBuilder &builder;
  Location loc;
  Value base;
  Type element;
  uint64_t panel;
  unsigned panelBits; ///< log2 of the number of elements in a panel
  VectorAccess vectors;
  WordFormat format;
  std::vector<int32_t> canonical;
};

struct PanelStoreLowering : OpConversionPattern<cta::PanelStoreOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(cta::PanelStoreOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    PanelAccess access(rewriter, op.getLoc(), adaptor.getBuffer().front(), op.getBuffer().getType(),
                       cta::getLayout(op.getValue().getType()), op.getLayout().getLayout(), op.getPanel());
    access.store(adaptor.getValue());
    rewriter.eraseOp(op);
    return success();
  }
};

struct PanelLoadLowering : OpConversionPattern<cta::PanelLoadOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(cta::PanelLoadOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    const LinearLayout &layout = cta::getLayout(op.getType());
    PanelAccess access(rewriter, loc, adaptor.getBuffer().front(), op.getBuffer().getType(), layout,
                       op.getLayout().getLayout(), op.getPanel());
    Registers registers;
    if (op.getOthers())
      registers.assign(adaptor.getOthers().begin(), adaptor.getOthers().end());
    else
      registers.assign(layout.numRegisters(),
                       LLVM::UndefOp::create(rewriter, loc, getRegisterType(op.getType().getElementType())));
    rewriter.replaceOpWithMultiple(op, {access.load(std::move(registers))});
    return success();
  }
};

} // namespace

void addPanelLowerings(Lowerings &lowerings) {
  lowerings.patterns.add<PanelStoreLowering, PanelLoadLowering>(lowerings.converter, lowerings.context);
}

} // namespace tile::conversion
