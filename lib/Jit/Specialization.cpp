// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Implements the table with open addressing. It has more slots than entries, so every probe ends.
#include "Jit/Specialization.h"

#include <bit>
#include <cstring>

namespace tile::jit {
namespace {

/// Alignment of wide accesses, in bytes and in elements.
constexpr uint64_t wideDivisor = 16;

/// Returns the bits of the argument, zero-extended.
uint64_t readBits(const Parameter &parameter, const void *argument) {
  uint64_t value = 0;
  switch (parameter.bytes) { // constant sizes compile to inline copies
  case 8:
    std::memcpy(&value, argument, 8);
    break;
  case 4:
    std::memcpy(&value, argument, 4);
    break;
  case 2:
    std::memcpy(&value, argument, 2);
    break;
  default:
    std::memcpy(&value, argument, 1);
  }
  return value;
}

constexpr uint64_t mix(uint64_t hash, uint64_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15; // 2^64 divided by the golden ratio (Knuth, volume 3, 6.4)
  return hash ^ hash >> 32;
}

} // namespace

uint64_t CallClass::hash() const {
  return mix(mix(mix(1, aligned[0]), aligned[1]), sizes);
}

std::vector<Parameter> parametersOf(const tile_kernel *kernel) {
  std::vector<Parameter> parameters;
  tile_parameter one;
  for (uint32_t i = 0; tile_kernel_parameter(kernel, i, &one) == TILE_OK; ++i) {
    const bool counts = one.kind == TILE_POINTER || (one.kind == TILE_INTEGER && std::strcmp(one.type, "i1") != 0);
    parameters.push_back({one.name, one.kind == TILE_POINTER, counts ? one.size : 0});
  }
  return parameters;
}

CallClass promisesOf(const tile_kernel *kernel) {
  CallClass promised;
  tile_parameter one;
  for (uint32_t i = 0; tile_kernel_parameter(kernel, i, &one) == TILE_OK; ++i)
    promised.aligned[i / 64] |= uint64_t(one.alignment >= wideDivisor || one.divisibility >= wideDivisor) << i % 64;
  return promised;
}

CallClass classify(const std::vector<Parameter> &parameters, bool countsSizes, void *const *arguments) {
  CallClass found;
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i].bytes == 0)
      continue;
    const uint64_t bits = readBits(parameters[i], arguments[i]);
    found.aligned[i / 64] |= uint64_t(bits % wideDivisor == 0) << i % 64;
    if (countsSizes && !parameters[i].isPointer)
      found.sizes = mix(found.sizes + i, uint64_t(std::bit_width(bits))) | 1; // nonzero; 0 means that sizes are ignored
  }
  return found;
}

std::vector<std::string> optionsFor(const std::vector<Parameter> &parameters, const CallClass &wanted,
                                    void *const *arguments) {
  std::vector<std::string> options{"--variants=none"};
  for (size_t i = 0; i < parameters.size(); ++i) {
    const Parameter &parameter = parameters[i];
    const bool isAligned = wanted.aligned[i / 64] >> i % 64 & 1;
    if (isAligned || parameter.isPointer) // tilec assumes pointers to be aligned by default
      options.push_back("--assume=" + parameter.name + "=" + std::to_string(isAligned ? wideDivisor : 1));
    if (wanted.sizes == 0 || parameter.isPointer || parameter.bytes == 0)
      continue;
    const uint64_t bits = readBits(parameter, arguments[i]);
    if (bits >> (8 * parameter.bytes - 1) == 0) // neither negative nor too large for a size
      options.push_back("--size=" + parameter.name + "=" + std::to_string(bits));
  }
  return options;
}

Specialization *SpecializationTable::find(const CallClass &wanted) const {
  for (uint64_t slot = wanted.hash();; ++slot) {
    Specialization *entry = table[slot % slots].load(std::memory_order_acquire);
    if (!entry || entry->of == wanted)
      return entry;
  }
}

Specialization *SpecializationTable::add(const CallClass &wanted, size_t limit, bool &isNew) {
  isNew = false;
  std::lock_guard lock(adding);
  if (Specialization *found = find(wanted))
    return found;
  const size_t index = count.load(std::memory_order_relaxed);
  if (index >= limit)
    return nullptr;
  entries[index] = std::make_unique<Specialization>();
  entries[index]->of = wanted;
  count.store(index + 1, std::memory_order_release);
  uint64_t slot = wanted.hash();
  while (table[slot % slots].load(std::memory_order_relaxed))
    ++slot;
  table[slot % slots].store(entries[index].get(), std::memory_order_release);
  isNew = true;
  return entries[index].get();
}

} // namespace tile::jit
