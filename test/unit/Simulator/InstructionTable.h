// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Instructions to compare with hardware: one kernel for each variant, and inputs for it.
//
//   d[i] = instruction(a[i], b[i], c[i])     every element in a slot of 8 bytes
//
// The PTX that was run once on a GPU (RecordInstructions.cpp) and the PTX that the tests run in the simulator come from
// this table, so that their results can be compared bit by bit.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tile::sim {

/// The allowed difference between simulator and hardware; 0, 0: none.
struct Bound {
  double relative = 0;
  double absolute = 0;
  bool isExact() const { return relative == 0 && absolute == 0; }
};

struct InstructionCase {
  std::string name;                  ///< name of the kernel
  std::string body;                  ///< reads %a, %b, %c, writes %d; %p0…3, %t0…3 (b32), %h0…3 (b16) are free
  std::string result;                ///< "b16", "b32", "b64", or the floating-point type that a bound is for
  std::vector<std::string> operands; ///< the contents of %a, %b, %c: see inputs()
  unsigned count = 0;                ///< threads, a multiple of 128
  Bound bound;
};

constexpr unsigned blockThreads = 128;
constexpr unsigned slotBytes = 8;

/// Bits of a register for a kind of value: "f16" → 16.
unsigned kindBits(const std::string &kind);

std::vector<InstructionCase> instructionCases();
/// Returns the module with one kernel per case, with parameters d, a, b, c.
std::string instructionModule(const std::vector<InstructionCase> &cases);
/// Returns the values of operand `index` for all threads: all combinations of edge values, then random ones; for a
/// single operand of 16 bits, all values.
std::vector<uint64_t> inputs(const InstructionCase &instruction, unsigned index);

/// Returns the recorded form of a case's results: hashes of 8 parts of them or, with a bound, the results.
std::vector<uint64_t> summary(const InstructionCase &instruction, const std::vector<uint64_t> &results);

} // namespace tile::sim
