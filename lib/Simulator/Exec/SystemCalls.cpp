// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Simulator/Exec/SystemCalls.h"

#include "Simulator/Exec/MemoryPort.h"

#include <cstdio>
#include <fmt/format.h>

namespace tile::sim {

namespace {

constexpr size_t longestString = 1 << 16;

template <typename T> T readLocal(Warp &warp, unsigned lane, uint64_t address) {
  T value{};
  if (const std::byte *bytes = peekMemory(warp, Space::Local, lane, address, sizeof(T)))
    std::memcpy(&value, bytes, sizeof(T));
  return value;
}

std::string readString(Warp &warp, unsigned lane, uint64_t address) {
  std::string text;
  for (; text.size() < longestString; ++address) {
    const std::byte *byte = peekMemory(warp, Space::Generic, lane, address, 1);
    if (!byte || *byte == std::byte(0))
      break;
    text += char(*byte);
  }
  return text;
}

/// Formats like C's printf, with the arguments in a buffer of local memory, each aligned to its size.
class Formatter {
public:
  Formatter(Warp &warp, unsigned lane, uint64_t buffer) : warp(warp), lane(lane), next(buffer) {}

  std::string format(const std::string &format) {
    std::string text;
    for (size_t i = 0; i < format.size(); ++i) {
      if (format[i] != '%') {
        text += format[i];
        continue;
      }
      size_t end = format.find_first_of("diouxXfFeEgGaAcsp%", i + 1);
      if (end == std::string::npos)
        return text + format.substr(i);
      text += one(format.substr(i, end - i + 1));
      i = end;
    }
    return text;
  }

private:
  template <typename T> T take() {
    next = (next + sizeof(T) - 1) / sizeof(T) * sizeof(T);
    T value{};
    if (const std::byte *bytes = peekMemory(warp, Space::Generic, lane, next, sizeof(T)))
      std::memcpy(&value, bytes, sizeof(T));
    next += sizeof(T);
    return value;
  }

  template <typename T> static std::string print(const std::string &specification, T value) {
    char text[512];
    int length = std::snprintf(text, sizeof(text), specification.c_str(), value);
    return std::string(text, std::min<size_t>(std::max(length, 0), sizeof(text) - 1));
  }

  /// One conversion, from its % to its letter.
  std::string one(std::string specification) {
    char letter = specification.back();
    bool isLong = specification.find_first_of("ljzt") != std::string::npos;
    switch (letter) {
    case '%':
      return "%";
    case 's':
      return print(specification, readString(warp, lane, take<uint64_t>()).c_str());
    case 'p':
      return print(specification, reinterpret_cast<void *>(take<uint64_t>()));
    case 'd':
    case 'i':
      return isLong ? print(specification, take<int64_t>()) : print(specification, take<int32_t>());
    case 'o':
    case 'u':
    case 'x':
    case 'X':
      return isLong ? print(specification, take<uint64_t>()) : print(specification, take<uint32_t>());
    case 'c':
      return print(specification, take<int32_t>());
    default:
      return print(specification, take<double>());
    }
  }

  Warp &warp;
  unsigned lane;
  uint64_t next;
};

class Print final : public Operation {
public:
  Print(uint32_t format, uint32_t buffer, std::vector<uint32_t> results)
      : format(format), buffer(buffer), results(std::move(results)) {}

  Step execute(Warp &warp, Fragment &, LaneMask active) const override {
    Machine &machine = warp.cta.cluster.machine;
    std::string text;
    forLanes(active, [&](unsigned lane) {
      Formatter formatter(warp, lane, readLocal<uint64_t>(warp, lane, buffer));
      text += formatter.format(readString(warp, lane, readLocal<uint64_t>(warp, lane, format)));
      int32_t done = 1;
      for (uint32_t result : results)
        if (std::byte *bytes = peekMemory(warp, Space::Local, lane, result, sizeof(done)))
          std::memcpy(bytes, &done, sizeof(done));
    });
    std::lock_guard lock(machine.printMutex);
    machine.printed += text;
    return Step::Next;
  }

private:
  uint32_t format, buffer;
  std::vector<uint32_t> results;
};

class AssertFail final : public Operation {
public:
  explicit AssertFail(std::vector<uint32_t> arguments) : arguments(std::move(arguments)) {}

  Step execute(Warp &warp, Fragment &, LaneMask active) const override {
    unsigned lane = firstLane(active);
    auto text = [&](int index) { return readString(warp, lane, readLocal<uint64_t>(warp, lane, arguments[index])); };
    return warp.fault(ReportKind::Trap, instruction->place, lane,
                      fmt::format("assertion failed: {} ({}:{}, in {})", text(0), text(1),
                                  readLocal<uint32_t>(warp, lane, arguments[2]), text(3)));
  }

private:
  std::vector<uint32_t> arguments;
};

} // namespace

OperationPtr makePrint(uint32_t format, uint32_t buffer, std::vector<uint32_t> results) {
  return make<Print>(format, buffer, std::move(results));
}

OperationPtr makeAssertFail(std::vector<uint32_t> arguments) {
  return make<AssertFail>(std::move(arguments));
}

} // namespace tile::sim
