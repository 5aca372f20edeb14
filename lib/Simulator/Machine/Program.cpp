// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loads a kernel: lays out its variables and registers, and decodes its instructions. Variables are placed as follows:
//
//   parameters, then constants   offset in the param window      local variables, call parameters   in local memory
//   static shared                from sharedBase on              extern shared                       after it
#include "Simulator/Machine/Program.h"

#include "Simulator/Exec/Decoding.h"
#include "Simulator/Ptx/ControlFlow.h"

#include <algorithm>
#include <fmt/format.h>
#include <unordered_map>

namespace tile::sim {

using runtime::makeError;

namespace {

uint64_t alignUp(uint64_t value, uint64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

using DecoderMap = std::unordered_map<std::string_view, Result<OperationPtr> (*)(Decoding &)>;

const DecoderMap &decoders() {
  static const DecoderMap map = [] {
    DecoderMap map;
    for (auto table : {controlDecoders(), moveDecoders(), stackDecoders(), arithmeticDecoders(), compareDecoders(),
                       conversionDecoders(), memoryDecoders(), atomicDecoders(), fenceDecoders(), warpDecoders(),
                       barrierDecoders(), copyDecoders(), matrixDecoders(), tensorDecoders()})
      for (const DecoderEntry &entry : table)
        map.emplace(entry.name, entry.decode);
    return map;
  }();
  return map;
}

/// Returns true if thread blocks may communicate through this instruction while they run.
bool communicatesThrough(const Instruction &instruction) {
  auto has = [&](std::string_view suffix) { return instruction.has(suffix); };
  bool local = has("shared") || has("shared::cta") || has("shared::cluster") || has("local");
  if (instruction.name == "atom" || instruction.name == "red")
    return !local;
  if (instruction.name == "ld" || instruction.name == "st")
    return !local && (has("acquire") || has("release") || has("volatile") || has("relaxed") || has("mmio"));
  return instruction.name == "clusterlaunchcontrol" || (instruction.name == "cp" && has("reduce"));
}

/// Returns true for alloca, stacksave and stackrestore.
bool usesStack(const Instruction &instruction) {
  return instruction.name == "alloca" || instruction.name.starts_with("stack");
}

/// Returns for each variable of the module whether the function uses it. The shared and local variables of other
/// kernels are not placed.
std::vector<bool> variablesOf(const Module &module, const Function &function) {
  std::vector<bool> used(module.variables.size());
  auto visit = [&](auto &self, const Operand &operand) -> void {
    if (operand.kind == Operand::Kind::Symbol)
      used[operand.index] = true;
    for (const Operand &element : operand.elements)
      self(self, element);
  };
  for (const Instruction &instruction : function.instructions)
    for (const Operand &operand : instruction.operands)
      visit(visit, operand);
  return used;
}

} // namespace

void Program::placeParameters() {
  variableAddresses.assign(module.variables.size(), 0);
  entryParameter.assign(module.variables.size(), false);
  for (uint32_t index : function.parameters) {
    const Variable &variable = module.variables[index];
    parameterBytes = alignUp(parameterBytes, std::max<uint64_t>(variable.alignment, 1));
    variableAddresses[index] = parameterBytes;
    parameterBytes += variable.size;
    entryParameter[index] = true;
  }
  constantEnd = parameterBytes;
}

/// Lays out all variables except those in global memory. Only computes their offsets, so no memory is allocated before
/// their sizes are checked.
void Program::placeVariables() {
  std::vector<bool> used = variablesOf(module, function);
  for (uint32_t index = 0; index < module.variables.size(); ++index) {
    const Variable &variable = module.variables[index];
    auto loc = [&](uint64_t &end) {
      end = alignUp(end, std::max<uint64_t>(variable.alignment, 1));
      variableAddresses[index] = end;
      end += variable.size;
    };
    if (variable.space == Space::Const)
      loc(constantEnd);
    else if (variable.space == Space::Shared && !variable.isExtern && used[index])
      loc(staticShared);
    else if ((variable.space == Space::Local || (variable.space == Space::Param && !entryParameter[index])) &&
             used[index])
      loc(localBytes);
    else if (variable.space == Space::Global && !variable.isExtern)
      globalBytes += variable.size;
  }
  stackBegin = localBytes;
  if (std::any_of(function.instructions.begin(), function.instructions.end(), usesStack))
    localBytes += programStackBytes;
  for (const Variable &variable : module.variables)
    if (variable.isExtern && variable.space == Space::Shared)
      staticShared = alignUp(staticShared, std::max<uint64_t>(variable.alignment, 16));
}

/// Rejects sizes beyond those of any GPU, since a few words of PTX can request any amount of memory.
runtime::Status Program::checkSizes() const {
  struct Size {
    std::string_view what;
    uint64_t bytes, most;
  };
  // The limits are from the CUDA programming guide, "Technical specifications". The launch checks the total shared
  // memory against the limit of the target.
  for (const Size &size :
       {Size{"parameters", parameterBytes, 32764}, Size{"constant memory", constantEnd - parameterBytes, 64 << 10},
        Size{"shared memory", staticShared, 227 << 10}, Size{"local memory per thread", localBytes, 512 << 10},
        Size{"variables in global memory", globalBytes, 1 << 30}})
    if (size.bytes > size.most)
      return makeError(TILE_ERROR_INVALID_ARGUMENT, "line {}: '{}' needs {} bytes of {}; at most {} are allowed",
                       function.loc.ptxLine, function.name, size.bytes, size.what, size.most);
  return runtime::Success{};
}

void Program::placeGlobals(GlobalMemory &memory, const ModuleVariables *variables) {
  for (uint32_t index = 0; index < module.variables.size(); ++index) {
    const Variable &variable = module.variables[index];
    if (variable.space == Space::Shared)
      variableAddresses[index] = sharedBase + (variable.isExtern ? staticShared : variableAddresses[index]);
    if (variable.space != Space::Global || variable.isExtern)
      continue;
    if (variables) {
      variableAddresses[index] = variables->addresses[index];
      continue;
    }
    globals.emplace_back(variable.size);
    variableAddresses[index] = memory.add(variable.name, globals.back().data(), variable.size, variable.alignment);
  }
  constants.resize(constantEnd);
  for (uint32_t index = 0, global = 0; index < module.variables.size(); ++index) {
    const Variable &variable = module.variables[index];
    // A constant that contains addresses is initialized for each kernel, because these are addresses of the kernel's
    // variables.
    if (variable.space == Space::Const && variables && variable.relocations.empty())
      std::copy_n(variables->bytes[index], variable.size, constants.data() + variableAddresses[index]);
    else if (variable.space == Space::Const)
      initialize(variable, variableAddresses, constants.data() + variableAddresses[index]);
    else if (variable.space == Space::Global && !variable.isExtern && !variables)
      initialize(variable, variableAddresses, globals[global++].data());
  }
}

void initialize(const Variable &variable, std::span<const uint64_t> addresses, std::byte *bytes) {
  const size_t initialized = std::min<uint64_t>(variable.initial.size(), variable.size);
  std::copy_n(reinterpret_cast<const std::byte *>(variable.initial.data()), initialized, bytes);
  for (auto [offset, target] : variable.relocations) {
    uint64_t address = 0; // holds the addend first
    if (!isWithin(offset, sizeof(address), variable.size))
      continue;
    std::memcpy(&address, bytes + offset, sizeof(address));
    address += addresses[target];
    std::memcpy(bytes + offset, &address, sizeof(address));
  }
}

void Program::placeRegisters() {
  // A predicate is a mask. Any other register is 32 values that share no cache line with other registers.
  for (const Register &reg : function.registers) {
    registerOffsets.push_back(registerBytes);
    registerBytes += reg.type == Type::Pred ? 64 : alignUp(warpSize * bitWidth(reg.type) / 8, 64);
  }
  specialOffsets.assign(numSpecialRegisters, noRegister);
  auto place = [&](SpecialRegister special) {
    if (specialOffsets[unsigned(special)] != noRegister)
      return;
    specialOffsets[unsigned(special)] = registerBytes;
    registerBytes += warpSize * sizeof(uint32_t);
  };
  auto visit = [&](auto &self, const Operand &operand) -> void {
    if (operand.kind == Operand::Kind::Special && !isClock(operand.special))
      place(operand.special);
    for (const Operand &element : operand.elements)
      self(self, element);
  };
  for (const Instruction &instruction : function.instructions) {
    for (const Operand &operand : instruction.operands)
      visit(visit, operand);
    if (usesStack(instruction))
      place(SpecialRegister::StackPointer);
  }
}

bool isClock(SpecialRegister special) {
  return special >= SpecialRegister::Clock && special <= SpecialRegister::GlobalTimerHi;
}

void Program::collectRegisters(const Operand &operand, std::vector<uint32_t> &offsets) const {
  if (operand.kind == Operand::Kind::Register)
    offsets.push_back(registerOffsets[operand.index]);
  for (const Operand &element : operand.elements)
    collectRegisters(element, offsets);
}

runtime::Status Program::decode(const Instruction &instruction) {
  Decoding decoding(*this, instruction);
  auto found = decoders().find(instruction.name);
  if (found == decoders().end())
    return decoding.unsupported();
  Result<OperationPtr> decoded = found->second(decoding);
  if (!decoded)
    return decoded.error();
  if (decoding.failed)
    return decoding.error(decoding.failure);
  OperationPtr operation = std::move(*decoded);
  operation->instruction = &instruction;
  operation->written = std::move(decoding.written);
  if (instruction.guard >= 0) {
    operation->guard = registerOffset(instruction.guard);
    operation->guardNegated = instruction.guardNegated;
  }
  for (const Operand &operand : instruction.operands)
    collectRegisters(operand, operation->touched);
  communicates |= communicatesThrough(instruction);
  makesMaps |= instruction.name == "tensormap";
  usesTensorFences |= instruction.name == "tcgen05" && instruction.suffixes.front().starts_with("fence::");
  operations.push_back(std::move(operation));
  return runtime::Success{};
}

Result<std::unique_ptr<Program>> Program::load(const Module &module, std::string_view entry, GlobalMemory &memory,
                                               const ModuleVariables *variables) {
  const Function *function = module.findEntry(entry);
  if (!function)
    return makeError(TILE_ERROR_INVALID_ARGUMENT, "the PTX has no kernel '{}'", entry);
  std::unique_ptr<Program> program(new Program(module, *function));
  program->placeParameters();
  program->placeVariables();
  if (runtime::Status sizes = program->checkSizes(); !sizes)
    return sizes.error();
  program->placeGlobals(memory, variables);
  program->placeRegisters();
  program->reconvergence = reconvergencePoints(*function);
  for (const Instruction &instruction : function->instructions)
    if (runtime::Status decoded = program->decode(instruction); !decoded)
      return decoded.error();
  // A function that reaches its end returns, so an operation for `ret` is appended.
  program->operations.push_back(makeExit());
  program->operations.back()->instruction = &program->endOfFunction;
  program->endOfFunction.name = "ret";
  program->endOfFunction.loc = function->instructions.empty() ? function->loc : function->instructions.back().loc;
  return program;
}

} // namespace tile::sim
