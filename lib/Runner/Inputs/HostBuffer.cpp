// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Computes layouts with overflow checks, allocates guarded storage, fills it, and detects corruption.
#include "Runner/Inputs/HostBuffer.h"

#include "Runner/Inputs/Element.h"
#include "Runner/Inputs/Random.h"
#include "Runner/Parallel.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fmt/ranges.h>
#include <sys/mman.h>
#include <unistd.h>

namespace tile::runner {
namespace {

using runtime::dataTypeSize;
using runtime::makeError;

constexpr int64_t bufferGrain = 1 << 16;
constexpr size_t alignment = 256;
constexpr int64_t largestBufferBytes = int64_t(1) << 40; // 1 TiB; a larger size is probably a typing error
constexpr size_t largeGapBytes = size_t(1)
                                 << 28; // 256 MiB in all: filling more takes as long as checking a small kernel

/// Returns true if some elements must share memory, because one or two dimensions have more elements than there are
/// offsets between the first and the last of these elements.
bool haveTooFewOffsets(const std::vector<int64_t> &shape, const std::vector<int64_t> &strides) {
  for (size_t i = 0; i < shape.size(); ++i)
    for (size_t j = 0; j <= i; ++j) {
      const auto span = [&](size_t dim) { return __int128(shape[dim] - 1) * strides[dim]; };
      const __int128 elements = i == j ? shape[i] : __int128(shape[i]) * shape[j];
      const __int128 offsets = 1 + (i == j ? span(i) : span(i) + span(j));
      if (strides[i] >= 0 && strides[j] >= 0 && elements > offsets)
        return true;
    }
  return false;
}

} // namespace

Result<BufferLayout> planBuffer(std::vector<int64_t> shape, std::vector<int64_t> strides, unsigned elementSize,
                                bool isWritten) {
  BufferLayout layout;
  layout.elements = 1;
  bool isEmpty = false;
  for (int64_t size : shape) {
    if (size < 0)
      return makeError(TILE_ERROR_INVALID_ARGUMENT, "shape [{}] has a negative size", fmt::join(shape, ", "));
    isEmpty |= size == 0;
  }
  for (int64_t size : shape)
    if (!isEmpty && __builtin_mul_overflow(layout.elements, size, &layout.elements))
      return makeError(TILE_ERROR_INVALID_ARGUMENT, "shape [{}] has more than 2^63 elements", fmt::join(shape, ", "));
  if (strides.empty()) {
    strides.assign(shape.size(), 1);
    for (size_t i = shape.size(); i-- > 1;)
      strides[i - 1] = isEmpty ? 1 : strides[i] * shape[i];
  }
  int64_t largestOffset = 0;
  const bool overlaps = isWritten && !isEmpty && haveTooFewOffsets(shape, strides);
  for (size_t i = 0; i < shape.size(); ++i) {
    if (strides[i] < 0)
      return makeError(TILE_ERROR_INVALID_ARGUMENT, "strides [{}] have a negative entry, which is not supported",
                       fmt::join(strides, ", "));
    if (overlaps)
      return makeError(TILE_ERROR_INVALID_ARGUMENT, "strides [{}] of a written buffer make elements share memory",
                       fmt::join(strides, ", "));
    int64_t span = 0;
    if (!isEmpty && (__builtin_mul_overflow(shape[i] - 1, strides[i], &span) ||
                     __builtin_add_overflow(largestOffset, span, &largestOffset)))
      return makeError(TILE_ERROR_INVALID_ARGUMENT, "shape [{}] with strides [{}] overflows 64 bits",
                       fmt::join(shape, ", "), fmt::join(strides, ", "));
  }
  layout.elements = isEmpty ? 0 : layout.elements;
  layout.physicalElements = isEmpty ? 0 : largestOffset + 1;
  if (layout.physicalElements > largestBufferBytes / elementSize)
    return makeError(TILE_ERROR_INVALID_ARGUMENT,
                     "shape [{}] with strides [{}] needs {} elements of {} bytes; at most "
                     "1 TiB is supported",
                     fmt::join(shape, ", "), fmt::join(strides, ", "), layout.physicalElements, elementSize);
  layout.shape = std::move(shape);
  layout.strides = std::move(strides);
  return layout;
}

std::vector<int64_t> BufferLayout::sortedOffsets() const {
  std::vector<int64_t> offsets = {0};
  if (elements == 0)
    return {};
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    const size_t count = offsets.size();
    offsets.reserve(count * static_cast<size_t>(shape[dim]));
    for (int64_t i = 1; i < shape[dim]; ++i)
      for (size_t k = 0; k < count; ++k)
        offsets.push_back(offsets[k] + i * strides[dim]);
  }
  std::sort(offsets.begin(), offsets.end());
  return offsets;
}

