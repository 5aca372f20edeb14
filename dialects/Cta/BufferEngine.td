// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The interface of engines that read operands from shared memory.
#ifndef CTA_BUFFER_ENGINE_TD
#define CTA_BUFFER_ENGINE_TD

include "mlir/IR/OpBase.td"

def Cta_BufferEngine : AttrInterface<"BufferEngine"> {
  let cppNamespace = "::tile::cta";
  let description = [{
    An engine whose instructions read b, and a unless it is in registers, from shared memory, as matrix descriptors
    describe it: wgmma and tcgen05. Passes that bring operands there, by TMA or by threads, ask nothing else about it.
  }];
  let methods = [
    InterfaceMethod<"Where a comes from.", "::tile::target::OperandSource", "getSourceA">,
    InterfaceMethod<"Where b comes from.", "::tile::target::OperandSource", "getSourceB">,
    InterfaceMethod<"Returns true if the dot is to be replaced by that of the transposed operands in swapped order.",
                    "bool", "getSwapped">,
    InterfaceMethod<"Returns the engine of the swapped dot once the operands have been swapped.", "::mlir::Attribute",
                    "withoutSwap">,
    InterfaceMethod<"Returns true if b is the left operand of the instruction, and the result is transposed.", "bool",
                    "getResultTransposed", (ins), "", "return false;">,
    InterfaceMethod<"Returns the number of parts of the columns that different warp groups multiply.", "unsigned",
                    "getGroupsN">
  ];
  let extraSharedClassDeclaration = [{
    bool isFromRegisters() const { return $_attr.getSourceA() == ::tile::target::OperandSource::Registers; }
    /// Returns true if TMA loads b, and also a unless a is in registers; tensor maps pay off only then.
    bool readsBlocks() const {
      using ::tile::target::OperandSource;
      return $_attr.getSourceB() != OperandSource::Threads && $_attr.getSourceA() != OperandSource::Threads;
    }
  }];
}

#endif
