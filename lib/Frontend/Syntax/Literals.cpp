// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Decodes literals, and prints values as Python does.

#include "Frontend/Syntax/Literals.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace tile::frontend {

namespace {

int digitValue(char c) {
  if (c >= '0' && c <= '9')
    return c - '0';
  char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : 99;
}

void appendUtf8(uint32_t code, std::string &out) {
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xC0 | (code >> 6));
    out += static_cast<char>(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    out += static_cast<char>(0xE0 | (code >> 12));
    out += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
    out += static_cast<char>(0x80 | (code & 0x3F));
  } else {
    out += static_cast<char>(0xF0 | (code >> 18));
    out += static_cast<char>(0x80 | ((code >> 12) & 0x3F));
    out += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
    out += static_cast<char>(0x80 | (code & 0x3F));
  }
}

/// Reads up to 'maxDigits' digits of 'base' at 'position'. Returns false if there are fewer than 'minDigits'.
bool readDigits(std::string_view body, size_t &position, int base, size_t minDigits, size_t maxDigits,
                uint32_t &value) {
  size_t count = 0;
  value = 0;
  while (count < maxDigits && position < body.size() && digitValue(body[position]) < base) {
    value = value * static_cast<uint32_t>(base) + static_cast<uint32_t>(digitValue(body[position]));
    ++position;
    ++count;
  }
  return count >= minDigits;
}

/// Decodes the escape whose letter is at 'position', and moves past it.
bool decodeEscape(std::string_view body, size_t &position, std::string &out) {
  static constexpr std::string_view letters = "\\'\"abfnrtv";
  static constexpr std::string_view values = "\\'\"\a\b\f\n\r\t\v";
  char c = body[position++];
  if (size_t index = letters.find(c); index != std::string_view::npos) {
    out += values[index];
    return true;
  }
  uint32_t code = 0;
  switch (c) {
  case '\n':
    return true;
  case '\r':
    position += position < body.size() && body[position] == '\n';
    return true;
  case 'x':
    if (!readDigits(body, position, 16, 2, 2, code))
      return false;
    break;
  case 'u':
    if (!readDigits(body, position, 16, 4, 4, code))
      return false;
    break;
  case 'U':
    if (!readDigits(body, position, 16, 8, 8, code) || code > 0x10FFFF)
      return false;
    break;
  case 'N':
    return false;
  default:
    if (c < '0' || c > '7') {
      // Python keeps unknown escapes unchanged.
      out += '\\';
      out += c;
      return true;
    }
    --position;
    readDigits(body, position, 8, 1, 3, code);
    break;
  }
  appendUtf8(code, out);
  return true;
}

} // namespace

std::optional<Int128> decodeInteger(std::string_view text) {
  int base = 10;
  if (text.size() > 2 && text[0] == '0') {
    char letter = static_cast<char>(text[1] | 0x20);
    base = letter == 'x' ? 16 : letter == 'o' ? 8 : letter == 'b' ? 2 : 10;
  }
  if (base != 10)
    text.remove_prefix(2);
  Int128 value = 0;
  bool anyDigit = false, allZero = true;
  for (char c : text) {
    if (c == '_')
      continue;
    int digit = digitValue(c);
    if (digit >= base || value > (maxInt128 - digit) / base)
      return std::nullopt;
    value = value * base + digit;
    anyDigit = true;
    allZero &= digit == 0;
  }
  // Python: "007" is not an integer, "000" is.
  bool hasLeadingZero = base == 10 && text.size() > 1 && text[0] == '0' && !allZero;
  if (!anyDigit || hasLeadingZero)
    return std::nullopt;
  return value;
}

double decodeFloat(std::string_view text) {
  std::string digits;
  std::copy_if(text.begin(), text.end(), std::back_inserter(digits), [](char c) { return c != '_'; });
  double value = 0;
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc::result_out_of_range)
    return value;
  // from_chars does not set the value; the sign of the exponent distinguishes overflow from underflow.
  bool isTiny = digits.find("e-") != std::string::npos || digits.find("E-") != std::string::npos ||
                digits.starts_with("0.") || digits.starts_with(".");
  return isTiny ? 0.0 : HUGE_VAL;
}

