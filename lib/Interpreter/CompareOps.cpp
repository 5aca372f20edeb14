// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Comparisons, classification of floats, and selection.
#include "Interpreter/Compiler.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tile::interp {
namespace {

template <typename U, auto fn> bool compare(Machine &machine, const Instruction &instruction) {
  const U *a = machine.at<U>(instruction.in[0]), *b = machine.at<U>(instruction.in[1]);
  uint8_t *__restrict result = machine.at<uint8_t>(instruction.out[0]);
  for (int64_t i = 0, count = machine.countOf(instruction); i < count; ++i)
    result[i] = fn(a[i], b[i]);
  return true;
}

/// Compares i1 as signed: 0 or -1.
template <auto fn> bool compareSignedBits(Machine &machine, const Instruction &instruction) {
  return compare<uint8_t, [](uint8_t a, uint8_t b) { return fn(-int(a), -int(b)); }>(machine, instruction);
}

template <auto fn> Execute signedKernel(Kind kind) {
  switch (kind) {
  case Kind::I1:
    return compareSignedBits<fn>;
  case Kind::I8:
    return compare<int8_t, fn>;
  case Kind::I16:
    return compare<int16_t, fn>;
  case Kind::I32:
    return compare<int32_t, fn>;
  default:
    return compare<int64_t, fn>;
  }
}

template <auto fn> Execute unsignedKernel(Kind kind) {
  switch (kind) {
  case Kind::I1:
  case Kind::I8:
    return compare<uint8_t, fn>;
  case Kind::I16:
    return compare<uint16_t, fn>;
  case Kind::I32:
    return compare<uint32_t, fn>;
  default:
    return compare<uint64_t, fn>;
  }
}

template <auto fn> Execute floatKernel(Kind kind) {
  return kind == Kind::F64 ? compare<double, fn> : compare<float, fn>;
}

constexpr auto kLess = [](auto a, auto b) { return a < b; };
constexpr auto kLessEqual = [](auto a, auto b) { return a <= b; };
constexpr auto kGreater = [](auto a, auto b) { return a > b; };
constexpr auto kGreaterEqual = [](auto a, auto b) { return a >= b; };
constexpr auto kEqual = [](auto a, auto b) { return a == b; };
constexpr auto kNotEqual = [](auto a, auto b) { return a != b; };

Execute integerComparison(arith::CmpIPredicate predicate, Kind kind) {
  switch (predicate) {
  case arith::CmpIPredicate::eq:
    return unsignedKernel<kEqual>(kind);
  case arith::CmpIPredicate::ne:
    return unsignedKernel<kNotEqual>(kind);
  case arith::CmpIPredicate::slt:
    return signedKernel<kLess>(kind);
  case arith::CmpIPredicate::sle:
    return signedKernel<kLessEqual>(kind);
  case arith::CmpIPredicate::sgt:
    return signedKernel<kGreater>(kind);
  case arith::CmpIPredicate::sge:
    return signedKernel<kGreaterEqual>(kind);
  case arith::CmpIPredicate::ult:
    return unsignedKernel<kLess>(kind);
  case arith::CmpIPredicate::ule:
    return unsignedKernel<kLessEqual>(kind);
  case arith::CmpIPredicate::ugt:
    return unsignedKernel<kGreater>(kind);
  case arith::CmpIPredicate::uge:
    return unsignedKernel<kGreaterEqual>(kind);
  }
  llvm_unreachable("all predicates are handled");
}

Execute floatComparison(arith::CmpFPredicate predicate, Kind kind) {
  // "Unordered or less" is "not greater or equal", since every comparison with NaN is false.
  switch (predicate) {
  case arith::CmpFPredicate::AlwaysFalse:
    return floatKernel<[](auto, auto) { return false; }>(kind);
  case arith::CmpFPredicate::AlwaysTrue:
    return floatKernel<[](auto, auto) { return true; }>(kind);
  case arith::CmpFPredicate::OEQ:
    return floatKernel<kEqual>(kind);
  case arith::CmpFPredicate::OGT:
    return floatKernel<kGreater>(kind);
  case arith::CmpFPredicate::OGE:
    return floatKernel<kGreaterEqual>(kind);
  case arith::CmpFPredicate::OLT:
    return floatKernel<kLess>(kind);
  case arith::CmpFPredicate::OLE:
    return floatKernel<kLessEqual>(kind);
  case arith::CmpFPredicate::ONE:
    return floatKernel<[](auto a, auto b) { return a < b || a > b; }>(kind);
  case arith::CmpFPredicate::ORD:
    return floatKernel<[](auto a, auto b) { return a == a && b == b; }>(kind);
  case arith::CmpFPredicate::UEQ:
    return floatKernel<[](auto a, auto b) { return !(a < b || a > b); }>(kind);
  case arith::CmpFPredicate::UGT:
    return floatKernel<[](auto a, auto b) { return !(a <= b); }>(kind);
  case arith::CmpFPredicate::UGE:
    return floatKernel<[](auto a, auto b) { return !(a < b); }>(kind);
  case arith::CmpFPredicate::ULT:
    return floatKernel<[](auto a, auto b) { return !(a >= b); }>(kind);
  case arith::CmpFPredicate::ULE:
    return floatKernel<[](auto a, auto b) { return !(a > b); }>(kind);
  case arith::CmpFPredicate::UNE:
    return floatKernel<kNotEqual>(kind);
  case arith::CmpFPredicate::UNO:
    return floatKernel<[](auto a, auto b) { return a != a || b != b; }>(kind);
  }
  llvm_unreachable("all predicates are handled");
}

template <typename T, auto fn> bool classify(Machine &machine, const Instruction &instruction) {
  const T *a = machine.at<T>(instruction.in[0]);
  uint8_t *__restrict result = machine.at<uint8_t>(instruction.out[0]);
  for (int64_t i = 0, count = machine.countOf(instruction); i < count; ++i)
    result[i] = fn(a[i]);
  return true;
}

template <auto fn> void addClassification(HandlerTable &table, StringRef name) {
  table[name] = [](Compiler &compiler, Operation *op) {
    bool isDouble = compiler.slotOf(op->getOperand(0)).kind == Kind::F64;
    compiler.emit(op, isDouble ? classify<double, fn> : classify<float, fn>);
    return true;
  };
}

/// Inputs: condition, then, else. For pointers, selects both offsets and buffer indices.
template <typename T>
void selectElements(const uint8_t *condition, const T *yes, const T *no, T *__restrict result, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    result[i] = condition[i] ? yes[i] : no[i];
}

template <typename T> bool select(Machine &machine, const Instruction &instruction) {
  selectElements(machine.at<uint8_t>(instruction.in[0]), machine.at<T>(instruction.in[1]),
                 machine.at<T>(instruction.in[2]), machine.at<T>(instruction.out[0]), machine.countOf(instruction));
  return true;
}

bool selectPointers(Machine &machine, const Instruction &instruction) {
  select<int64_t>(machine, instruction);
  int64_t count = machine.countOf(instruction);
  selectElements(machine.at<uint8_t>(instruction.in[0]), machine.at<int32_t>(pointerBuffers(instruction.in[1], count)),
                 machine.at<int32_t>(pointerBuffers(instruction.in[2], count)),
                 machine.at<int32_t>(pointerBuffers(instruction.out[0], count)), count);
  return true;
}

/// Selects between whole values of any kind with a scalar condition.
bool selectWhole(Machine &machine, const Instruction &instruction) {
  size_t chosen = *machine.at<uint8_t>(instruction.in[0]) ? instruction.in[1] : instruction.in[2];
  std::memcpy(machine.at<char>(instruction.out[0]), machine.at<char>(chosen),
              size_t(machine.countOf(instruction)) * bytesInFrame(instruction.kind));
  return true;
}

Execute selectKernel(Kind kind) {
  if (kind == Kind::Pointer)
    return selectPointers;
  switch (bytesInFrame(kind)) {
  case 1:
    return select<uint8_t>;
  case 2:
    return select<uint16_t>;
  case 4:
    return select<uint32_t>;
  default:
    return select<uint64_t>;
  }
}

bool compileSelect(Compiler &compiler, Operation *op) {
  Type condition = op->getOperand(0).getType(), value = op->getResult(0).getType();
  bool isWhole = !compiler.vectorLanes && !isa<RankedTensorType>(condition) &&
                 (isa<RankedTensorType>(value) || isa<DescType>(value));
  compiler.emit(op, isWhole ? selectWhole : selectKernel(*compiler.kindOf(value)));
  return true;
}

} // namespace

void registerCompareOps(HandlerTable &table) {
  table["arith.cmpi"] = [](Compiler &compiler, Operation *op) {
    auto compare = cast<arith::CmpIOp>(op);
    compiler.emit(op, integerComparison(compare.getPredicate(), compiler.slotOf(compare.getLhs()).kind));
    return true;
  };
  table["arith.cmpf"] = [](Compiler &compiler, Operation *op) {
    auto compare = cast<arith::CmpFOp>(op);
    compiler.emit(op, floatComparison(compare.getPredicate(), compiler.slotOf(compare.getLhs()).kind));
    return true;
  };
  table["arith.select"] = compileSelect;
  addClassification<[](auto a) { return std::isnan(a); }>(table, "math.isnan");
  addClassification<[](auto a) { return std::isinf(a); }>(table, "math.isinf");
  addClassification<[](auto a) { return std::isfinite(a); }>(table, "math.isfinite");
}

} // namespace tile::interp