void FreeMemory::operator()(uint8_t *pointer) const {
  if (mappedBytes > 0)
    munmap(pointer, mappedBytes);
  else
    std::free(pointer);
}

size_t HostBuffer::dataBytes() const {
  return static_cast<size_t>(elementLayout.physicalElements) * dataTypeSize(elementType);
}

Result<HostBuffer> HostBuffer::create(DataType type, BufferLayout layout, uint8_t guard, int64_t offset) {
  HostBuffer buffer;
  buffer.elementType = type;
  buffer.elementLayout = std::move(layout);
  buffer.elementOffset = static_cast<size_t>(offset);
  if (Status status = buffer.allocate(); !status)
    return status.error();
  if (buffer.isSparse()) {
    std::memset(buffer.memory.get(), guard, buffer.frontBytes());
    std::memset(buffer.data() + buffer.dataBytes(), guard, guardBytes);
  } else {
    std::memset(buffer.memory.get(), guard, buffer.storageBytes());
  }
  return buffer;
}

Status HostBuffer::allocate() {
  const size_t bytes = (storageBytes() + alignment - 1) / alignment * alignment;
  const auto gapElements = static_cast<size_t>(elementLayout.physicalElements - elementLayout.elements);
  if (elementLayout.hasGaps() && gapElements > largeGapBytes / dataTypeSize(elementType)) {
    void *pages = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (pages == MAP_FAILED)
      return makeError(TILE_ERROR_OUT_OF_MEMORY, "cannot reserve {} bytes of host memory", bytes);
    madvise(pages, bytes, MADV_NOHUGEPAGE); // a huge page would be allocated for a single element
    memory = {static_cast<uint8_t *>(pages), FreeMemory{bytes}};
    return runtime::Success{};
  }
  // An allocation that exceeds physical memory may succeed and then get the process killed at the first use, so it is
  // rejected here.
  const size_t present = static_cast<size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<size_t>(sysconf(_SC_PAGESIZE));
  if (bytes > present)
    return makeError(TILE_ERROR_OUT_OF_MEMORY, "a buffer of {} bytes exceeds the {} bytes of host memory", bytes,
                     present);
  memory.reset(static_cast<uint8_t *>(std::aligned_alloc(alignment, bytes)));
  if (!memory)
    return makeError(TILE_ERROR_OUT_OF_MEMORY, "cannot allocate {} bytes of host memory", bytes);
  return runtime::Success{};
}

Result<HostBuffer> HostBuffer::clone() const {
  Result<HostBuffer> copy = create(elementType, elementLayout, guardPattern, static_cast<int64_t>(elementOffset));
  if (!copy)
    return copy;
  if (!isSparse()) {
    std::memcpy(copy->memory.get(), memory.get(), storageBytes());
    return copy;
  }
  std::memcpy(copy->memory.get(), memory.get(), frontBytes());
  std::memcpy(copy->data() + dataBytes(), data() + dataBytes(), guardBytes);
  const unsigned size = dataTypeSize(elementType);
  parallelFor(elementLayout.elements, bufferGrain, [&](int64_t begin, int64_t end) {
    forRange(begin, end, [&](int64_t, int64_t physical) {
      std::memcpy(copy->data() + physical * size, data() + physical * size, size);
    });
  });
  return copy;
}

/// Returns the bits of a poisoned element, in the low bytes: a NaN that no operation produces. GPUs produce NaNs in
/// which all bits except the sign are set (PTX ISA, "Floating Point Instructions"), and negation sets the sign, so
/// another NaN of the format is used. fp8 has no other NaN, so it uses the one with the sign set.
static uint64_t poisonBits(DataType type) {
  switch (type) {
  case DataType::F16:
    return 0xFEA5;
  case DataType::BF16:
    return 0xFFA5;
  case DataType::F32:
    return 0xFFF5A5A5;
  case DataType::F64:
    return 0xFFF5A5A5A5A5A5A5;
  default:
    return runtime::isFloatType(type) ? UINT64_MAX : HostBuffer::guardPattern * uint64_t(0x0101010101010101);
  }
}

