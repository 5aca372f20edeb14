// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Claims of AxisInfo hold: random kernels are evaluated on random arguments, element by element.
#include "Analysis/Addresses/AxisInfo.h"
#include "Tile/TileDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"

#include "llvm/ADT/TypeSwitch.h"

#include <functional>
#include <gtest/gtest.h>
#include <random>

using namespace mlir;
using namespace tile;

namespace {

/// The elements of a value, row-major, sign-extended; and whether the assumptions of AxisInfo.h held during the
/// computation.
struct Elements {
  SmallVector<int64_t> values;
  bool overflowed = false;     ///< A sum or product left its signed range.
  bool signedQuotient = false; ///< a signed division was involved, whose rule relies on the assumptions
};

SmallVector<int64_t> shapeOf(Value value) {
  auto tensor = dyn_cast<RankedTensorType>(value.getType());
  return tensor ? SmallVector<int64_t>(tensor.getShape()) : SmallVector<int64_t>{1};
}

unsigned widthOf(Value value) {
  Type element = getElementTypeOf(value.getType());
  return element.isInteger() ? element.getIntOrFloatBitWidth() : 64;
}

int64_t signExtend(int64_t value, unsigned width) {
  return width == 64 ? value : value << (64 - width) >> (64 - width);
}
uint64_t zeroExtend(int64_t value, unsigned width) {
  return width == 64 ? value : uint64_t(value) << (64 - width) >> (64 - width);
}

class Evaluator {
public:
  std::map<void *, Elements> values;
  bool undefined = false; ///< A division by zero or a shift that is too long: the kernel is undefined.

  Elements &operator[](Value value) { return values[value.getAsOpaquePointer()]; }

  void run(Operation &op) {
    if (op.getNumResults() != 1)
      return;
    Elements result;
    for (Value operand : op.getOperands()) {
      result.overflowed |= (*this)[operand].overflowed;
      result.signedQuotient |= (*this)[operand].signedQuotient;
    }
    int64_t count = llvm::product_of(shapeOf(op.getResult(0)));
    Rule rule = ruleOf(op, result);
    for (int64_t flat = 0; flat < count; ++flat)
      result.values.push_back(rule(flat));
    (*this)[op.getResult(0)] = result;
  }

private:
  /// Computes one element. The rule of an operation is looked up once, not for each of its elements.
  using Rule = std::function<int64_t(int64_t flat)>;
  /// The two operands, with their sign and without.
  struct Integers {
    int64_t a, b;
    uint64_t ua, ub;
  };
  using BinaryRule = std::function<int64_t(const Integers &)>;

  /// Returns the index of the operand's element that becomes element `flat` of the result.
  int64_t source(Operation &op, int64_t flat) {
    SmallVector<int64_t> from = shapeOf(op.getOperand(0)), to = shapeOf(op.getResult(0));
    SmallVector<int64_t> coordinate(to.size());
    for (int64_t dim = to.size() - 1; dim >= 0; flat /= to[dim--])
      coordinate[dim] = flat % to[dim];
    SmallVector<int64_t> origin(from.size());
    if (auto expand = dyn_cast<ExpandDimsOp>(op)) {
      coordinate.erase(coordinate.begin() + expand.getAxis());
      origin = coordinate;
    } else if (auto trans = dyn_cast<TransOp>(op)) {
      for (auto [dim, order] : llvm::enumerate(trans.getOrder()))
        origin[order] = coordinate[dim];
    } else {
      for (size_t dim = 0; dim < from.size(); ++dim)
        origin[dim] = from[dim] == 1 ? 0 : coordinate[dim];
    }
    int64_t index = 0;
    for (size_t dim = 0; dim < from.size(); ++dim)
      index = index * from[dim] + origin[dim];
    return index;
  }

