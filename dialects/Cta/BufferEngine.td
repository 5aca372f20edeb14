// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The interface of engines that read operands from shared memory.
#ifndef CTA_BUFFER_ENGINE_TD
#define CTA_BUFFER_ENGINE_TD

include "mlir/IR/OpBase.td"

def Cta_BufferEngine : AttrInterface<"BufferEngine"> {
  let cppNamespace = "::tile::cta";
  let description = [{
    An engine whose instructions read operands from shared memory through matrix descriptors: wgmma and tcgen05. They
    read b from shared memory, and also a unless a is in registers. The passes that bring operands to shared memory, by
    TMA or by threads, query engines only through this interface.
  }];
  let methods = [
    InterfaceMethod<"Returns where a comes from.", "::tile::target::OperandSource", "getSourceA">,
    InterfaceMethod<"Returns where b comes from.", "::tile::target::OperandSource", "getSourceB">,
    InterfaceMethod<"Returns true if the dot must be replaced by the dot of the transposed operands in swapped order.",
                    "bool", "getSwapped">,
    InterfaceMethod<"Returns the engine of the swapped dot, after the operands have been swapped.", "::mlir::Attribute",
                    "withoutSwap">,
    InterfaceMethod<"Returns true if b is the left operand of the instruction, so that the result is transposed.",
                    "bool", "getResultTransposed", (ins), "", "return false;">,
    InterfaceMethod<"Returns the number of column ranges that different warp groups compute.", "unsigned",
                    "getGroupsN">
  ];
  let extraSharedClassDeclaration = [{
    bool isFromRegisters() const { return $_attr.getSourceA() == ::tile::target::OperandSource::Registers; }
    /// Returns true if TMA loads b, and also a unless a is in registers; only then do tensor maps pay off.
    bool readsBlocks() const {
      using ::tile::target::OperandSource;
      return $_attr.getSourceB() != OperandSource::Threads && $_attr.getSourceA() != OperandSource::Threads;
    }
  }];
}

#endif
