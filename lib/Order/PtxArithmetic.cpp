// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Hashes the expressions of all registers in the order of the program. A register that is defined several times has, at
// the start of a basic block, the set of the values that reach the ends of blocks; a few rounds distinguish loops by
// what they compute.
#include "Order/PtxArithmetic.h"

#include "Order/CodeText.h"
#include "Order/Hash.h"
#include "Order/PtxValues.h"
#include "Simulator/Ptx/InlineCalls.h"
#include "Simulator/Ptx/Parser.h"

#include <algorithm>
#include <set>

namespace tile::order {
namespace {

using sim::Instruction;
using sim::Module;
using sim::Operand;
using sim::Type;

bool isFloat(Type type) {
  return (type >= Type::F16 && type <= Type::F64) || (type >= Type::E4M3 && type <= Type::UE8M0x2);
}

/// Returns true if a suffix names a type of floats.
bool hasFloatType(const Instruction &one) {
  return std::any_of(one.suffixes.begin(), one.suffixes.end(), [](const std::string &suffix) {
    const std::optional<Type> type = sim::parseType(suffix);
    return type && isFloat(*type);
  });
}

bool hasRounding(const Instruction &one) {
  return one.has("rn") || one.has("rz") || one.has("rm") || one.has("rp");
}

/// Returns true for moves, which neither round nor compare. Their results depend on floats only by position.
bool isMove(const Instruction &one) {
  static const std::set<std::string_view> names = {
      "mov", "ld", "ldu", "st", "cvta", "ldmatrix", "stmatrix", "cp", "shfl", "prefetch", "st_async", "selp", "prmt"};
  return names.contains(one.name) || (one.name == "tcgen05" && !one.has("mma"));
}

bool loads(const Instruction &one) {
  return one.name == "ld" || one.name == "ldu" || one.name == "ldmatrix" || one.name == "atom" ||
         (one.name == "tcgen05" && one.has("ld"));
}

bool computesMatrix(const Instruction &one) {
  return one.name == "mma" || one.name == "wgmma" || (one.name == "tcgen05" && one.has("mma"));
}

/// Returns true for a call of printf or of a failed assertion.
bool printsOnly(const Instruction &call) {
  return std::any_of(call.operands.begin(), call.operands.end(), [](const Operand &operand) {
    return operand.kind == Operand::Kind::Function && (operand.name == "vprintf" || operand.name == "__assertfail");
  });
}

/// Returns the bytes between the elements of a vector load.
int64_t elementBytes(const Instruction &one) {
  for (const std::string &suffix : one.suffixes)
    if (const std::optional<Type> type = sim::parseType(suffix))
      return std::max<int64_t>(1, sim::bitWidth(*type) / 8);
  return 4;
}

/// Properties of an instruction, which are the same in every round.
struct Decoded {
  explicit Decoded(const Instruction &one)
      : text(mix(0, one.text())), defined(definedRegisters(one)), isFloating(hasFloatType(one) && !isMove(one)),
        isMatrix(computesMatrix(one)), readsMemory(loads(one)),
        isMultiplication(isFloating && one.name == "mul" && !hasRounding(one)),
        isCopy(one.name == "mov" && one.operands.size() == 2 && defined.size() == 1) {}
  uint64_t text;
  std::vector<uint32_t> defined;
  bool isFloating, isMatrix, readsMemory, isMultiplication, isCopy;
};

class Analysis {
public:
  Analysis(const Module &module, const sim::Function &function)
      : module(module), function(function), locations(function), starts(blockStarts(function)),
        decoded(function.instructions.begin(), function.instructions.end()), values(function.registers.size()) {}

  PtxArithmetic run() {
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = {.label = mix(0, "register")};
    constexpr int rounds = 4; // distinguishes nested loops
    for (int round = 0; round < rounds; ++round)
      runOnce(round == rounds - 1);
    uint64_t hash = 0;
    for (const uint64_t expression : expressions)
      hash = mix(hash, expression);
    result.hash = hexOf(hash);
    for (auto [set, list] : {std::pair(&unordered, &result.unordered), std::pair(&approximate, &result.approximate),
                             std::pair(&contractible, &result.contractible), std::pair(&unknown, &result.unknown)})
      list->assign(set->begin(), set->end());
    return std::move(result);
  }

private:
  void runOnce(bool isLast) {
    std::vector<std::set<uint64_t>> reaching(values.size());
    std::vector<bool> carriesData(values.size(), false);
    const auto endBlock = [&] {
      for (const auto &[reg, value] : local) {
        reaching[reg].insert(value.label);
        if (value.isData)
          carriesData[reg] = true;
      }
      local.clear();
      tensorMemory = {.label = mix(0, "tensor memory"), .isData = true};
    };
    for (size_t i = 0; i < function.instructions.size(); ++i) {
      if (starts[i])
        endBlock();
      visit(function.instructions[i], decoded[i], isLast);
    }
    endBlock();
    for (uint32_t reg = 0; reg < values.size(); ++reg)
      if (!reaching[reg].empty()) {
        Value merged{.label = mix(0, "merge"), .isData = carriesData[reg]};
        for (const uint64_t label : reaching[reg])
          merged.label = mix(merged.label, label);
        values[reg] = merged.isData ? merged : integer();
      }
  }