  Rule ruleOf(Operation &op, Elements &result) {
    SmallVector<ArrayRef<int64_t>> operands;
    for (Value operand : op.getOperands())
      operands.push_back((*this)[operand].values);
    auto operand = [operands](unsigned index, int64_t flat) {
      ArrayRef<int64_t> elements = operands[index];
      return elements[elements.size() == 1 ? 0 : flat];
    };
    auto copy = [&](auto) -> Rule { return [=](int64_t flat) { return operand(0, flat); }; };
    unsigned width = widthOf(op.getResult(0)), from = op.getNumOperands() ? widthOf(op.getOperand(0)) : width;
    return llvm::TypeSwitch<Operation *, Rule>(&op)
        .Case([&](arith::ConstantOp constant) -> Rule {
          Attribute value = constant.getValue();
          if (auto dense = dyn_cast<DenseElementsAttr>(value))
            value = dense.getSplatValue<Attribute>();
          return [element = cast<IntegerAttr>(value).getValue().getSExtValue()](int64_t) { return element; };
        })
        .Case([&](ArangeOp arange) -> Rule {
          return [start = int64_t(arange.getStart())](int64_t flat) { return start + flat; };
        })
        .Case<SplatOp, ReshapeOp, arith::ExtSIOp>(copy)
        .Case<ExpandDimsOp, TransOp, BroadcastOp>([&](Operation *) -> Rule {
          return [this, &op, elements = operands[0]](int64_t flat) { return elements[source(op, flat)]; };
        })
        .Case([&](arith::ExtUIOp) -> Rule {
          return [=](int64_t flat) { return int64_t(zeroExtend(operand(0, flat), from)); };
        })
        .Case(
            [&](arith::TruncIOp) -> Rule { return [=](int64_t flat) { return signExtend(operand(0, flat), width); }; })
        .Case([&](arith::SelectOp) -> Rule {
          return [=](int64_t flat) { return operand(0, flat) ? operand(1, flat) : operand(2, flat); };
        })
        .Case([&](arith::CmpIOp compare) -> Rule {
          return [=, predicate = compare.getPredicate()](int64_t flat) -> int64_t {
            APInt lhs(from, operand(0, flat), true), rhs(from, operand(1, flat), true);
            return arith::applyCmpPredicate(predicate, lhs, rhs) ? -1 : 0;
          };
        })
        .Case([&](AddPtrOp add) -> Rule {
          int64_t bytes = getBytesInMemory(cast<PtrType>(getElementTypeOf(add.getType())).getPointee());
          return [=](int64_t flat) { return operand(0, flat) + operand(1, flat) * bytes; };
        })
        .Default([&](Operation *) -> Rule {
          return [=, rule = binaryRuleOf(op, width, result)](int64_t flat) {
            int64_t a = operand(0, flat), b = operand(1, flat);
            return rule({a, b, zeroExtend(a, width), zeroExtend(b, width)});
          };
        });
  }

  BinaryRule binaryRuleOf(Operation &op, unsigned width, Elements &result) {
    auto wrap = [&result, width](int64_t value) {
      result.overflowed |= signExtend(value, width) != value;
      return signExtend(value, width);
    };
    bool byConstant = matchesConstant(op.getOperand(1));
    // The remaining functions return rules.
    auto divide = [&](auto compute) -> BinaryRule {
      return [this, width, compute](const Integers &in) {
        undefined |= in.b == 0;
        return in.b == 0 ? 0 : signExtend(compute(in), width);
      };
    };
    auto divideSigned = [&](auto compute) -> BinaryRule {
      return [&result, byConstant, rule = divide(compute)](const Integers &in) {
        result.signedQuotient = true;
        result.overflowed |= in.b < 0 && !byConstant;
        return rule(in);
      };
    };
    auto shift = [&](auto compute) -> BinaryRule {
      return [this, width, compute](const Integers &in) {
        undefined |= in.ub >= width;
        return in.ub >= width ? 0 : compute(in);
      };
    };
    auto plain = [](int64_t (*compute)(const Integers &)) -> BinaryRule { return compute; };
    return llvm::TypeSwitch<Operation *, BinaryRule>(&op)
        .Case([&](arith::AddIOp) -> BinaryRule { return [=](const Integers &in) { return wrap(in.a + in.b); }; })
        .Case([&](arith::SubIOp) -> BinaryRule { return [=](const Integers &in) { return wrap(in.a - in.b); }; })
        .Case([&](arith::MulIOp) -> BinaryRule { return [=](const Integers &in) { return wrap(in.a * in.b); }; })
        .Case([&](arith::DivSIOp) { return divideSigned([](const Integers &in) { return in.a / in.b; }); })
        .Case([&](arith::RemSIOp) { return divideSigned([](const Integers &in) { return in.a % in.b; }); })
        .Case([&](arith::FloorDivSIOp) {
          return divideSigned(
              [](const Integers &in) { return in.a / in.b - (in.a % in.b != 0 && (in.a < 0) != (in.b < 0)); });
        })
        .Case([&](arith::DivUIOp) { return divide([](const Integers &in) { return int64_t(in.ua / in.ub); }); })
        .Case([&](arith::RemUIOp) { return divide([](const Integers &in) { return int64_t(in.ua % in.ub); }); })
        .Case([&](arith::AndIOp) { return plain([](const Integers &in) { return in.a & in.b; }); })
        .Case([&](arith::OrIOp) { return plain([](const Integers &in) { return in.a | in.b; }); })
        .Case([&](arith::XOrIOp) { return plain([](const Integers &in) { return in.a ^ in.b; }); })
        .Case([&](arith::MinSIOp) { return plain([](const Integers &in) { return std::min(in.a, in.b); }); })
        .Case([&](arith::MaxSIOp) { return plain([](const Integers &in) { return std::max(in.a, in.b); }); })
        .Case([&](arith::MinUIOp) { return plain([](const Integers &in) { return in.ua < in.ub ? in.a : in.b; }); })
        .Case([&](arith::MaxUIOp) { return plain([](const Integers &in) { return in.ua < in.ub ? in.b : in.a; }); })
        .Case([&](arith::ShLIOp) {
          return shift([=](const Integers &in) { return wrap(int64_t(uint64_t(in.a) << in.ub)); });
        })
        .Case([&](arith::ShRSIOp) { return shift([](const Integers &in) { return in.a >> in.ub; }); })
        .Case([&](arith::ShRUIOp) {
          return shift([=](const Integers &in) { return signExtend(in.ua >> in.ub, width); });
        })
        .Default([&](Operation *unknown) {
          ADD_FAILURE() << "no evaluation of " << unknown->getName().getStringRef().str();
          return plain([](const Integers &) -> int64_t { return 0; });
        });
  }

