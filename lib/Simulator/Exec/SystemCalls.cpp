// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Simulator/Exec/SystemCalls.h"

#include "Simulator/Exec/MemoryPort.h"

#include <algorithm>
#include <cstdio>
#include <fmt/format.h>
#include <optional>

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

/// A conversion in a format string that CUDA's vprintf supports: %[flags][width][.precision][size]type.
struct Conversion {
  std::string flags; ///< a subset of "#0+- "
  int width = -1, precision = -1;
  bool isLong = false, isShort = false;
  bool takesWidth = false; ///< `*`: the width is an argument
  char type = 0;
  size_t length = 0; ///< number of characters in the format string
};

/// The maximum width of a field. Wider fields are truncated, which bounds the memory for the output.
constexpr int widestField = 1024;

int takeNumber(std::string_view text, size_t &at) {
  int value = 0;
  for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at)
    value = std::min(10 * value + (text[at] - '0'), widestField);
  return value;
}

/// Parses the conversion at the beginning of `text`, which is a '%'. Returns nullopt for conversions that vprintf does
/// not support: positional arguments, and %n, which writes to memory.
std::optional<Conversion> parseConversion(std::string_view text) {
  constexpr std::string_view flags = "#0+- ", types = "cdiouxXpeEfgGaAs%";
  Conversion result;
  size_t at = 1;
  for (; at < text.size() && flags.find(text[at]) != flags.npos; ++at)
    if (result.flags.find(text[at]) == std::string::npos)
      result.flags += text[at];
  if (text.substr(at, 1) == "*") {
    result.takesWidth = true;
    ++at;
  } else if (at < text.size() && text[at] >= '0' && text[at] <= '9') {
    result.width = takeNumber(text, at);
  }
  if (text.substr(at, 1) == ".")
    result.precision = takeNumber(text, ++at);
  for (; text.substr(at, 1) == "l"; ++at)
    result.isLong = true;
  for (; !result.isLong && text.substr(at, 1) == "h"; ++at)
    result.isShort = true;
  if (at >= text.size() || types.find(text[at]) == types.npos)
    return std::nullopt;
  result.type = text[at];
  result.length = at + 1;
  return result;
}

/// Prints one value with C's printf. The conversion specification is built here and contains no characters of the
/// kernel's format string.
template <typename T> std::string printValue(const Conversion &conversion, std::string_view size, T value) {
  std::string specification = "%";
  for (char flag : conversion.flags) // the behaviour of some combinations is undefined in C
    if (flag == '-' || (conversion.type != 'p' && (flag != '#' || conversion.type != 'd')))
      specification += flag;
  if (conversion.width >= 0)
    specification += std::to_string(conversion.width);
  if (conversion.precision >= 0 && conversion.type != 'c' && conversion.type != 'p')
    specification += "." + std::to_string(conversion.precision);
  specification += size;
  specification += conversion.type;
  char text[2 * widestField];
  int length = std::snprintf(text, sizeof(text), specification.c_str(), value);
  return std::string(text, std::min<size_t>(std::max(length, 0), sizeof(text) - 1));
}

/// Formats the arguments in a buffer in local memory, in which each argument is aligned to its size.
class Formatter {
public:
  Formatter(Warp &warp, unsigned lane, uint64_t buffer) : warp(warp), lane(lane), next(buffer) {}

  /// Stops after `limit` bytes, since longer output would be rejected.
  std::string format(const std::string &format, size_t limit) {
    std::string text;
    for (size_t at = 0; at < format.size() && text.size() <= limit;) {
      std::optional<Conversion> conversion;
      if (format[at] == '%')
        conversion = parseConversion(std::string_view(format).substr(at));
      if (!conversion) {
        text += format[at++];
        continue;
      }
      text += one(*conversion);
      at += conversion->length;
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

  /// Returns a string argument, which consists of bytes of the kernel's memory, padded or truncated as specified.
  std::string field(const Conversion &conversion, std::string text) const {
    if (conversion.precision >= 0)
      text.resize(std::min<size_t>(text.size(), conversion.precision));
    const size_t width = std::max(conversion.width, 0);
    if (text.size() < width)
      text.insert(conversion.flags.find('-') == std::string::npos ? 0 : text.size(), width - text.size(), ' ');
    return text;
  }

  template <typename T> std::string integer(const Conversion &conversion) {
    if (conversion.isLong)
      return printValue(
          conversion, "ll",
          static_cast<std::conditional_t<std::is_signed_v<T>, long long, unsigned long long>>(take<uint64_t>()));
    const auto value = take<T>();
    return conversion.isShort ? printValue(conversion, "h", value) : printValue(conversion, "", value);
  }

  std::string one(Conversion conversion) {
    if (conversion.takesWidth) {
      const int64_t width = take<int32_t>();
      if (width < 0)
        conversion.flags += '-';
      conversion.width = int(std::min<int64_t>(width < 0 ? -width : width, widestField));
    }
    switch (conversion.type) {
    case '%':
      return "%";
    case 's':
      return field(conversion, readString(warp, lane, take<uint64_t>()));
    case 'c':
      return field(conversion, std::string(1, char(take<int32_t>())));
    case 'p':
      return printValue(conversion, "", reinterpret_cast<void *>(take<uint64_t>()));
    case 'd':
    case 'i':
      return integer<int32_t>(conversion);
    case 'o':
    case 'u':
    case 'x':
    case 'X':
      return integer<uint32_t>(conversion);
    default:
      return printValue(conversion, "", take<double>());
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
    PrintBuffer &printed = warp.cta.cluster.machine.printed;
    std::vector<std::string> records;
    forLanes(active, [&](unsigned lane) {
      int32_t done = 1;
      for (uint32_t result : results)
        if (std::byte *bytes = peekMemory(warp, Space::Local, lane, result, sizeof(done)))
          std::memcpy(bytes, &done, sizeof(done));
      if (printed.isFull())
        return printed.drop();
      Formatter formatter(warp, lane, readLocal<uint64_t>(warp, lane, buffer));
      records.push_back(
          formatter.format(readString(warp, lane, readLocal<uint64_t>(warp, lane, format)), PrintBuffer::capacity));
    });
    printed.add(records);
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
    return warp.fault(ReportKind::Trap, instruction->loc, lane,
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