  static Value integer() { return {.label = mix(0, "integer")}; }

  const Value &valueOf(uint32_t reg) const {
    const auto at = local.find(reg);
    return at == local.end() ? values[reg] : at->second;
  }

  void define(const Instruction &one, uint32_t reg, Value value) {
    if (one.guard >= 0) { // if the guard is false, the old value stays
      const Value old = valueOf(reg);
      value = combine(mix(0, "guarded"), {&old, &value});
    }
    if (!value.isData && value.label != integer().label && !isParameter(value))
      value = integer();
    if (locations.isDefinedOnce(reg))
      values[reg] = std::move(value);
    else
      local[reg] = std::move(value);
  }

  /// Parameters keep their identity although they are not data: they may be floats.
  bool isParameter(const Value &value) const { return parameters.contains(value.label); }

  /// Appends the values of an operand.
  void read(const Operand &operand, std::vector<Value> &operands) const {
    switch (operand.kind) {
    case Operand::Kind::Register: {
      operands.push_back(valueOf(operand.index));
      if (operand.negated)
        operands.back().label = mix(operands.back().label, "not");
      break;
    }
    case Operand::Kind::Immediate:
      operands.push_back({.label = mix(mix(mix(0, "constant"), operand.floatBits), operand.bits)});
      break;
    case Operand::Kind::Vector:
    case Operand::Kind::Pair:
      for (const Operand &element : operand.elements)
        read(element, operands);
      break;
    default:
      operands.push_back(integer());
    }
  }

  Value matrixOperand(const Operand &operand) const {
    const Location location = locations.find(operand);
    return {.label = mix(mix(0, "matrix"), location.constant), .lowest = {{location.block, location.offset}}};
  }

  std::string position(const Instruction &one) const {
    return one.loc.sourceLine ? std::to_string(one.loc.sourceLine) + ":" + std::to_string(one.loc.sourceColumn)
                              : "PTX line " + std::to_string(one.loc.ptxLine);
  }

  /// Returns the hash of the source position relative to the kernel, so that text before the kernel does not matter.
  uint64_t hashPosition(const Instruction &one) const {
    const sim::SourceLoc &first = function.instructions.front().loc;
    if (one.loc.file == 0 || one.loc.sourceLine == 0)
      return 0;
    uint64_t hash = mix(1, one.loc.sourceColumn);
    if (one.loc.file == first.file)
      return mix(hash, uint64_t(one.loc.sourceLine) - first.sourceLine);
    if (one.loc.file < module.files.size())
      hash = mix(hash, module.files[one.loc.file]);
    return mix(hash, one.loc.sourceLine);
  }

  void record(const Instruction &one, const Decoded &its, const Value &value) {
    expressions.insert(mix(mix(hashPosition(one), its.text), value.label));
  }

  /// Records instructions that do not determine the result completely.
  void note(const Instruction &one) {
    if (one.has("approx") || one.name == "ex2" || one.name == "tanh")
      approximate.insert(one.name + ".approx"); // ex2 and tanh of 16-bit types are approximate, but do not say so
    if (one.name == "div" && one.has("full"))
      approximate.insert("div.full");
    const bool isAtomic = one.name == "atom" || one.name == "red" || (one.name == "cp" && one.has("reduce"));
    if (isAtomic && one.has("add") && hasFloatType(one))
      unordered.insert(one.text() + " at " + position(one));
    if (one.name == "atom" && one.has("cas"))
      unordered.insert(one.text() + " at " + position(one) + ", with which programs may add in any order");
    if ((one.name == "add" || one.name == "sub") && hasFloatType(one) && !hasRounding(one) &&
        std::any_of(operands.begin(), operands.end(), [](const Value &value) { return value.isMultiplication; }))
      contractible.insert(one.text() + " at " + position(one));
    if (one.name == "call" && !printsOnly(one))
      unknown.insert("a call at " + position(one));
    if (one.name == "cvt" && one.has("rs"))
      unknown.insert("stochastic rounding at " + position(one));
  }

