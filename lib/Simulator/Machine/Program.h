// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A kernel that is ready to run: its instructions are decoded to operations, and its registers and variables laid out.
#pragma once

#include "Runtime/Result.h"
#include "Simulator/Exec/Operation.h"
#include "Simulator/Machine/Memory.h"
#include "Simulator/Ptx/Module.h"

#include <memory>

namespace tile::sim {

/// The register offset of values that are not in the register file.
constexpr uint32_t noRegister = ~0u;

/// The global and constant variables of a module that outlive a launch. `bytes` has an entry for each variable, null if
/// the variable is neither global nor constant; `addresses` contains the addresses of those in global memory.
struct ModuleVariables {
  std::vector<std::byte *> bytes;
  std::vector<uint64_t> addresses;
};
/// Writes the initial value of a variable to `bytes`; `addresses` contains the addresses of all variables.
void initialize(const Variable &variable, std::span<const uint64_t> addresses, std::byte *bytes);

/// The size of the stack of a thread of a program that allocates on it (alloca), in bytes.
constexpr uint64_t programStackBytes = 16 << 10;

/// Returns true for special registers that change while a warp runs; only mov reads them.
bool isClock(SpecialRegister special);

class Program {
public:
  /// Decodes `entry` of `module`, which must outlive the program. Unsupported instructions are found here, before
  /// anything runs, and errors name the PTX line. The module's global variables are added to `memory`, unless
  /// `variables` contains them.
  static runtime::Result<std::unique_ptr<Program>>
  load(const Module &module, std::string_view entry, GlobalMemory &memory, const ModuleVariables *variables = nullptr);

  const Module &module;
  const Function &function;
  std::vector<std::unique_ptr<Operation>> operations; ///< one per instruction
  std::vector<uint32_t> reconvergence;                ///< see ControlFlow.h

  /// The size of a warp's register file in bytes. Register offsets are multiples of 64.
  uint64_t registerBytes = 0;
  uint32_t registerOffset(uint32_t index) const { return registerOffsets[index]; }
  /// Returns the offset of a special register. Those that are constant for a warp are in the register file, too (32
  /// values of 32 or 64 bits). Returns noRegister for those that are not used or not constant (clocks).
  uint32_t specialOffset(SpecialRegister special) const { return specialOffsets[unsigned(special)]; }

  uint64_t parameterBytes = 0;
  uint64_t staticShared = 0; ///< in bytes; dynamic shared memory follows, aligned to `sharedAlignment`
  uint32_t sharedAlignment = 16;
  uint64_t localBytes = 0; ///< per thread
  uint64_t stackBegin = 0; ///< the stack extends from here to the end of local memory; empty without alloca
  /// Returns the address of a variable in its state space, for a Symbol operand without its offset. Shared addresses
  /// start at sharedBase, local and param addresses are offsets, and global addresses are absolute.
  uint64_t variableAddress(uint32_t variable) const { return variableAddresses[variable]; }
  /// The bytes of parameters and constants, which the kernel sees from offset 0 of the param window on.
  std::vector<std::byte> constants;
  /// True if thread blocks can communicate while they run: through atomics, acquire or volatile accesses, or grid
  /// barriers. If so, all thread blocks run interleaved in one host thread; otherwise clusters run in parallel on all
  /// host threads.
  bool communicates = false;

  /// The .cta_group of the kernel's tcgen05 instructions, which must be the same for all of them; 0 if there are none.
  unsigned tensorCtaGroup = 0;
  /// True if the kernel has a tcgen05.fence. PTX ISA 9.7.16.6.4 requires these fences, but some compilers emit none
  /// (Triton 3.6, CUTLASS) and rely on barriers to order accesses to tensor memory. For their kernels, the checker
  /// accepts barriers as well.
  bool usesTensorFences = false;

  /// True if the kernel creates tensor maps (tensormap.replace), so its stores may write tensor maps.
  bool makesMaps = false;

  /// Returns true for a parameter of the kernel. Parameters of calls are local variables.
  bool isEntryParameter(uint32_t variable) const { return entryParameter[variable]; }

private:
  Program(const Module &module, const Function &function) : module(module), function(function) {}
  std::vector<uint32_t> registerOffsets;
  std::vector<uint32_t> specialOffsets;
  std::vector<uint64_t> variableAddresses;
  std::vector<std::vector<std::byte>> globals;
  std::vector<bool> entryParameter;
  uint64_t constantEnd = 0; ///< end of the constants, which follow the parameters in the param window
  uint64_t globalBytes = 0; ///< total size of the variables in global memory
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
