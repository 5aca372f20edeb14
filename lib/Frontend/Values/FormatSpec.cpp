// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Implements FormatSpec.h. Integers of up to 127 bits are formatted digit by digit, floats by the C library.

#include "Frontend/Values/FormatSpec.h"

#include "Frontend/Syntax/Literals.h"
#include "Frontend/Values/Numbers.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>

namespace tile::frontend {

namespace {

constexpr int mostCharacters = 1024; // a typo should not fill the screen

struct Specification {
  char fill = ' ', align = 0, sign = '-', type = 0;
  bool isAlternate = false, groups = false;
  bool isPadded = false; // padded with zeros after the sign
  int width = 0, precision = -1;
};

/// Parses leading digits, up to mostCharacters.
bool takeNumber(std::string_view &text, int &number) {
  number = 0;
  bool any = false;
  for (; !text.empty() && text[0] >= '0' && text[0] <= '9'; text.remove_prefix(1), any = true)
    if ((number = number * 10 + text[0] - '0') > mostCharacters)
      return false;
  return any;
}

bool take(std::string_view &text, std::string_view allowed, char &taken) {
  if (text.empty() || allowed.find(text[0]) == std::string_view::npos)
    return false;
  taken = text[0];
  text.remove_prefix(1);
  return true;
}

std::optional<Specification> parse(std::string_view text) {
  constexpr std::string_view aligns = "<>=^";
  Specification out;
  char ignored = 0;
  bool hasFill = text.size() >= 2 && aligns.find(text[1]) != std::string_view::npos;
  if (hasFill) {
    out.fill = text[0];
    text.remove_prefix(1);
  }
  take(text, aligns, out.align);
  take(text, "+- ", out.sign);
  out.isAlternate = take(text, "#", ignored);
  if (take(text, "0", ignored) && !hasFill) {
    out.fill = '0';
    out.isPadded = !out.align || out.align == '=';
  }
  if (!text.empty() && text[0] >= '0' && text[0] <= '9' && !takeNumber(text, out.width))
    return std::nullopt;
  out.groups = take(text, ",", ignored);
  if (take(text, ".", ignored) && !takeNumber(text, out.precision))
    return std::nullopt;
  take(text, "bcdeEfFgGnosxX%", out.type);
  return text.empty() ? std::optional(out) : std::nullopt;
}

std::string digitsOf(unsigned __int128 number, unsigned base, bool isUpper) {
  std::string digits;
  do {
    digits += (isUpper ? "0123456789ABCDEF" : "0123456789abcdef")[static_cast<unsigned>(number % base)];
    number /= base;
  } while (number != 0);
  std::reverse(digits.begin(), digits.end());
  return digits;
}

/// Inserts commas between thousands, before a decimal point.
void groupDigits(std::string &digits) {
  size_t end = digits.find_first_not_of("0123456789");
  for (size_t i = end == std::string::npos ? digits.size() : end; i > 3;)
    digits.insert(i -= 3, 1, ',');
}

/// Pads the leading digits of a number with zeros to `width` characters, with commas if the digits are grouped. A comma
/// never comes first.
void padDigits(const Specification &spec, std::string &digits, size_t width) {
  size_t end = std::min(digits.find_first_not_of("0123456789,"), digits.size());
  if (end == 0) // inf, nan
    return digits.insert(0, width > digits.size() ? width - digits.size() : 0, '0'), void();
  std::string whole = digits.substr(0, end), remaining = digits.substr(end);
  std::erase(whole, ',');
  auto grouped = [&] {
    std::string text = whole;
    if (spec.groups)
      groupDigits(text);
    return text + remaining;
  };
  while (grouped().size() < width)
    whole.insert(0, 1, '0');
  digits = grouped();
}

std::string pad(const Specification &spec, std::string_view sign, std::string_view body, char usual) {
  if (spec.isPadded && usual == '>') {
    std::string digits(body);
    padDigits(spec, digits, static_cast<size_t>(spec.width) - std::min(static_cast<size_t>(spec.width), sign.size()));
    return std::string(sign) + digits;
  }
  size_t length = sign.size() + countCharacters(body), width = static_cast<size_t>(spec.width);
  std::string space(width > length ? width - length : 0, spec.fill);
  size_t before = 0;
  switch (spec.align ? spec.align : usual) {
  case '<':
    break;
  case '^':
    before = space.size() / 2;
    break;
  case '=':
    return std::string(sign) + space + std::string(body);
  default:
    before = space.size();
  }
  return space.substr(0, before) + std::string(sign) + std::string(body) + space.substr(before);
}

std::string signOf(const Specification &spec, bool isNegative) {
  return isNegative ? "-" : spec.sign == '-' ? "" : std::string(1, spec.sign);
}

std::optional<std::string> formatInteger(const Specification &spec, Int128 value) {
  unsigned base = spec.type == 'b' ? 2 : spec.type == 'o' ? 8 : spec.type == 'x' || spec.type == 'X' ? 16 : 10;
  if (spec.precision >= 0)
    return std::nullopt;
  auto magnitude = static_cast<unsigned __int128>(value);
  std::string digits = digitsOf(value < 0 ? -magnitude : magnitude, base, spec.type == 'X');
  if (spec.groups)
    groupDigits(digits);
  std::string prefix = spec.isAlternate && base != 10 ? std::string("0") + spec.type : "";
  return pad(spec, signOf(spec, value < 0) + prefix, digits, '>');
}

/// Formats a float like Python with a precision but no type: as 'g', with a digit after the decimal point.
std::string printShort(double value, int precision) {
  char buffer[mostCharacters + 512];
  std::snprintf(buffer, sizeof(buffer), "%.*e", std::max(precision, 1) - 1, value);
  std::string text = buffer;
  size_t mark = text.find('e');
  if (mark == std::string::npos) // inf, nan
    return text;
  int exponent = std::atoi(text.c_str() + mark + 1);
  if (exponent >= -4 && exponent < std::max(precision, 1) - 1) {
    std::snprintf(buffer, sizeof(buffer), "%.*g", precision, value);
    text = buffer;
    return text.find('.') == std::string::npos ? text + ".0" : text;
  }
  size_t last = text.find_last_not_of('0', mark - 1);
  if (text.find('.') < mark)
    text.erase(text[last] == '.' ? last : last + 1, mark - (text[last] == '.' ? last : last + 1));
  return text;
}

std::optional<std::string> formatReal(const Specification &spec, double value) {
  bool isPercent = spec.type == '%';
  std::string pattern = spec.isAlternate ? "%#.*" : "%.*";
  pattern += isPercent ? 'f' : spec.type == 0 || spec.type == 'n' ? 'g' : spec.type;
  char buffer[mostCharacters + 512];
  int precision = spec.precision < 0 ? 6 : spec.precision;
  std::snprintf(buffer, sizeof(buffer), pattern.c_str(), precision, isPercent ? value * 100 : value);
  std::string digits = buffer;
  if (spec.type == 0 && spec.precision < 0)
    digits = str(Value(value)); // as without a specification
  else if (spec.type == 0 && !spec.isAlternate)
    digits = printShort(value, spec.precision);
  bool isNegative = !digits.empty() && digits[0] == '-';
  digits.erase(0, isNegative);
  if (spec.groups)
    groupDigits(digits);
  return pad(spec, signOf(spec, isNegative), digits + (isPercent ? "%" : ""), '>');
}

} // namespace

std::optional<std::string> formatValue(const Value &value, std::string_view specification) {
  std::optional<Specification> spec = parse(specification);
  if (!spec)
    return std::nullopt;
  constexpr std::string_view realTypes = "eEfFgG%";
  bool wantsReal = spec->type && realTypes.find(spec->type) != std::string_view::npos;
  std::optional<Int128> integer = asInteger(value);
  bool isText = spec->type == 0 && std::holds_alternative<bool>(value) && specification.empty();
  if (integer && !wantsReal && !isText && spec->type != 's' && spec->type != 'c')
    return formatInteger(*spec, *integer);
  if (std::optional<double> number = asDouble(value); number && (wantsReal || spec->type == 0 || spec->type == 'n'))
    return formatReal(*spec, *number);
  if (spec->type != 0 && spec->type != 's')
    return std::nullopt;
  if (integer || asDouble(value))
    return std::nullopt; // 's' requires a string
  std::string text = str(value);
  std::vector<std::string_view> characters = splitCharacters(text);
  if (auto most = static_cast<size_t>(spec->precision); spec->precision >= 0 && characters.size() > most)
    text.resize(static_cast<size_t>(characters[most].data() - text.data()));
  return pad(*spec, "", text, '<');
}

/// Formats the value for one "%..." whose '%' precedes `place`, and moves `place` past the specification.
static std::optional<std::string> formatPlace(std::string_view pattern, size_t &place, const Value &value) {
  bool isLeft = false;
  std::string flags, width, precision;
  for (; place < pattern.size() && std::string_view("-+ #0").find(pattern[place]) != std::string_view::npos; ++place) {
    isLeft |= pattern[place] == '-';
    bool isNew = pattern[place] != '-' && flags.find(pattern[place]) == std::string::npos;
    flags += isNew ? std::string(1, pattern[place]) : "";
  }
  auto isDigit = [&] { return place < pattern.size() && pattern[place] >= '0' && pattern[place] <= '9'; };
  while (isDigit())
    width += pattern[place++];
  if (place < pattern.size() && pattern[place] == '.') {
    precision = pattern[place++];
    while (isDigit())
      precision += pattern[place++];
  }
  if (place == pattern.size())
    return std::nullopt;
  char type = pattern[place++];
  if (type == 's' || type == 'r')
    return formatValue(type == 's' ? str(value) : repr(value), (isLeft ? "<" : ">") + width + precision);
  bool isInteger = type == 'i' || type == 'u' || type == 'd';
  if (!isNumber(value) || (!isInteger && std::string_view("xXoeEfFgG").find(type) == std::string_view::npos))
    return std::nullopt;
  Value number = value;
  if (const double *real = std::get_if<double>(&value); real && isInteger) {
    EvalResult whole = toInteger(value);
    if (!whole.value)
      return std::nullopt;
    number = *whole.value;
  }
  auto isSet = [&](char flag) { return flags.find(flag) != std::string::npos; };
  // In the order of a format specification: sign, '#', '0'.
  std::string sign = isSet('+') ? "+" : isSet(' ') ? " " : "", alternate = isSet('#') ? "#" : "";
  bool isReal = std::string_view("eEfFgG").find(type) != std::string_view::npos;
  std::string zero = isSet('0') && !isLeft ? "0" : "";
  if (isReal || precision.empty())
    return formatValue(number,
                       (isLeft ? "<" : "") + sign + alternate + zero + width + precision + (isInteger ? 'd' : type));
  // The precision of an integer is its minimum number of digits.
  std::optional<std::string> plain = formatValue(number, sign + alternate + (isInteger ? 'd' : type));
  if (!plain)
    return std::nullopt;
  size_t digits = plain->find_first_not_of("+- "), count = 0;
  if (isSet('#') && !isInteger)
    digits += 2; // 0x
  std::from_chars(precision.data() + 1, precision.data() + precision.size(), count);
  size_t wide = 0;
  std::from_chars(width.data(), width.data() + width.size(), wide);
  if (count > mostCharacters || wide > mostCharacters)
    return std::nullopt;
  size_t least = std::max(count, zero.empty() || wide < digits ? 0 : wide - digits);
  plain->insert(digits, least > plain->size() - digits ? least - (plain->size() - digits) : 0, '0');
  return formatValue(*plain, (isLeft ? "<" : ">") + width);
}

std::optional<std::string> formatPercent(std::string_view pattern, const std::vector<Value> &values) {
  std::string out;
  size_t next = 0;
  for (size_t place = 0; place < pattern.size();) {
    char c = pattern[place++];
    bool isDoubled = c == '%' && place < pattern.size() && pattern[place] == '%';
    if (c != '%' || isDoubled) {
      out += c;
      place += isDoubled;
      continue;
    }
    if (next == values.size())
      return std::nullopt;
    std::optional<std::string> text = formatPlace(pattern, place, values[next++]);
    if (!text)
      return std::nullopt;
    out += *text;
  }
  return next == values.size() ? std::optional(out) : std::nullopt;
}

} // namespace tile::frontend
