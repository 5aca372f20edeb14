// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Accesses one element of a buffer: bounds check, and conversion between memory and frame formats.
#pragma once

#include "Interpreter/Compiler.h"
#include "Interpreter/Shadow.h"

namespace tile::interp {

template <Kind kind>
using HeldType = std::conditional_t<
    kind == Kind::I1 || kind == Kind::I8, uint8_t,
    std::conditional_t<kind == Kind::I16, uint16_t,
                       std::conditional_t<kind == Kind::I32, uint32_t,
                                          std::conditional_t<kind == Kind::I64, uint64_t,
                                                             std::conditional_t<kind == Kind::F64, double, float>>>>>;

template <Kind kind>
using MemoryType =
    std::conditional_t<kind == Kind::F8E4M3 || kind == Kind::F8E5M2, uint8_t,
                       std::conditional_t<kind == Kind::F16 || kind == Kind::BF16, uint16_t, HeldType<kind>>>;

/// Returns the address of the element, or null if it is not entirely inside the buffer and the access is checked.
template <Kind kind>
inline char *addressOf(Machine &machine, const Instruction &instruction, int32_t buffer, int64_t offset) {
  const Buffer &memory = machine.buffers[buffer];
  // A negative offset becomes a huge unsigned one.
  bool inside = memory.bytes >= sizeof(MemoryType<kind>) && uint64_t(offset) <= memory.bytes - sizeof(MemoryType<kind>);
  if (inside)
    return static_cast<char *>(memory.data) + offset;
  if (!machine.options.watched || machine.options.watched == instruction.op)
    return nullptr;
  machine.outside = 0;
  return reinterpret_cast<char *>(&machine.outside);
}

/// Reads an element. In memory any nonzero byte is true; an i1 in the frame is 0 or 1.
template <Kind kind> inline HeldType<kind> readMemory(const char *address) {
  MemoryType<kind> value;
  std::memcpy(&value, address, sizeof(value));
  if constexpr (isSmallFloat(kind))
    return decode(kind, value);
  else if constexpr (kind == Kind::I1)
    return value != 0;
  else
    return value;
}

template <Kind kind> inline void writeMemory(char *address, HeldType<kind> value) {
  MemoryType<kind> bits;
  if constexpr (isSmallFloat(kind))
    bits = MemoryType<kind>(encode(kind, value));
  else
    bits = value;
  std::memcpy(address, &bits, sizeof(bits));
}

/// Writes an element of a buffer. If that changes its contents, counts the change, because a loop may wait for it.
template <Kind kind> inline void changeMemory(Machine &machine, char *address, HeldType<kind> value) {
  char old[sizeof(MemoryType<kind>)];
  std::memcpy(old, address, sizeof(old));
  writeMemory<kind>(address, value);
  machine.changes += std::memcmp(old, address, sizeof(old)) != 0;
}

/// Reads an element at an address in a buffer. Fails if the shadow reports an error.
template <Kind kind>
inline bool readElement(Machine &machine, const Instruction &instruction, int32_t buffer, const char *address,
                        int64_t element, HeldType<kind> &result) {
  if (machine.shadow) [[unlikely]]
    if (!machine.shadow->read(machine, instruction, buffer, address, sizeof(MemoryType<kind>), element))
      return false;
  result = readMemory<kind>(address);
  return true;
}

/// Writes an element at an address in a buffer. Fails if the shadow reports an error.
template <Kind kind>
inline bool writeElement(Machine &machine, const Instruction &instruction, int32_t buffer, char *address,
                         int64_t element, HeldType<kind> value) {
  char old[sizeof(MemoryType<kind>)];
  std::memcpy(old, address, sizeof(old));
  changeMemory<kind>(machine, address, value);
  return !machine.shadow || machine.shadow->write(machine, instruction, buffer, address, old, sizeof(old), element);
}

/// Returns the instance of a kernel template for a kind.
template <template <Kind> class Kernel> Execute memoryKernel(Kind kind) {
  constexpr Execute kernels[] = {
      Kernel<Kind::I1>::execute,     Kernel<Kind::I8>::execute,  Kernel<Kind::I16>::execute,
      Kernel<Kind::I32>::execute,    Kernel<Kind::I64>::execute, Kernel<Kind::F8E4M3>::execute,
      Kernel<Kind::F8E5M2>::execute, Kernel<Kind::F16>::execute, Kernel<Kind::BF16>::execute,
      Kernel<Kind::F32>::execute,    Kernel<Kind::F64>::execute};
  return kernels[size_t(kind)];
}

/// Formats `<access> element 12 of buffer 'a', which has 10 elements of f16 (20 bytes)`.
std::string describeOutOfBounds(const Machine &machine, llvm::StringRef access, int32_t buffer, int64_t offset,
                                mlir::Type type);

} // namespace tile::interp
