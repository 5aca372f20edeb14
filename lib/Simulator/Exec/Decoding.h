// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Decodes one instruction. Suffixes are taken one by one, and operands become sources, destinations and addresses. A
// suffix or operand that is left over is an error.
//
//   Result<OperationPtr> decodeFma(Decoding &d) {
//     d.take("rn"); bool ftz = d.take("ftz"), sat = d.take("sat");
//     std::optional<Type> type = d.takeType();
//     if (!type || !d.finished(4)) return d.unsupported();
//     switch (*type) { case Type::F32: return make<Fma<float>>(d.dest<float>(0), d.source<float>(1), …); …
//     default: return d.unsupported(); }
//   }
#pragma once

#include "Simulator/Exec/Operands.h"
#include "Simulator/Machine/Program.h"

#include <algorithm>

namespace tile::sim {

using OperationPtr = std::unique_ptr<Operation>;
using runtime::Error;
using runtime::Result;

class Decoding {
public:
  Decoding(Program &program, const Instruction &instruction) : program(program), instruction(instruction) {}

  Program &program;
  const Instruction &instruction;

  // Suffixes, in the order of the instruction.
  bool take(std::string_view suffix);
  std::optional<Type> takeType();
  /// Takes the next suffix if it is one of `names`. Returns its index in `names`, or -1.
  int takeOne(std::initializer_list<std::string_view> names);
  std::string_view peek() const; ///< Returns the next suffix; "" after the last one.
  void skip() { ++nextSuffix; }
  /// Returns true if all suffixes have been taken and the number of operands is correct.
  bool finished(size_t operandCount) const {
    return nextSuffix == instruction.suffixes.size() && instruction.operands.size() == operandCount;
  }
  bool suffixesFinished() const { return nextSuffix == instruction.suffixes.size(); }
  /// Returns the error `line 12: unsupported instruction 'foo.bar'`.
  Error unsupported() const;
  /// Returns the error `line 12: foo.bar: message`.
  Error error(std::string message) const;

  // Operands. An operand of the wrong kind sets `failed`, and the program then fails to load with the error `failure`.
  const Operand &operand(size_t index) { return instruction.operands[index]; }
  template <typename T> Source<T> source(size_t index) { return source<T>(operand(index)); }
  template <typename T> Dest<T> dest(size_t index) { return dest<T>(operand(index)); }
  template <typename T> Source<T> source(const Operand &operand);
  /// Returns the destination for values of type T. A register wider than T gets the value sign-extended if T is signed,
  /// and zero-extended otherwise (PTX ISA 9.4.1).
  template <typename T> Dest<T> dest(const Operand &operand);
  PredicateSource predicateSource(const Operand &operand);
  PredicateDest predicateDest(const Operand &operand); ///< for a Sink, a destination that ignores writes
  AddressSource address(const Operand &operand);       ///< [base+offset], or a register that holds an address

  bool failed = false;
  std::string failure;
  std::vector<uint32_t> written; ///< offsets of the registers that are destinations

private:
  /// An operand that can be read: a register (offset, bytes), or a constant of `bits` bits.
  struct Readable {
    bool isConstant = true;
    bool isSharedAddress = false;
    uint8_t registerBytes = 0;
    uint32_t offset = 0;
    uint64_t constant = 0;
  };
  Readable readable(const Operand &operand, unsigned bits, bool isFloat);
  /// Returns a register of at least `bits` bits, or a Sink (isConstant).
  Readable writable(const Operand &operand, unsigned bits);
  size_t nextSuffix = 0;
};

template <typename T, typename... Arguments> OperationPtr make(Arguments &&...arguments) {
  return std::make_unique<T>(std::forward<Arguments>(arguments)...);
}

/// The name of an instruction and its decoder. Each family of operations exports a table of these.
struct DecoderEntry {
  std::string_view name;
  Result<OperationPtr> (*decode)(Decoding &);
};

std::span<const DecoderEntry> controlDecoders();    // bra call ret exit trap …
std::span<const DecoderEntry> moveDecoders();       // mov cvta isspacep
std::span<const DecoderEntry> stackDecoders();      // alloca stacksave stackrestore
std::span<const DecoderEntry> memoryDecoders();     // ld ldu st
std::span<const DecoderEntry> atomicDecoders();     // atom red
std::span<const DecoderEntry> arithmeticDecoders(); // add sub mul mad fma div rem min max abs neg …: all types
std::span<const DecoderEntry> compareDecoders();    // setp set selp slct
std::span<const DecoderEntry> conversionDecoders(); // cvt
std::span<const DecoderEntry> warpDecoders();       // shfl vote match redux elect activemask
std::span<const DecoderEntry> barrierDecoders();    // bar barrier mbarrier
std::span<const DecoderEntry> fenceDecoders();      // fence membar
std::span<const DecoderEntry> copyDecoders();       // cp tensormap clusterlaunchcontrol griddepcontrol mapa …
std::span<const DecoderEntry> matrixDecoders();     // mma wgmma ldmatrix stmatrix movmatrix
std::span<const DecoderEntry> tensorDecoders();     // tcgen05

/// Decodes st.async, red.async, from the suffix after `.async` on.
Result<OperationPtr> decodeAsyncStore(Decoding &decoding);
/// Returns the elements of {a, b, …}, or the operand itself.
inline std::span<const Operand> elementsOf(const Operand &operand) {
  return operand.kind == Operand::Kind::Vector ? std::span<const Operand>(operand.elements)
                                               : std::span<const Operand>(&operand, 1);
}
/// Makes the operation of a `ret` for all lanes, for the end of a function.
OperationPtr makeExit();

template <typename T> Source<T> Decoding::source(const Operand &operand) {
  Readable from = readable(operand, 8 * sizeof(T), std::is_floating_point_v<T>);
  Source<T> source;
  source.isConstant = from.isConstant;
  source.isSharedAddress = from.isSharedAddress;
  source.registerBytes = from.registerBytes;
  source.offset = from.offset;
  // The remaining bits stay zero.
  std::memcpy(&source.constant, &from.constant, std::min(sizeof(T), sizeof(from.constant)));
  return source;
}

template <typename T> Dest<T> Decoding::dest(const Operand &operand) {
  Readable to = writable(operand, 8 * sizeof(T));
  Dest<T> dest;
  dest.isSink = to.isConstant;
  dest.registerBytes = to.registerBytes;
  dest.offset = to.offset;
  return dest;
}

} // namespace tile::sim
