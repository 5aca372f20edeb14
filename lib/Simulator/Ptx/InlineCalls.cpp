// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Simulator/Ptx/InlineCalls.h"

#include <unordered_map>

namespace tile::sim {

namespace {

// Limits for the number of instructions that inlining adds to a module, and for the number of registers of a function.
// Real kernels stay far below them.
constexpr size_t maxInstructions = 1 << 18, mostRegisters = 1 << 18;
constexpr unsigned deepestCall = 64;

using Renaming = std::unordered_map<uint32_t, uint32_t>;

class Inliner {
public:
  explicit Inliner(Module &module) : module(module), states(module.functions.size(), State::New) {
    for (uint32_t i = 0; i < module.functions.size(); ++i)
      indices.emplace(module.functions[i].name, i);
  }

  runtime::Status expand(uint32_t index, unsigned depth = 0) {
    states[index] = State::Open;
    Function &function = module.functions[index];
    std::vector<Instruction> old = std::move(function.instructions);
    std::vector<Instruction> made;
    std::vector<uint32_t> newIndices; ///< for each old instruction, its index among the new ones
    std::vector<uint32_t> own;        ///< new instructions of this function itself, whose labels still have old indices
    Renaming registers;               ///< for each callee, its first register in this function
    for (Instruction &instruction : old) {
      newIndices.push_back(uint32_t(made.size()));
      const std::optional<uint32_t> callee = calleeOf(instruction);
      if (!callee) {
        own.push_back(uint32_t(made.size()));
        made.push_back(std::move(instruction));
        continue;
      }
      if (states[*callee] == State::Open)
        return fail(instruction,
                    fmt::format("'{}' calls itself, which is not supported", instruction.operands[1].name));
      if (depth == deepestCall)
        return fail(instruction, fmt::format("calls are more than {} deep", deepestCall));
      if (states[*callee] == State::New)
        if (runtime::Status status = expand(*callee, depth + 1); !status)
          return status;
      const Function &body = module.functions[*callee];
      if ((copied += body.instructions.size()) > maxInstructions)
        return fail(instruction,
                    fmt::format("inlining all calls would produce more than {} instructions", maxInstructions));
      if (function.registers.size() + body.registers.size() > mostRegisters)
        return fail(instruction, fmt::format("inlining all calls would need more than {} registers", mostRegisters));
      auto [base, isNew] = registers.emplace(*callee, uint32_t(function.registers.size()));
      if (isNew)
        function.registers.insert(function.registers.end(), body.registers.begin(), body.registers.end());
      copyBody(body, instruction, base->second, made);
    }
    for (uint32_t loc : own)
      forLabels(made[loc], [&](uint32_t &label) { label = newIndices[label]; });
    function.instructions = std::move(made);
    states[index] = State::Done;
    return runtime::Success{};
  }

private:
  enum class State : uint8_t { New, Open, Done };

  static runtime::Error fail(const Instruction &instruction, const std::string &message) {
    return runtime::makeError(TILE_ERROR_UNSUPPORTED, "line {}: {}", instruction.loc.ptxLine, message);
  }

  template <typename Change> static void forLabels(Instruction &instruction, Change change) {
    for (Operand &operand : instruction.operands) {
      if (operand.kind == Operand::Kind::Label)
        change(operand.index);
      for (Operand &element : operand.elements)
        if (element.kind == Operand::Kind::Label)
          change(element.index);
    }
  }

  /// Returns the callee of a call that can be inlined: its arguments and results must be variables, as many as the
  /// function has.
  std::optional<uint32_t> calleeOf(const Instruction &instruction) const {
    if (instruction.name != "call" || instruction.operands[1].kind != Operand::Kind::Function)
      return std::nullopt;
    auto found = indices.find(instruction.operands[1].name);
    if (found == indices.end() || module.functions[found->second].isDeclaration)
      return std::nullopt;
    const Function &callee = module.functions[found->second];
    if (instruction.operands[0].elements.size() != callee.results.size() ||
        instruction.operands[2].elements.size() != callee.parameters.size())
      return std::nullopt;
    for (unsigned list : {0, 2})
      for (const Operand &argument : instruction.operands[list].elements)
        if (argument.kind != Operand::Kind::Symbol || argument.space != Space::Param || argument.offset != 0)
          return std::nullopt;
    return found->second;
  }

  static void rename(Operand &operand, uint32_t registerBase, const Renaming &variables) {
    if (operand.kind == Operand::Kind::Register)
      operand.index += registerBase;
    if (operand.kind == Operand::Kind::Symbol)
      if (auto found = variables.find(operand.index); found != variables.end())
        operand.index = found->second;
    for (Operand &element : operand.elements)
      rename(element, registerBase, variables);
  }

  static Instruction branch(const Instruction &from, uint32_t target) {
    Instruction made;
    made.name = "bra";
    made.guard = from.guard;
    made.guardNegated = from.guardNegated;
    made.loc = from.loc;
    made.operands.resize(1);
    made.operands[0].kind = Operand::Kind::Label;
    made.operands[0].index = target;
    return made;
  }

  /// Appends the body of a callee, which contains no calls, with its parameters and registers renamed.
  static void copyBody(const Function &body, const Instruction &call, uint32_t registerBase,
                       std::vector<Instruction> &made) {
    Renaming variables;
    for (size_t i = 0; i < body.results.size(); ++i)
      variables.emplace(body.results[i], call.operands[0].elements[i].index);
    for (size_t i = 0; i < body.parameters.size(); ++i)
      variables.emplace(body.parameters[i], call.operands[2].elements[i].index);
    const bool isGuarded = call.guard >= 0;
    const uint32_t first = uint32_t(made.size()) + isGuarded;
    const uint32_t afterCall = first + uint32_t(body.instructions.size());
    if (isGuarded) {
      made.push_back(branch(call, afterCall));
      made.back().guardNegated = !call.guardNegated;
    }
    for (const Instruction &instruction : body.instructions) {
      Instruction copy = instruction.name == "ret" ? branch(instruction, afterCall - first) : instruction;
      if (copy.guard >= 0)
        copy.guard += int32_t(registerBase);
      for (Operand &operand : copy.operands)
        rename(operand, registerBase, variables);
      forLabels(copy, [&](uint32_t &label) { label += first; });
      made.push_back(std::move(copy));
    }
  }

  Module &module;
  std::vector<State> states;
  size_t copied = 0; ///< number of instructions copied so far
  std::unordered_map<std::string, uint32_t> indices;
};

} // namespace

runtime::Status inlineCalls(Module &module) {
  Inliner inliner(module);
  for (uint32_t i = 0; i < module.functions.size(); ++i)
    if (module.functions[i].isEntry && !module.functions[i].isDeclaration)
      if (runtime::Status status = inliner.expand(i); !status)
        return status;
  return runtime::Success{};
}

} // namespace tile::sim
