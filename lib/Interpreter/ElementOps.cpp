// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Element-wise operations: those with a region that computes on scalars, arithmetic with explicit rounding, and special
// registers.
//
// Explicit rounding sets the mode of the host's floating-point unit. Operands and results are volatile, so that the
// compiler keeps the computation between the two mode changes.
#include "Interpreter/Compiler.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Transforms/RegionUtils.h"

#include <cfenv>
#include <chrono>
#include <limits>

#pragma STDC FP_CONTRACT OFF

using namespace mlir;

namespace tile::interp {

namespace {

class RoundingScope {
public:
  explicit RoundingScope(Rounding rounding) : before(std::fegetround()) {
    static constexpr int modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
    std::fesetround(modes[unsigned(rounding)]);
  }
  ~RoundingScope() { std::fesetround(before); }

private:
  int before;
};

struct RoundedData {
  RoundedKind kind;
  Rounding rounding;
  Kind from;
  bool isUnsigned;
};

template <typename T> T compute(RoundedKind kind, T first, T second, T third) {
  volatile T a = first, b = second, c = third, result = a;
  switch (kind) {
  case RoundedKind::add:
    result = a + b;
    break;
  case RoundedKind::sub:
    result = a - b;
    break;
  case RoundedKind::mul:
    result = a * b;
    break;
  case RoundedKind::div:
    result = a / b;
    break;
  case RoundedKind::fma:
    result = std::fma(T(a), T(b), T(c));
    break;
  case RoundedKind::rcp:
    result = T(1) / a;
    break;
  case RoundedKind::sqrt:
    result = std::sqrt(T(a));
    break;
  case RoundedKind::cast:
    break;
  }
  return result;
}

template <typename T> bool arithmetic(Machine &machine, const Instruction &instruction) {
  const auto &data = instruction.dataAs<RoundedData>();
  unsigned arguments = RoundedOp::countArguments(data.kind);
  const T *a = machine.at<T>(instruction.in[0]), *b = arguments > 1 ? machine.at<T>(instruction.in[1]) : a,
          *c = arguments > 2 ? machine.at<T>(instruction.in[2]) : a;
  T *result = machine.at<T>(instruction.out[0]);
  RoundingScope scope(data.rounding);
  for (int64_t i = 0, count = machine.countOf(instruction); i < count; ++i)
    result[i] = compute<T>(data.kind, a[i], b[i], c[i]);
  return true;
}

bool narrow(Machine &machine, const Instruction &instruction) {
  const double *source = machine.at<double>(instruction.in[0]);
  float *result = machine.at<float>(instruction.out[0]);
  RoundingScope scope(instruction.dataAs<RoundedData>().rounding);
  for (int64_t i = 0, count = machine.countOf(instruction); i < count; ++i) {
    volatile double exact = source[i];
    volatile float rounded = float(exact);
    result[i] = rounded;
  }
  return true;
}

/// Converts an integral float to an integer and saturates; NaN gives the values of `cvt.rzi`.
template <typename Float, typename Integer> Integer saturate(Float value) {
  constexpr int bits = std::numeric_limits<Integer>::digits;
  if (std::isnan(value)) {
    bool isWide = sizeof(Float) == 8 || sizeof(Integer) == 8;
    return isWide ? Integer(uint64_t(1) << (8 * sizeof(Integer) - 1)) : Integer(0);
  }
  if (value >= std::ldexp(Float(1), bits))
    return std::numeric_limits<Integer>::max();
  if (value < Float(std::numeric_limits<Integer>::min()))
    return std::numeric_limits<Integer>::min();
  return Integer(value);
}

template <typename Float, typename Integer> bool toInteger(Machine &machine, const Instruction &instruction) {
  const Float *source = machine.at<Float>(instruction.in[0]);
  Integer *result = machine.at<Integer>(instruction.out[0]);
  RoundingScope scope(instruction.dataAs<RoundedData>().rounding);
  for (int64_t i = 0, count = machine.countOf(instruction); i < count; ++i) {
    volatile Float exact = source[i];
    volatile Float whole = std::nearbyint(Float(exact));
    result[i] = saturate<Float, Integer>(whole);
  }
  return true;
}

template <typename Integer, typename Float> bool toFloat(Machine &machine, const Instruction &instruction) {
  const Integer *source = machine.at<Integer>(instruction.in[0]);
  Float *result = machine.at<Float>(instruction.out[0]);
  RoundingScope scope(instruction.dataAs<RoundedData>().rounding);
  for (int64_t i = 0, count = machine.countOf(instruction); i < count; ++i) {
    volatile Integer exact = source[i];
    volatile Float rounded = Float(exact);
    result[i] = rounded;
  }
  return true;
}

template <typename Float> Execute fromIntegerKernel(Kind from, bool isUnsigned) {
  if (from == Kind::I32)
    return isUnsigned ? toFloat<uint32_t, Float> : toFloat<int32_t, Float>;
  return isUnsigned ? toFloat<uint64_t, Float> : toFloat<int64_t, Float>;
}

template <typename Float> Execute toIntegerKernel(Kind to, bool isUnsigned) {
  if (to == Kind::I32)
    return isUnsigned ? toInteger<Float, uint32_t> : toInteger<Float, int32_t>;
  return isUnsigned ? toInteger<Float, uint64_t> : toInteger<Float, int64_t>;
}

Execute castKernel(Kind from, Kind to, Rounding rounding, bool isUnsigned) {
  if (isSmallFloat(to))
    return floatCastKernel(from, to, rounding == Rounding::rz);
  if (isInteger(from))
    return to == Kind::F64 ? fromIntegerKernel<double>(from, isUnsigned) : fromIntegerKernel<float>(from, isUnsigned);
  if (isInteger(to))
    return from == Kind::F64 ? toIntegerKernel<double>(to, isUnsigned) : toIntegerKernel<float>(to, isUnsigned);
  return narrow;
}

bool compileRounded(Compiler &compiler, Operation *op) {
  auto rounded = cast<RoundedOp>(op);
  Kind from = compiler.slotOf(op->getOperand(0)).kind, to = *compiler.kindOf(rounded.getType());
  Execute execute = from == Kind::F64 ? arithmetic<double> : arithmetic<float>;
  if (rounded.getKind() == RoundedKind::cast)
    execute = castKernel(from, to, rounded.getRounding(), rounded.getIsUnsigned());
  compiler.emit(op, execute).data = std::make_shared<const RoundedData>(
      RoundedData{rounded.getKind(), rounded.getRounding(), from, rounded.getIsUnsigned()});
  return true;
}

/// A tensor in the frame, and the slot of its element in the region.
struct Place {
  size_t bytes, whole, element;
};

struct MapData {
  SmallVector<Place, 4> sources, results;
  Block body;
  int64_t count;
  bool isVector; ///< the region runs once, on all elements
};

bool map(Machine &machine, const Instruction &instruction) {
  const auto &data = instruction.dataAs<MapData>();
  auto copy = [&](const Place &place, int64_t element, int64_t count, bool isSource) {
    char *whole = machine.at<char>(place.whole) + size_t(element) * place.bytes;
    char *inRegion = machine.at<char>(place.element);
    std::memcpy(isSource ? inRegion : whole, isSource ? whole : inRegion, size_t(count) * place.bytes);
  };
  int64_t step = data.isVector ? data.count : 1, lanes = std::exchange(machine.lanes, step);
  bool succeeded = true;
  for (int64_t element = 0; succeeded && element < data.count; element += step) {
    for (const Place &source : data.sources)
      copy(source, element, step, /*isSource=*/true);
    succeeded = machine.runBlock(data.body);
    for (const Place &result : data.results)
      copy(result, element, step, /*isSource=*/false);
  }
  machine.lanes = lanes;
  return succeeded;
}

bool isVectorizable(Region &region) {
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(region, captured);
  return captured.empty() && llvm::all_of(region.front().without_terminator(), [](Operation &op) {
           return OpTrait::hasElementwiseMappableTraits(&op) || isa<arith::ConstantOp>(op);
         });
}

bool compileMap(Compiler &compiler, Operation *operation) {
  auto op = cast<MapOp>(operation);
  auto data = std::make_shared<MapData>();
  data->count = cast<RankedTensorType>(op.getSrcs().front().getType()).getNumElements();
  data->isVector = isVectorizable(op.getBody());
  int64_t lanes = data->isVector ? data->count : 1;
  SmallVector<Slot> slots;
  for (auto [source, argument] : llvm::zip_equal(op.getSrcs(), op.getBody().getArguments())) {
    Slot whole = compiler.slotOf(source);
    slots.push_back(compiler.scratch(whole.kind, lanes));
    compiler.alias(argument, slots.back());
    data->sources.push_back({bytesInFrame(whole.kind), whole.offset, slots.back().offset});
  }
  for (Value result : op.getResults()) {
    Slot whole = compiler.define(result);
    data->results.push_back({bytesInFrame(whole.kind), whole.offset, 0});
  }
  std::optional<int64_t> outer = compiler.vectorLanes;
  compiler.vectorLanes.reset();
  if (data->isVector)
    compiler.vectorLanes = lanes;
  bool succeeded = compiler.compileBlock(op.getBody().front(), data->body, [&](Operation *yield) {
    for (auto [result, value] : llvm::zip_equal(data->results, yield->getOperands()))
      result.element = compiler.slotOf(value).offset;
    return true;
  });
  compiler.vectorLanes = outer;
  for (Slot place : slots)
    compiler.release(place);
  compiler.emit(op, map, {}, {}, Slot()).data = std::move(data);
  return succeeded;
}

bool readTimer(Machine &machine, const Instruction &instruction) {
  auto now = std::chrono::steady_clock::now().time_since_epoch();
  *machine.at<int64_t>(instruction.out[0]) = std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
  ++machine.changes;
  return true;
}

/// Reads the index of the SM, which is 0, because there is only one.
bool readMultiprocessor(Machine &machine, const Instruction &instruction) {
  *machine.at<int32_t>(instruction.out[0]) = 0;
  return true;
}

bool compileReadRegister(Compiler &compiler, Operation *op) {
  bool isTimer = cast<ReadRegisterOp>(op).getSource() == SpecialRegister::globaltimer;
  compiler.emit(op, isTimer ? readTimer : readMultiprocessor);
  return true;
}

} // namespace

void registerElementOps(HandlerTable &table) {
  table["tile.map"] = compileMap;
  table["tile.rounded"] = compileRounded;
  table["tile.read_register"] = compileReadRegister;
}

} // namespace tile::interp