StringPieces splitString(std::string_view token) {
  StringPieces pieces;
  size_t quote = token.find_first_of("'\"");
  if (quote == std::string_view::npos)
    return pieces;
  for (char c : token.substr(0, quote))
    pieces.isRaw |= (c | 0x20) == 'r';
  bool isTriple = token.size() >= quote + 6 && token[quote + 1] == token[quote] && token[quote + 2] == token[quote];
  pieces.bodyBegin = quote + (isTriple ? 3 : 1);
  pieces.bodyEnd = token.size() - (isTriple ? 3 : 1);
  return pieces;
}

std::optional<std::string> decodeString(std::string_view body, bool isRaw) {
  std::string out;
  for (size_t position = 0; position < body.size();) {
    char c = body[position++];
    if (c == '\r') {
      // Python normalizes line ends to '\n'.
      position += position < body.size() && body[position] == '\n';
      out += '\n';
    } else if (c != '\\' || isRaw || position == body.size()) {
      out += c;
    } else if (!decodeEscape(body, position, out)) {
      return std::nullopt;
    }
  }
  return out;
}

std::string toString(Int128 value) {
  bool negative = value < 0;
  auto magnitude = static_cast<unsigned __int128>(value);
  if (negative)
    magnitude = 0 - magnitude;
  std::string digits;
  do {
    digits += static_cast<char>('0' + static_cast<int>(magnitude % 10));
    magnitude /= 10;
  } while (magnitude != 0);
  if (negative)
    digits += '-';
  std::reverse(digits.begin(), digits.end());
  return digits;
}

static bool isFirstByte(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0) != 0x80;
}

std::vector<std::string_view> splitCharacters(std::string_view text) {
  std::vector<std::string_view> characters;
  for (size_t begin = 0, end = 0; begin < text.size(); begin = end) {
    for (end = begin + 1; end < text.size() && !isFirstByte(text[end]);)
      ++end;
    characters.push_back(text.substr(begin, end - begin));
  }
  return characters;
}

size_t countCharacters(std::string_view text) {
  return splitCharacters(text).size();
}

std::string floatRepr(double value) {
  if (std::isnan(value))
    return "nan";
  if (std::isinf(value))
    return value < 0 ? "-inf" : "inf";
  char buffer[64];
  auto result = std::to_chars(buffer, buffer + sizeof(buffer), value, std::chars_format::scientific);
  std::string_view scientific(buffer, static_cast<size_t>(result.ptr - buffer));
  int exponent = 0;
  size_t mark = scientific.find('e');
  std::string_view exponentText = scientific.substr(mark + 1);
  if (exponentText.starts_with('+'))
    exponentText.remove_prefix(1);
  std::from_chars(exponentText.data(), exponentText.data() + exponentText.size(), exponent);
  // Python uses exponents outside 1e-4 .. 1e16.
  if (exponent < -4 || exponent >= 16)
    return std::string(scientific);
  result = std::to_chars(buffer, buffer + sizeof(buffer), value, std::chars_format::fixed);
  std::string fixed(buffer, result.ptr);
  return fixed.find('.') == std::string::npos ? fixed + ".0" : fixed;
}

std::string stringRepr(std::string_view value) {
  bool hasSingle = value.find('\'') != std::string_view::npos;
  bool hasDouble = value.find('"') != std::string_view::npos;
  char quote = hasSingle && !hasDouble ? '"' : '\'';
  std::string out(1, quote);
  for (char c : value) {
    auto byte = static_cast<unsigned char>(c);
    if (c == quote || c == '\\')
      (out += '\\') += c;
    else if (c == '\n')
      out += "\\n";
    else if (c == '\t')
      out += "\\t";
    else if (c == '\r')
      out += "\\r";
    else if (byte < 0x20 || byte == 0x7F)
      ((out += "\\x") += "0123456789abcdef"[byte >> 4]) += "0123456789abcdef"[byte & 15];
    else
      out += c;
  }
  return out + quote;
}

} // namespace tile::frontend
