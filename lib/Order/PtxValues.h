// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Values of registers as hashes of the expressions that compute them.
#pragma once

#include "Simulator/Ptx/Module.h"

#include <optional>
#include <unordered_map>
#include <utility>

namespace tile::order {

/// An expression. Integers that do not depend on loaded data are one value, `integer`: the tile program determines
/// them, whatever instructions compute them.
struct Value {
  uint64_t label = 0;
  bool isData = false;           ///< depends on loaded data or on arithmetic with floats
  bool isMultiplication = false; ///< a multiplication without a rounding mode, which the assembler may contract
  /// Blocks of memory that the expression reads, and the lowest offset in each, sorted.
  std::vector<std::pair<uint32_t, int64_t>> lowest = {};
};

/// Returns the expression that combines these operands in their order; offsets in a block count relative to each other.
Value combine(uint64_t operation, const std::vector<const Value *> &operands);

/// The address of memory: an offset in a block, which is a register or a variable. The block's index identifies it
/// within a function only.
struct Location {
  uint32_t block = 0;
  int64_t offset = 0;
  uint64_t constant = 0; ///< bits that were set by a bitwise or, as in a matrix descriptor
};

/// Resolves registers to locations, through additions of constants.
class Locations {
public:
  explicit Locations(const sim::Function &function);
  /// Returns the location of a register, symbol, immediate or address.
  Location find(const sim::Operand &operand) const;
  /// Returns true if exactly one instruction without a guard defines the register.
  bool isDefinedOnce(uint32_t reg) const { return definitions[reg] >= 0; }

private:
  const sim::Function &function;
  std::vector<int64_t> definitions; ///< the only definition of each register; -1: none, -2: several
};

/// Returns the registers that an instruction defines: each with the position in its vector.
std::vector<uint32_t> definedRegisters(const sim::Instruction &instruction);

/// Returns the first instructions of the basic blocks.
std::vector<bool> blockStarts(const sim::Function &function);

} // namespace tile::order
