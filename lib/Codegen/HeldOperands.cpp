// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Finds held operands in PTX and in machine code; see HeldOperands.h.
#include "Codegen/HeldOperands.h"
#include "Codegen/MachineCode.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FormatVariadic.h"

#include <bitset>
#include <optional>

using llvm::SmallVector;
using llvm::StringRef;

namespace tile::codegen {
namespace {

/// The lines from a label to a branch back to it.
struct TextLoop {
  size_t first, last;
};

class HeldOperandFinder {
public:
  explicit HeldOperandFinder(StringRef ptx) {
    for (StringRef line : llvm::split(ptx, '\n'))
      lines.push_back(line);
    findLoops();
  }

  std::string guard() {
    llvm::DenseMap<size_t, SmallVector<StringRef>> guards; // keyed by the line before which they are inserted
    for (size_t line = 0; line < lines.size(); ++line) {
      SmallVector<StringRef> operand = findLeftOperand(lines[line]);
      std::optional<TextLoop> loop = operand.empty() ? std::nullopt : findInnermost(line);
      if (!loop || !isHeld(operand, *loop))
        continue;
      SmallVector<StringRef> &here = guards[findStatement(line)];
      for (StringRef value : operand)
        if (guarded.insert((value + "$" + llvm::Twine(loop->first)).str()).second)
          here.push_back(value);
    }
    return guards.empty() ? "" : emit(guards);
  }

private:
  void findLoops() {
    llvm::StringMap<size_t> labels;
    for (auto [place, line] : llvm::enumerate(lines)) {
      StringRef text = line.trim();
      size_t target = text.find("$L");
      if (target == 0 && text.consume_back(":")) {
        labels.try_emplace(text, place);
      } else if (target != StringRef::npos && text.contains("bra")) {
        auto label = labels.find(text.drop_front(target).rtrim("; "));
        if (label != labels.end())
          loops.push_back({label->second, place});
      }
    }
  }

  std::optional<TextLoop> findInnermost(size_t line) const {
    std::optional<TextLoop> innermost;
    for (TextLoop loop : loops)
      if (loop.first < line && line < loop.last &&
          (!innermost || loop.last - loop.first < innermost->last - innermost->first))
        innermost = loop;
    return innermost;
  }

  static SmallVector<StringRef> splitList(StringRef list) {
    SmallVector<StringRef> names;
    for (StringRef name : llvm::split(list, ','))
      names.push_back(name.trim());
    return names;
  }

  /// Returns the registers of the left operand in "wgmma.mma_async… {accumulator}, {left operand}, descriptor, …";
  /// empty if the left operand is a descriptor.
  static SmallVector<StringRef> findLeftOperand(StringRef line) {
    auto [head, remaining] = line.split('}');
    remaining = remaining.ltrim(", \t");
    if (!head.trim().starts_with("wgmma.mma_async") || !remaining.consume_front("{"))
      return {};
    return splitList(remaining.take_until([](char c) { return c == '}'; }));
  }

  /// Returns the registers of an instruction's first operand, which is its result if it has one.
  static SmallVector<StringRef> findResults(StringRef line) {
    line = line.trim();
    if (line.consume_front("@"))
      line = line.drop_until(llvm::isSpace).ltrim();
    StringRef operands = line.drop_until(llvm::isSpace).ltrim();
    if (operands.consume_front("{"))
      return splitList(operands.take_until([](char c) { return c == '}'; }));
    return {operands.take_until([](char c) { return c == ',' || c == ';'; }).trim()};
  }

  bool isHeld(llvm::ArrayRef<StringRef> operand, TextLoop loop) {
    llvm::StringSet<> &written = writtenIn[loop.first];
    if (written.empty())
      for (size_t line = loop.first; line <= loop.last; ++line)
        for (StringRef result : findResults(lines[line]))
          written.insert(result);
    return llvm::none_of(operand, [&](StringRef value) { return written.contains(value); });
  }

  /// Returns the first line of the inline assembly block around a wgmma, which is a scope in braces.
  size_t findStatement(size_t line) const {
    while (line > 0 && lines[line].trim() != "{")
      --line;
    return line;
  }

