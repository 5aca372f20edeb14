// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Exchanges in panels; see PanelExchanges.h.
#include "Transforms/Cta/PanelExchanges.h"

#include "Cta/PanelOps.h"
#include "Layout/Factories.h"
#include "Layout/PanelBuffer.h"
#include "Layout/SharedLayouts.h"
#include "Target/Tuned.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Dominance.h"

using namespace mlir;
using namespace tile;
using layout::LinearLayout;

namespace {

/// Returns the minimum size of a panel. Smaller panels do not save a significant amount of memory.
int64_t getLeastPanelBytes(Operation *op) {
  return target::tunedOf(cta::getTarget(op)).exchangePanelBytes;
}

LinearLayout rowMajor(ArrayRef<int64_t> shape) {
  return layout::unswizzledShared(shape.vec(), layout::rowMajorOrder(shape.size()));
}

/// Returns the tensor that an operation stores, completely or as a panel; null if it stores none.
Value getStored(Operation *op) {
  if (auto store = dyn_cast<cta::LocalStoreOp>(op))
    return store.getValue();
  auto store = dyn_cast<cta::PanelStoreOp>(op);
  return store ? store.getValue() : Value();
}

/// The operations of an exchange in panels: they replace the original operations, and are themselves replaced when
/// panels are made smaller.
class PanelChain {
public:
  /// `operations` are the stores, followed by the operation whose first result is the result of the exchange.
  PanelChain(SmallVector<Operation *> operations, int64_t bytes)
      : bytes(bytes), last(operations.back()), replaced(std::move(operations)) {}
  virtual ~PanelChain() = default;

  bool canHalve() const { return (bytes >> bits) / 2 >= getLeastPanelBytes(last); }
  bool owns(cta::AllocOp alloc) const { return llvm::is_contained(made, alloc.getOperation()); }

  void halve() {
    ++bits;
    // Other exchanges may have replaced this one's inputs in the meantime.
    readInputs(made.empty() ? replaced : made);
    OpBuilder builder(last);
    Listener listener(*this);
    SmallVector<Operation *> old;
    std::swap(old, made);
    builder.setListener(&listener);
    Value result = emit(builder, last->getLoc());
    if (old.empty())
      old.push_back(last);
    last->getResult(0).replaceAllUsesWith(result);
    last = result.getDefiningOp();
    for (Operation *op : llvm::reverse(old))
      op->erase();
  }

protected:
  /// Finds the values that the exchange takes, as operands of the operations that currently use them.
  virtual void readInputs(ArrayRef<Operation *> operations) = 0;
  /// Emits all panels, and returns the result of the last operation.
  virtual Value emit(OpBuilder &builder, Location loc) = 0;
  int64_t numPanels() const { return int64_t(1) << bits; }

  /// Allocates a one-dimensional buffer for one panel.
  Value allocate(OpBuilder &builder, Location loc, Type element, int64_t elements) const {
    auto layout = cta::LayoutAttr::get(builder.getContext(), rowMajor({elements}));
    auto type = cta::BufferType::get(builder.getContext(), {elements}, element, layout, /*slots=*/1);
    return cta::AllocOp::create(builder, loc, type, /*offset=*/IntegerAttr());
  }

private:
  struct Listener : OpBuilder::Listener {
    explicit Listener(PanelChain &chain) : chain(chain) {}
    void notifyOperationInserted(Operation *op, OpBuilder::InsertPoint) override { chain.made.push_back(op); }
    PanelChain &chain;
  };

  int64_t bytes; ///< The size of the whole tensor.
  unsigned bits = 0;
  Operation *last;                   ///< The operation that produces the result.
  SmallVector<Operation *> replaced; ///< The operations that the first panels replace.
  SmallVector<Operation *> made;
};

/// An exchange that consists of a store to a buffer and a load in another layout.
class LoadChain final : public PanelChain {
public:
  LoadChain(cta::LocalStoreOp store, cta::LocalLoadOp load, int64_t bytes)
      : PanelChain({store, load}, bytes), type(load.getType()),
        whole(cta::LayoutAttr::get(load.getContext(),
                                   layout::panelBuffer(cta::getLayout(store.getValue().getType()), cta::getLayout(type),
                                                       getBytesInMemory(getElementTypeOf(type))))) {}

private:
  void readInputs(ArrayRef<Operation *> operations) override {
    for (Operation *op : operations)
      if (Value stored = getStored(op))
        value = stored;
  }