  void visit(const Instruction &one, const Decoded &its, bool isLast) {
    const std::vector<uint32_t> &defined = its.defined;
    operands.clear();
    for (size_t i = defined.empty() ? 0 : 1; i < one.operands.size(); ++i)
      read(one.operands[i], operands);
    if (isLast)
      note(one);
    if (its.isMatrix)
      return visitMatrix(one, its, isLast);
    if (its.readsMemory && !one.operands.empty())
      return visitLoad(one, its);
    if (its.isCopy && operands.size() == 1)
      return define(one, defined.front(), std::move(operands.front()));
    if (defined.empty() && !its.isFloating)
      return;
    if (!its.isFloating &&
        std::none_of(operands.begin(), operands.end(), [](const Value &value) { return value.isData; })) {
      for (const uint32_t reg : defined)
        define(one, reg, integer());
      return;
    }
    pointers.clear();
    for (const Value &operand : operands)
      pointers.push_back(&operand);
    Value value = combine(its.text, pointers);
    value.isData |= its.isFloating;
    value.isMultiplication = its.isMultiplication;
    if (isLast && its.isFloating)
      record(one, its, value);
    for (size_t i = 0; i < defined.size(); ++i) {
      Value part = value;
      if (defined.size() > 1)
        part.label = mix(part.label, i);
      define(one, defined[i], std::move(part));
    }
  }

  void visitLoad(const Instruction &one, const Decoded &its) {
    const std::vector<uint32_t> &defined = its.defined;
    const bool isTensorMemory = one.name == "tcgen05";
    const Location location = locations.find(
        one.operands.back().kind == Operand::Kind::Address || one.operands.size() < 2 ? one.operands.back()
                                                                                      : one.operands[1]);
    for (size_t i = 0; i < defined.size(); ++i) {
      Value value{.label = mix(0, "load"), .isData = true};
      if (one.has("param")) {
        value = {.label = mix(mix(mix(0, "parameter"), location.block), uint64_t(location.offset))};
        parameters.insert(value.label);
      } else if (isTensorMemory) {
        value.label = mix(mix(0, "tensor memory"), i);
      } else {
        if (one.name != "ld" && one.name != "ldu")
          value.label = mix(mix(value.label, its.text), i);
        value.lowest = {{location.block, location.offset + int64_t(i) * elementBytes(one)}};
      }
      define(one, defined[i], std::move(value));
    }
  }

  /// Each element of the result depends on its own element of the accumulator, and on all elements of the operands.
  void visitMatrix(const Instruction &one, const Decoded &its, bool isLast) {
    const bool isTensorMemory = one.name == "tcgen05";
    const size_t accumulator = one.name == "mma" ? 3 : 0; // operand
    std::vector<Value> old;
    operands.clear();
    if (isTensorMemory)
      old.push_back(tensorMemory);
    else if (one.operands.size() > accumulator)
      read(one.operands[accumulator], old);
    for (size_t i = 1; i < one.operands.size(); ++i)
      if (i != accumulator) {
        const bool isDescriptor = one.operands[i].kind == Operand::Kind::Address ||
                                  (one.name != "mma" && i <= 2 && one.operands[i].kind == Operand::Kind::Register);
        if (isDescriptor)
          operands.push_back(matrixOperand(one.operands[i]));
        else
          read(one.operands[i], operands);
      }
    for (size_t i = 0; i < std::max<size_t>(old.size(), 1); ++i) {
      pointers.clear();
      if (i < old.size())
        pointers.push_back(&old[i]);
      for (const Value &operand : operands)
        pointers.push_back(&operand);
      Value value = combine(its.text, pointers);
      value.isData = true;
      if (isLast)
        record(one, its, value);
      if (isTensorMemory)
        tensorMemory = std::move(value);
      else if (i < its.defined.size())
        define(one, its.defined[i], std::move(value));
    }
  }

  const Module &module;
  const sim::Function &function;
  Locations locations;
  std::vector<bool> starts;
  std::vector<Decoded> decoded;
  std::vector<Value> values; ///< values of registers, at the start of a block if they are defined repeatedly
  std::unordered_map<uint32_t, Value> local; ///< registers that the current block has redefined
  std::vector<Value> operands;               ///< values that the current instruction reads
  std::vector<const Value *> pointers;       ///< pointers to `operands`
  Value tensorMemory;                        ///< the MMAs of this block that accumulate in tensor memory
  std::set<uint64_t> parameters;             ///< labels
  std::set<uint64_t> expressions;
  std::set<std::string> unordered, approximate, contractible, unknown;
  PtxArithmetic result;
};

} // namespace

runtime::Result<PtxArithmetic> analyseArithmetic(std::string_view ptx, std::string_view entry) {
  runtime::Result<Module> module = sim::parsePtx(ptx);
  if (!module)
    return module.error();
  if (runtime::Status status = sim::inlineCalls(*module); !status)
    return status.error();
  const sim::Function *function = module->findEntry(entry);
  if (!function || function->instructions.empty())
    return runtime::makeError(TILE_ERROR_FILE, "the PTX has no kernel '{}'", entry);
  PtxArithmetic result = Analysis(*module, *function).run();
  result.code = hashCode(ptx);
  return result;
}

} // namespace tile::order