  static bool matchesConstant(Value value) {
    if (auto splat = value.getDefiningOp<SplatOp>())
      value = splat.getScalar();
    return value.getDefiningOp<arith::ConstantOp>();
  }
};

/// A kernel of random operations on integers of `width` bits in shapes [32] and [8, 16].
class RandomKernel {
public:
  RandomKernel(MLIRContext &context, unsigned seed, unsigned width)
      : random(seed), builder(&context), location(builder.getUnknownLoc()), element(builder.getIntegerType(width)) {
    module = ModuleOp::create(location);
    builder.setInsertionPointToEnd(module->getBody());
    Type pointer = PtrType::get(&context, builder.getI32Type());
    kernel =
        KernelOp::create(builder, location, "k", builder.getFunctionType({element, element, element, pointer}, {}));
    Block *entry = builder.createBlock(&kernel.getBody(), {}, {element, element, element, pointer},
                                       SmallVector<Location>(4, location));
    for (auto [index, divisor] : llvm::enumerate(divisors))
      kernel.setArgAttr(index, divisibilityAttrName, builder.getI32IntegerAttr(divisor));
    builder.setInsertionPointToEnd(entry);
    seedPools(entry);
    for (int step = 0; step < 24; ++step)
      addOperation();
    addPointers(entry->getArgument(3));
    ReturnOp::create(builder, location);
  }

  KernelOp getKernel() { return kernel; }

  Evaluator evaluate() {
    Evaluator evaluator;
    for (auto [argument, divisor] : llvm::zip(kernel.getBody().getArguments(), divisors)) {
      int64_t value = signExtend(int64_t(pick(64)) * divisor - 16 * divisor, widthOf(argument));
      evaluator[argument].values = {value};
    }
    for (Operation &op : kernel.getBody().front())
      evaluator.run(op);
    return evaluator;
  }

private:
  unsigned pick(unsigned count) { return std::uniform_int_distribution<unsigned>(0, count - 1)(random); }
  Value pickFrom(ArrayRef<Value> pool) { return pool[pick(pool.size())]; }

  RankedTensorType tensor(ArrayRef<int64_t> shape, Type type) { return RankedTensorType::get(shape, type); }
  Value constant(RankedTensorType type, int64_t value) {
    APInt integer(type.getElementTypeBitWidth(), value, true, true);
    return arith::ConstantOp::create(builder, location, DenseElementsAttr::get(type, integer));
  }