  Value emit(OpBuilder &builder, Location loc) override {
    Value buffer = allocate(builder, loc, type.getElementType(), type.getNumElements() / numPanels()), result;
    for (int64_t panel = 0; panel < numPanels(); ++panel) {
      cta::PanelStoreOp::create(builder, loc, value, buffer, whole, panel);
      result = cta::PanelLoadOp::create(builder, loc, type, buffer, result, whole, panel);
    }
    return result;
  }

  Value value;
  RankedTensorType type;
  cta::LayoutAttr whole;
};

class GatherChain final : public PanelChain {
public:
  GatherChain(cta::LocalStoreOp store, cta::LocalGatherOp gather, int64_t bytes)
      : PanelChain({store, gather}, bytes), type(gather.getType()), axis(gather.getAxis()) {}

private:
  void readInputs(ArrayRef<Operation *> operations) override {
    for (Operation *op : operations)
      if (Value stored = getStored(op))
        value = stored;
      else if (auto gather = dyn_cast<cta::LocalGatherOp>(op))
        indices = gather.getIndices();
      else if (auto gather = dyn_cast<cta::PanelGatherOp>(op))
        indices = gather.getIndices();
  }

  Value emit(OpBuilder &builder, Location loc) override {
    auto source = cast<RankedTensorType>(value.getType());
    auto whole = cta::LayoutAttr::get(builder.getContext(), rowMajor(source.getShape()));
    Value buffer = allocate(builder, loc, source.getElementType(), source.getNumElements() / numPanels()), result;
    for (int64_t panel = 0; panel < numPanels(); ++panel) {
      cta::PanelStoreOp::create(builder, loc, value, buffer, whole, panel);
      result = cta::PanelGatherOp::create(builder, loc, type, buffer, indices, result, axis, source.getShape(), panel);
    }
    return result;
  }

  Value value, indices;
  RankedTensorType type;
  uint32_t axis;
};

/// An exchange of dot operands in panels along K, in the order in which the dot accumulates.
class DotChain final : public PanelChain {
public:
  DotChain(cta::LocalStoreOp a, cta::LocalStoreOp b, cta::FmaDotOp dot, int64_t bytes)
      : PanelChain({a, b, dot}, bytes), k(dot.getA().getType().getShape()[1]) {}

private:
  void readInputs(ArrayRef<Operation *> operations) override {
    SmallVector<Value> stored;
    acc = Value();
    for (Operation *op : operations) {
      if (Value value = getStored(op))
        stored.push_back(value);
      if (auto dot = dyn_cast<cta::FmaDotOp>(op); dot && !acc)
        acc = dot.getAcc();
    }
    a = stored[0];
    b = stored[1];
  }

  Value emit(OpBuilder &builder, Location loc) override {
    int64_t m = cast<RankedTensorType>(a.getType()).getDimSize(0),
            n = cast<RankedTensorType>(b.getType()).getDimSize(1), part = std::max<int64_t>(k / numPanels(), 1);
    auto attribute = [&](const LinearLayout &layout) { return cta::LayoutAttr::get(builder.getContext(), layout); };
    auto allocateMatrix = [&](Value operand, std::vector<int64_t> shape) -> Value {
      auto type = cta::BufferType::get(builder.getContext(), shape, getElementTypeOf(operand.getType()),
                                       attribute(rowMajor(shape)), /*slots=*/1);
      return cta::AllocOp::create(builder, loc, type, /*offset=*/IntegerAttr());
    };
    std::vector<uint64_t> bases; // panels of columns of a, one after another
    auto append = [&](int64_t begin, int64_t end) {
      for (; begin < end; begin *= 2)
        bases.push_back(begin);
    };
    append(1, part);
    append(k, m * k);
    append(part, k);
    cta::LayoutAttr wholeA = attribute(LinearLayout::shared(bases, {m, k})), wholeB = attribute(rowMajor({k, n}));
    Value bufferA = allocateMatrix(a, {m, part}), bufferB = allocateMatrix(b, {part, n}), result = acc;
    for (int64_t panel = 0; panel < k / part; ++panel) {
      cta::PanelStoreOp::create(builder, loc, a, bufferA, wholeA, panel);
      cta::PanelStoreOp::create(builder, loc, b, bufferB, wholeB, panel);
      result = cta::FmaDotOp::create(builder, loc, acc.getType(), bufferA, bufferB, result);
    }
    return result;
  }