void HostBuffer::poison() {
  const uint64_t bits = poisonBits(elementType);
  const unsigned size = dataTypeSize(elementType);
  const auto poisonOne = [&](int64_t, int64_t physical) { std::memcpy(data() + physical * size, &bits, size); };
  if (isSparse()) {
    parallelFor(elementLayout.elements, bufferGrain,
                [&](int64_t begin, int64_t end) { forRange(begin, end, poisonOne); });
    return;
  }
  parallelFor(elementLayout.physicalElements, bufferGrain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      poisonOne(i, i);
  });
}

bool HostBuffer::isPoison(const std::vector<int64_t> &index) const {
  const uint64_t bits = poisonBits(elementType);
  const unsigned size = dataTypeSize(elementType);
  int64_t offset = 0;
  for (size_t dim = 0; dim < index.size(); ++dim)
    offset += index[dim] * elementLayout.strides[dim];
  return std::memcmp(data() + offset * size, &bits, size) == 0;
}

template <typename Body> void HostBuffer::forRange(int64_t begin, int64_t end, Body body) const {
  const size_t rank = elementLayout.shape.size();
  std::vector<int64_t> index(rank, 0);
  int64_t remainder = begin;
  int64_t offset = 0;
  for (size_t dim = rank; dim-- > 0;) {
    index[dim] = remainder % elementLayout.shape[dim];
    remainder /= elementLayout.shape[dim];
    offset += index[dim] * elementLayout.strides[dim];
  }
  for (int64_t linear = begin; linear < end; ++linear) {
    body(linear, offset);
    for (size_t dim = rank; dim-- > 0;) {
      offset += elementLayout.strides[dim];
      if (++index[dim] < elementLayout.shape[dim])
        break;
      offset -= elementLayout.shape[dim] * elementLayout.strides[dim];
      index[dim] = 0;
    }
  }
}

void HostBuffer::fill(double value) {
  const StoreElement store = elementStorer(elementType);
  const unsigned size = dataTypeSize(elementType);
  parallelFor(elementLayout.elements, bufferGrain, [&](int64_t begin, int64_t end) {
    forRange(begin, end, [&](int64_t, int64_t physical) { store(data() + physical * size, value); });
  });
}

void HostBuffer::fillRandom(uint64_t seed) {
  const StoreElement store = elementStorer(elementType);
  const unsigned size = dataTypeSize(elementType);
  parallelFor(elementLayout.elements, bufferGrain, [&](int64_t begin, int64_t end) {
    forRange(begin, end, [&](int64_t linear, int64_t physical) {
      store(data() + physical * size, randomElement(elementType, seed, static_cast<uint64_t>(linear)));
    });
  });
}

void HostBuffer::fillEach(const std::function<double(uint64_t)> &valueOf) {
  const StoreElement store = elementStorer(elementType);
  const unsigned size = dataTypeSize(elementType);
  parallelFor(elementLayout.elements, bufferGrain, [&](int64_t begin, int64_t end) {
    forRange(begin, end, [&](int64_t linear, int64_t physical) {
      store(data() + physical * size, valueOf(static_cast<uint64_t>(linear)));
    });
  });
}

void HostBuffer::importDense(const uint8_t *dense) {
  const unsigned size = dataTypeSize(elementType);
  parallelFor(elementLayout.elements, bufferGrain, [&](int64_t begin, int64_t end) {
    forRange(begin, end, [&](int64_t linear, int64_t physical) {
      std::memcpy(data() + physical * size, dense + linear * size, size);
    });
  });
}

std::vector<uint8_t> HostBuffer::exportDense() const {
  const unsigned size = dataTypeSize(elementType);
  std::vector<uint8_t> dense(static_cast<size_t>(elementLayout.elements) * size);
  parallelFor(elementLayout.elements, bufferGrain, [&](int64_t begin, int64_t end) {
    forRange(begin, end, [&](int64_t linear, int64_t physical) {
      std::memcpy(dense.data() + linear * size, data() + physical * size, size);
    });
  });
  return dense;
}

void addAddresses(HostBuffer &table, const std::function<uint64_t(size_t element)> &addressOf) {
  std::vector<uint8_t> dense = table.exportDense();
  uint64_t value = 0;
  for (size_t at = 0; at + sizeof value <= dense.size(); at += sizeof value) {
    std::memcpy(&value, dense.data() + at, sizeof value);
    value += addressOf(at / sizeof value);
    std::memcpy(dense.data() + at, &value, sizeof value);
  }
  table.importDense(dense.data());
}