  void seedPools(Block *entry) {
    for (auto [pool, shape] : llvm::zip(pools, shapes)) {
      auto type = tensor(shape, element);
      for (int index = 0; index < 3; ++index)
        pool.push_back(SplatOp::create(builder, location, type, entry->getArgument(index)));
      for (int64_t value : {1, 3, 7, 8, 16, -8, int(pick(32))})
        pool.push_back(constant(type, value));
    }
    Value line = arange(pick(3) * 8, 32);
    pools[0].push_back(line);
    Value column = ExpandDimsOp::create(builder, location, tensor({8, 1}, element), arange(0, 8), 1);
    Value row = ExpandDimsOp::create(builder, location, tensor({1, 16}, element), arange(16, 16), 0);
    pools[1].push_back(BroadcastOp::create(builder, location, tensor({8, 16}, element), column));
    pools[1].push_back(BroadcastOp::create(builder, location, tensor({8, 16}, element), row));
  }

  /// Creates a range of integers of type `element`.
  Value arange(int64_t start, int64_t size) {
    Value range = ArangeOp::create(builder, location, tensor({size}, builder.getI32Type()), start, start + size);
    if (element.isInteger(32))
      return range;
    return arith::TruncIOp::create(builder, location, tensor({size}, element), range);
  }

  template <typename Op> static Value create(OpBuilder &builder, Location location, Value lhs, Value rhs) {
    return Op::create(builder, location, lhs, rhs);
  }

  void addOperation() {
    static constexpr auto makers = std::to_array<Value (*)(OpBuilder &, Location, Value, Value)>(
        {create<arith::AddIOp>, create<arith::AddIOp>, create<arith::SubIOp>, create<arith::MulIOp>,
         create<arith::DivSIOp>, create<arith::DivUIOp>, create<arith::RemSIOp>, create<arith::RemUIOp>,
         create<arith::FloorDivSIOp>, create<arith::AndIOp>, create<arith::OrIOp>, create<arith::XOrIOp>,
         create<arith::MinSIOp>, create<arith::MaxSIOp>, create<arith::MinUIOp>, create<arith::MaxUIOp>,
         create<arith::ShLIOp>, create<arith::ShRSIOp>, create<arith::ShRUIOp>});
    unsigned which = pick(2);
    SmallVector<Value> &pool = pools[which];
    Value lhs = pickFrom(pool), rhs = pickFrom(pool);
    switch (unsigned kind = pick(makers.size() + 5)) {
    case 0: {
      auto predicate = static_cast<arith::CmpIPredicate>(pick(10));
      Value mask = arith::CmpIOp::create(builder, location, predicate, lhs, rhs);
      pool.push_back(arith::SelectOp::create(builder, location, mask, pickFrom(pool), pickFrom(pool)));
      break;
    }
    case 1: {
      Value other = ReshapeOp::create(
          builder, location, tensor(which ? ArrayRef<int64_t>{4, 32} : ArrayRef<int64_t>{2, 16}, element), lhs);
      Value turned = TransOp::create(builder, location,
                                     tensor(which ? ArrayRef<int64_t>{32, 4} : ArrayRef<int64_t>{16, 2}, element),
                                     other, ArrayRef<int32_t>{1, 0});
      pool.push_back(ReshapeOp::create(builder, location, lhs.getType(), pick(2) ? turned : other));
      break;
    }
    case 2:
    case 3: {
      bool isSigned = kind == 2;
      auto narrow = tensor(shapes[which], builder.getIntegerType(element.getIntOrFloatBitWidth() / 2));
      Value small = arith::TruncIOp::create(builder, location, narrow, lhs);
      pool.push_back(isSigned ? arith::ExtSIOp::create(builder, location, lhs.getType(), small).getResult()
                              : arith::ExtUIOp::create(builder, location, lhs.getType(), small).getResult());
      break;
    }
    case 4:
      pool.push_back(TransOp::create(builder, location, lhs.getType(),
                                     ReshapeOp::create(builder, location, lhs.getType(), lhs),
                                     which ? ArrayRef<int32_t>{0, 1} : ArrayRef<int32_t>{0}));
      break;
    default:
      pool.push_back(makers[kind - 5](builder, location, lhs, rhs));
    }
  }

  void addPointers(Value base) {
    for (auto [pool, shape] : llvm::zip(pools, shapes)) {
      auto type = tensor(shape, base.getType());
      Value pointers = SplatOp::create(builder, location, type, base);
      for (int index = 0; index < 3; ++index)
        pointers = AddPtrOp::create(builder, location, pointers, pickFrom(pool));
    }
  }