  Value a, b, acc;
  int64_t k;
};

/// The exchange of a histogram: each panel counts one range of bins.
class CountChain final : public PanelChain {
public:
  CountChain(cta::LocalStoreOp zeros, cta::LocalCountOp count, cta::LocalLoadOp load, int64_t bytes)
      : PanelChain({zeros, count, load}, bytes), type(load.getType()) {}

private:
  void readInputs(ArrayRef<Operation *> operations) override {
    for (Operation *op : operations) {
      if (Value stored = getStored(op))
        zeros = stored;
      if (auto count = dyn_cast<cta::LocalCountOp>(op)) {
        // In a panel, bin indices are relative to its first bin.
        bool isOfPanel = llvm::any_of(operations, llvm::IsaPred<cta::PanelStoreOp>);
        bins = isOfPanel ? count.getSrc().getDefiningOp<arith::SubIOp>().getLhs() : count.getSrc();
        mask = count.getMask();
      }
    }
  }

  Value emit(OpBuilder &builder, Location loc) override {
    auto whole = cta::LayoutAttr::get(builder.getContext(), rowMajor(type.getShape()));
    int64_t part = type.getNumElements() / numPanels();
    Value buffer = allocate(builder, loc, type.getElementType(), part), result;
    auto binsType = cast<RankedTensorType>(bins.getType());
    for (int64_t panel = 0; panel < numPanels(); ++panel) {
      cta::PanelStoreOp::create(builder, loc, zeros, buffer, whole, panel);
      // Indices of other panels are out of range in this one.
      auto first = DenseElementsAttr::get(binsType, APInt(32, panel * part));
      Value relativeBins =
          arith::SubIOp::create(builder, loc, bins, arith::ConstantOp::create(builder, loc, first).getResult());
      cta::LocalCountOp::create(builder, loc, relativeBins, buffer, mask);
      result = cta::PanelLoadOp::create(builder, loc, type, buffer, result, whole, panel);
    }
    return result;
  }

  Value zeros, bins, mask;
  RankedTensorType type;
};

/// An exchange that serves all reads of one buffer; the buffer is unused once panels replace it.
class BufferExchange final : public PanelExchange {
public:
  BufferExchange(SmallVector<cta::AllocOp> allocs, SmallVector<std::unique_ptr<PanelChain>> chains,
                 SmallVector<Operation *> replaced)
      : allocs(std::move(allocs)), chains(std::move(chains)), replaced(std::move(replaced)) {}

  bool owns(cta::AllocOp alloc) const override {
    return llvm::is_contained(allocs, alloc) || llvm::any_of(chains, [&](auto &chain) { return chain->owns(alloc); });
  }
  bool canHalve() const override {
    return llvm::all_of(chains, [](auto &chain) { return chain->canHalve(); });
  }
  void halve() override {
    for (auto &chain : chains)
      chain->halve();
    // The buffers are erased after the stores to them.
    for (Operation *op : replaced)
      op->erase();
    for (cta::AllocOp alloc : allocs)
      alloc->erase();
    replaced.clear();
    allocs.clear();
  }

private:
  SmallVector<cta::AllocOp> allocs;
  SmallVector<std::unique_ptr<PanelChain>> chains;
  SmallVector<Operation *> replaced;
};

/// Returns the only store to a buffer, if all threads that hold the tensor execute it and it dominates all reads in the
/// same role; otherwise null.
cta::LocalStoreOp findStore(cta::AllocOp alloc, DominanceInfo &dominance) {
  cta::LocalStoreOp store;
  for (Operation *user : alloc->getUsers())
    if (auto other = dyn_cast<cta::LocalStoreOp>(user)) {
      if (store || other.getFirst())
        return {};
      store = other;
    }
  if (!store || alloc.getType().getSlots() != 1 || alloc.getType().isPadded())
    return {};
  auto getRoles = [](Operation *op) { return op->getParentOfType<cta::WarpRolesOp>(); };
  bool isBefore = llvm::all_of(alloc->getUsers(), [&](Operation *user) {
    return user == store ||
           (dominance.properlyDominates(store.getOperation(), user) && getRoles(user) == getRoles(store));
  });
  return isBefore ? store : cta::LocalStoreOp();
}

class ExchangeFinder {
public:
  explicit ExchangeFinder(KernelOp kernel) : dominance(kernel) {}