void addAddress(HostBuffer &table, uint64_t address) {
  addAddresses(table, [=](size_t) { return address; });
}

namespace {

/// Returns a mask of the physical elements that belong to the logical array.
std::vector<bool> ownedElements(const BufferLayout &layout) {
  std::vector<bool> owned(static_cast<size_t>(layout.physicalElements), false);
  std::vector<int64_t> index(layout.shape.size(), 0);
  for (int64_t linear = 0; linear < layout.elements; ++linear) {
    int64_t offset = 0;
    for (size_t dim = 0; dim < index.size(); ++dim)
      offset += index[dim] * layout.strides[dim];
    owned[static_cast<size_t>(offset)] = true;
    for (size_t dim = index.size(); dim-- > 0;) {
      if (++index[dim] < layout.shape[dim])
        break;
      index[dim] = 0;
    }
  }
  return owned;
}

/// Returns the first physical element that differs between the buffers and is not in `written`, which is sorted. Skips
/// pages that were never touched.
std::optional<size_t> findSparseDifference(const HostBuffer &before, const HostBuffer &after,
                                           const std::vector<int64_t> &written) {
  const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE)), size = dataTypeSize(after.type());
  const std::span<const uint8_t> old = before.storage(), now = after.storage();
  std::vector<unsigned char> resident((now.size() + page - 1) / page);
  const bool isKnown = mincore(const_cast<uint8_t *>(now.data()), now.size(), resident.data()) == 0;
  const size_t first = after.frontBytes(), last = first + after.dataBytes();
  for (size_t i = 0; i < resident.size(); ++i) {
    const size_t begin = std::max(i * page, first), end = std::min((i + 1) * page, last);
    if ((isKnown && !resident[i]) || begin >= end ||
        std::memcmp(old.data() + begin, now.data() + begin, end - begin) == 0)
      continue;
    for (size_t at = begin; at < end; ++at)
      if (const size_t element = (at - first) / size;
          old[at] != now[at] && !std::binary_search(written.begin(), written.end(), static_cast<int64_t>(element)))
        return element;
  }
  return std::nullopt;
}

} // namespace

std::optional<std::string> findDamage(const HostBuffer &before, const HostBuffer &after, bool isInput) {
  const std::span<const uint8_t> old = before.storage();
  const std::span<const uint8_t> now = after.storage();
  const size_t guard = before.frontBytes();
  const auto firstDifference = [&](size_t begin, size_t end) {
    if (std::memcmp(old.data() + begin, now.data() + begin, end - begin) == 0)
      return end;
    while (old[begin] == now[begin])
      ++begin;
    return begin;
  };
  const size_t dataEnd = guard + before.dataBytes();
  if (std::memcmp(old.data(), now.data(), guard) != 0) {
    size_t last = guard - 1; // the changed byte nearest to the buffer is the most informative
    while (old[last] == now[last])
      --last;
    return fmt::format("out-of-bounds write: {} byte(s) before the buffer of {} bytes", guard - last,
                       before.dataBytes());
  }
  if (const size_t at = firstDifference(dataEnd, now.size()); at < now.size())
    return fmt::format("out-of-bounds write: {} byte(s) past the end of the buffer of {} bytes", at - dataEnd + 1,
                       before.dataBytes());
  const unsigned size = dataTypeSize(before.type());
  const auto inputText = [](size_t element) {
    return fmt::format("the kernel wrote to an input, at physical element {}", element);
  };
  const auto gapText = [](size_t element) {
    return fmt::format("write into the gap between rows, at physical element {}", element);
  };
  if (after.isSparse()) {
    const std::vector<int64_t> written = isInput ? std::vector<int64_t>() : after.layout().sortedOffsets();
    const std::optional<size_t> element = findSparseDifference(before, after, written);
    return element ? std::optional(isInput ? inputText(*element) : gapText(*element)) : std::nullopt;
  }
  if (isInput) {
    if (const size_t at = firstDifference(guard, dataEnd); at < dataEnd)
      return inputText((at - guard) / size);
    return std::nullopt;
  }
  if (!before.layout().hasGaps())
    return std::nullopt;
  const std::vector<bool> owned = ownedElements(before.layout());
  for (size_t element = 0; element < owned.size(); ++element)
    if (!owned[element] && std::memcmp(before.data() + element * size, after.data() + element * size, size) != 0)
      return gapText(element);
  return std::nullopt;
}

} // namespace tile::runner
