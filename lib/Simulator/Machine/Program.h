// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A kernel ready to run: its instructions decoded to operations, its registers and variables laid out.
#pragma once

#include "Runtime/Result.h"
#include "Simulator/Exec/Operation.h"
#include "Simulator/Machine/Memory.h"
#include "Simulator/Ptx/Module.h"

#include <memory>

namespace tile::sim {

/// The offset of values that are not in the register file.
constexpr uint32_t noRegister = ~0u;

/// The global and constant variables of a module, if they outlive a launch: their bytes by index of the variable, null
/// for all others; and the addresses of those in global memory.
struct ModuleVariables {
  std::vector<std::byte *> bytes;
  std::vector<uint64_t> addresses;
};
/// Writes the initial value of a variable; `addresses` are those of all variables.
void initialize(const Variable &variable, std::span<const uint64_t> addresses, std::byte *bytes);

/// Special registers that change while a warp runs; only mov reads them.
bool isClock(SpecialRegister special);

class Program {
public:
  /// Decodes `entry` of `module`, which must outlive the program. Errors name the PTX line: unsupported instructions
  /// are found here, before anything runs. Global variables of the module are added to `memory`, unless `variables` has
  /// them.
  static runtime::Result<std::unique_ptr<Program>>
  load(const Module &module, std::string_view entry, GlobalMemory &memory, const ModuleVariables *variables = nullptr);

  const Module &module;
  const Function &function;
  std::vector<std::unique_ptr<Operation>> operations; ///< one per instruction
  std::vector<uint32_t> reconvergence;                ///< see ControlFlow.h

  /// Bytes of the register file of a warp. Offsets are multiples of 64.
  uint64_t registerBytes = 0;
  uint32_t registerOffset(uint32_t index) const { return registerOffsets[index]; }
  /// Special registers that are constant for a warp live in the register file, too (32 values of 32 or 64 bits).
  /// noRegister: not used, or not constant (clocks).
  uint32_t specialOffset(SpecialRegister special) const { return specialOffsets[unsigned(special)]; }

  uint64_t parameterBytes = 0;
  uint64_t staticShared = 0; ///< bytes; dynamic shared memory follows, aligned to `sharedAlignment`
  uint32_t sharedAlignment = 16;
  uint64_t localBytes = 0; ///< per thread
  /// Returns the address in its own space (shared: from sharedBase; local and param: offset; global: address) of a
  /// Symbol operand without its offset.
  uint64_t variableAddress(uint32_t variable) const { return variableAddresses[variable]; }
  /// Constants and parameters as the kernel sees them at offset 0 … of the param window.
  std::vector<std::byte> constants;
  /// Whether thread blocks can communicate while they run: atomics, acquire, volatile, grid barriers. Then all run
  /// interleaved in one host thread; otherwise clusters run on as many threads as there are.
  bool communicates = false;

  /// The .cta_group of the kernel's tcgen05 instructions, which must be the same for all; 0: there are none.
  unsigned tensorCtaGroup = 0;
  /// Whether the kernel has a tcgen05.fence. PTX ISA 9.7.16.6.4 requires them; compilers that emit none (Triton 3.6,
  /// CUTLASS) rely on barriers to order tensor memory, and then the checker does so, too.
  bool usesTensorFences = false;

  /// Whether the kernel creates tensor maps (tensormap.replace): its stores may write them.
  bool makesMaps = false;

  /// A parameter of the kernel; those of calls are local variables.
  bool isEntryParameter(uint32_t variable) const { return entryParameter[variable]; }

private:
  Program(const Module &module, const Function &function) : module(module), function(function) {}
  std::vector<uint32_t> registerOffsets;
  std::vector<uint32_t> specialOffsets;
  std::vector<uint64_t> variableAddresses;
  std::vector<std::vector<std::byte>> globals;
  std::vector<bool> entryParameter;
  uint64_t constantEnd = 0; ///< in the param window, after the parameters
  uint64_t globalBytes = 0; ///< of all variables in global memory
  Instruction endOfFunction;

  runtime::Status checkSizes() const;
  void placeParameters();
  void placeVariables();
  void placeGlobals(GlobalMemory &memory, const ModuleVariables *variables);
  void placeRegisters();
  void collectRegisters(const Operand &operand, std::vector<uint32_t> &offsets) const;
  runtime::Status decode(const Instruction &instruction);
};

} // namespace tile::sim