  static constexpr std::array<int64_t, 4> divisors = {1, 4, 16, 32};
  std::array<SmallVector<Value>, 2> pools;
  std::array<SmallVector<int64_t>, 2> shapes = {SmallVector<int64_t>{32}, SmallVector<int64_t>{8, 16}};
  std::mt19937 random;
  OpBuilder builder;
  Location location;
  IntegerType element;
  OwningOpRef<ModuleOp> module;
  KernelOp kernel;
};

/// Calls `check(first, group)` for every aligned group of `size` elements along `dim`; `group` holds their values.
void forEachGroup(ArrayRef<int64_t> values, ArrayRef<int64_t> shape, unsigned dim, int64_t size,
                  function_ref<void(ArrayRef<int64_t>)> check) {
  int64_t stride = llvm::product_of(shape.drop_front(dim + 1));
  for (int64_t flat = 0; flat < int64_t(values.size()); ++flat) {
    if (flat / stride % shape[dim] % size != 0)
      continue;
    SmallVector<int64_t> group;
    for (int64_t index = 0; index < size; ++index)
      group.push_back(values[flat + index * stride]);
    check(group);
  }
}

/// Returns null if `info` holds for `elements`, otherwise the claim that is violated.
const char *findFalseClaim(Value value, const AxisInfo &info, const Elements &elements) {
  bool promised = !elements.overflowed;
  // Contiguity through a signed remainder is only claimed for non-negative offsets; all other facts hold for any value.
  bool mayCount = promised || !elements.signedQuotient;
  const char *problem = nullptr;
  SmallVector<int64_t> shape = shapeOf(value);
  unsigned width = widthOf(value);
  for (unsigned dim = 0; dim < shape.size(); ++dim) {
    int64_t counted = promised ? info.getContiguity(dim) : info.getAlignedContiguity(dim);
    forEachGroup(elements.values, shape, dim, mayCount ? counted : 1, [&](ArrayRef<int64_t> group) {
      for (auto [index, element] : llvm::enumerate(group))
        if (element != signExtend(group[0] + int64_t(index) * info.step, width))
          problem = "contiguity";
      int64_t divisor = info.getDivisibilityOfGroups(dim, mayCount ? counted : 1);
      if (group[0] % divisor != 0 && zeroExtend(group[0], width) % divisor != 0)
        problem = "divisibility";
    });
    forEachGroup(elements.values, shape, dim, info.getConstancy(dim), [&](ArrayRef<int64_t> group) {
      if (!llvm::all_equal(group))
        problem = "constancy";
    });
  }
  for (int64_t element : elements.values) {
    if (info.constant && *info.constant != element)
      problem = "constant";
    if (value.getDefiningOp<AddPtrOp>())
      continue;
    if (element < info.range.smallest || element > info.range.largest)
      problem = "range";
    if (promised && info.isNonNegativeOffset() && element < 0)
      problem = "nonnegative";
  }
  return problem;
}

TEST(AxisInfoSoundness, RandomKernels) {
  MLIRContext context;
  context.loadDialect<TileDialect, arith::ArithDialect>();
  int64_t checked = 0, interesting = 0;
  for (unsigned seed = 0; seed < 800; ++seed) {
    RandomKernel random(context, seed, seed % 3 == 0 ? 8 : 32);
    AxisInfoAnalysis analysis(random.getKernel());
    for (int trial = 0; trial < 4; ++trial) {
      Evaluator evaluator = random.evaluate();
      if (evaluator.undefined)
        continue;
      for (Operation &op : random.getKernel().getBody().front())
        for (Value value : op.getResults()) {
          const AxisInfo &info = analysis.get(value);
          const char *problem = findFalseClaim(value, info, evaluator[value]);
          ++checked;
          interesting += llvm::any_of(info.contiguity, [](int64_t size) { return size > 1; });
          if (!problem)
            continue;
          std::string text;
          llvm::raw_string_ostream os(text);
          random.getKernel().print(os, OpPrintingFlags().useLocalScope());
          os << "\n" << value << "\n";
          info.print(os);
          os << "\nelements:";
          for (int64_t element : evaluator[value].values)
            os << " " << element;
          FAIL() << "seed " << seed << ": false " << problem << "\n" << text;
        }
    }
  }
  EXPECT_GT(checked, 10000);
  EXPECT_GT(interesting, 1000);
}

} // namespace