  std::unique_ptr<PanelExchange> find(cta::AllocOp alloc) {
    cta::LocalStoreOp store = findStore(alloc, dominance);
    if (!store)
      return nullptr;
    int64_t bytes = alloc.getType().getBytes();
    SmallVector<std::unique_ptr<PanelChain>> chains;
    SmallVector<cta::AllocOp> allocs{alloc};
    SmallVector<Operation *> replaced{store};
    cta::LocalCountOp count = findCount(alloc);
    for (Operation *user : alloc->getUsers()) {
      auto load = dyn_cast<cta::LocalLoadOp>(user);
      if (load && !load.getStart() && count)
        chains.push_back(std::make_unique<CountChain>(store, count, load, bytes));
      else if (load && !load.getStart())
        chains.push_back(std::make_unique<LoadChain>(store, load, bytes));
      else if (auto gather = dyn_cast<cta::LocalGatherOp>(user))
        chains.push_back(std::make_unique<GatherChain>(store, gather, bytes));
      else if (user != store && user != count)
        return nullptr;
    }
    if (count && chains.size() == 1)
      replaced.push_back(count);
    else if (count)
      return nullptr;
    return std::make_unique<BufferExchange>(std::move(allocs), std::move(chains), std::move(replaced));
  }

  /// Returns the exchange of a dot that is the only user of its operand buffers.
  std::unique_ptr<PanelExchange> find(cta::FmaDotOp dot) {
    cta::AllocOp a = getAlloc(dot.getA()), b = getAlloc(dot.getB());
    cta::LocalStoreOp storeA = a ? findStore(a, dominance) : nullptr, storeB = b ? findStore(b, dominance) : nullptr;
    auto isAlone = [](cta::AllocOp alloc) { return llvm::range_size(alloc->getUsers()) == 2; };
    if (!storeA || !storeB || a == b || !isAlone(a) || !isAlone(b))
      return nullptr;
    // A panel has at least one element along K.
    int64_t bytes = std::min(a.getType().getBytes() + b.getType().getBytes(),
                             2 * getLeastPanelBytes(dot) * a.getType().getShape()[1] - 1);
    SmallVector<std::unique_ptr<PanelChain>> chains;
    chains.push_back(std::make_unique<DotChain>(storeA, storeB, dot, bytes));
    return std::make_unique<BufferExchange>(SmallVector<cta::AllocOp>{a, b}, std::move(chains),
                                            SmallVector<Operation *>{storeA, storeB});
  }

private:
  static cta::LocalCountOp findCount(cta::AllocOp alloc) {
    for (Operation *user : alloc->getUsers())
      if (auto count = dyn_cast<cta::LocalCountOp>(user))
        return count;
    return {};
  }

  DominanceInfo dominance;
};

} // namespace

PanelExchanges::PanelExchanges(KernelOp kernel) {
  ExchangeFinder finder(kernel);
  auto add = [&](std::unique_ptr<PanelExchange> exchange) {
    if (exchange)
      exchanges.push_back(std::move(exchange));
  };
  kernel.walk([&](cta::AllocOp alloc) { add(finder.find(alloc)); });
  kernel.walk([&](cta::FmaDotOp dot) { add(finder.find(dot)); });
}

PanelExchanges::~PanelExchanges() = default;

bool PanelExchanges::narrow(const SharedPlacement &placement) {
  const Placement *top = llvm::max_element(
      placement.buffers, [](const Placement &a, const Placement &b) { return a.getEnd() < b.getEnd(); });
  auto find = [&](const Placement &buffer) -> PanelExchange * {
    for (auto &exchange : exchanges)
      if (exchange->owns(buffer.life.alloc) && exchange->canHalve())
        return exchange.get();
    return nullptr;
  };
  // First tries buffers that are live at the same time as the topmost buffer. Then tries any buffer, because the
  // offsets of buffers depend on each other.
  for (bool isRelated : {true, false}) {
    PanelExchange *best = nullptr;
    int64_t bytes = 0;
    for (const Placement &buffer : placement.buffers)
      if (buffer.bytes > bytes && (!isRelated || buffer.life.overlaps(top->life)))
        if (PanelExchange *exchange = find(buffer)) {
          best = exchange;
          bytes = buffer.bytes;
        }
    if (best)
      return best->halve(), true;
  }
  return false;
}