  std::string emit(const llvm::DenseMap<size_t, SmallVector<StringRef>> &guards) const {
    std::string text;
    bool isDeclared = false;
    unsigned count = 0;
    for (auto [place, line] : llvm::enumerate(lines)) {
      auto found = guards.find(place);
      if (found != guards.end() && !found->second.empty()) {
        text += llvm::formatv("\t@!%held_never bra $Lheld{0};\n", count).str();
        for (StringRef value : found->second)
          text += llvm::formatv("\tadd.u32 {0}, {0}, %held_zero;\n", value).str();
        text += llvm::formatv("$Lheld{0}:\n", count++).str();
      }
      text += (line + "\n").str();
      // The first brace in the first column opens the body of the kernel.
      if (!isDeclared && line == "{") {
        isDeclared = true;
        text += "\t.reg .pred %held_never;\n\t.reg .b32 %held_zero;\n\tmov.u32 %held_zero, %nctaid.z;\n"
                "\tsetp.eq.u32 %held_never, %held_zero, 0;\n";
      }
    }
    return text;
  }

  SmallVector<StringRef> lines;
  SmallVector<TextLoop> loops;
  llvm::DenseMap<size_t, llvm::StringSet<>> writtenIn; ///< Registers that a loop writes, keyed by the loop's first
                                                       ///< line.
  llvm::StringSet<> guarded;                           ///< Values that are already guarded, for each loop.
};

constexpr unsigned operandRegisters = 4;

/// Returns true for a wgmma whose left operand is in registers.
bool isRegisterWgmma(const Instruction &instruction) {
  // HGMMA with a left operand in registers; with two descriptors, the opcode is 0x9f0.
  return instruction.opcode() == 0xdf0;
}

bool isExit(const Instruction &instruction) {
  return instruction.opcode() == 0x94d;
}

/// Returns true for arithmetic, moves and loads that write a register.
bool writesRegister(const Instruction &instruction) {
  constexpr unsigned operations[] = {
      0x002, 0x007, 0x009, 0x010, 0x011, 0x012, 0x016, 0x019, 0x020, 0x021, 0x023, 0x024,
      0x025, 0x030, 0x031, 0x032, 0x036, 0x03b, 0x03e, 0x108, 0x181, 0x184, 0x189}; // MOV … F2FP, MUFU, LDG, LDS, SHFL
  return llvm::is_contained(operations, instruction.operation());
}

/// Returns true if the loop writes a register of a wgmma operand, but only after the wgmma that reads the operand.
bool overwritesOperand(llvm::ArrayRef<Instruction> loop) {
  std::bitset<256> written, read; // written so far; read by a wgmma before any write
  for (const Instruction &instruction : loop) {
    if (isRegisterWgmma(instruction)) {
      for (unsigned i = 0; i < operandRegisters; ++i)
        if (unsigned source = (instruction.firstSource() + i) & 0xff; !written[source])
          read.set(source);
    } else if (writesRegister(instruction)) {
      if (read[instruction.destination()])
        return true;
      written.set(instruction.destination());
    }
  }
  return false;
}

} // namespace

std::string guardHeldOperands(StringRef ptx) {
  return ptx.contains("wgmma.mma_async") ? HeldOperandFinder(ptx).guard() : "";
}

bool keepsHeldOperands(StringRef cubin) {
  bool keeps = true;
  forEachCode(cubin, [&](llvm::ArrayRef<Instruction> code) {
    auto bodyOf = [&](CodeLoop loop) { return code.slice(loop.first, loop.last - loop.first + 1); };
    std::vector<CodeLoop> loops = findLoops(code);
    // Ignore loops that contain EXIT: the code after EXIT is out of line and not part of the loop.
    llvm::erase_if(loops, [&](CodeLoop loop) {
      llvm::ArrayRef<Instruction> body = bodyOf(loop);
      return llvm::any_of(body, isExit) || llvm::none_of(body, isRegisterWgmma);
    });
    auto isInnermost = [&](CodeLoop loop) {
      return llvm::none_of(loops, [&](CodeLoop other) {
        return loop.first <= other.first && other.last <= loop.last &&
               other.last - other.first < loop.last - loop.first;
      });
    };
    keeps &= llvm::none_of(loops, [&](CodeLoop loop) { return isInnermost(loop) && overwritesOperand(bodyOf(loop)); });
  });
  return keeps;
}

} // namespace tile::codegen
