// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads and writes the file of a card.
#include "Target/Card/Card.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <set>
#include <vector>

namespace tile::target {
namespace {

constexpr std::string_view firstLine = "tile-card 1";

/// A property whose value is a string.
struct TextProperty {
  std::string_view key;
  std::string Card::*text;
};
constexpr TextProperty textProperties[] = {
    {"name", &Card::name}, {"driver", &Card::driver}, {"tile", &Card::tile}, {"date", &Card::date}};

/// A property whose value is a number between `least` and `most`.
struct NumberProperty {
  std::string_view key, unit;
  double least, most;
  bool isWhole;
  double Card::*number;
};
constexpr NumberProperty numberProperties[] = {
    {"multiprocessors", "-", 1, 4096, true, &Card::multiprocessors},
    {"clock_rate", "GHz", 0.1, 10, false, &Card::clockGHz},
    {"memory_rate", "B/ns", 1, 1e6, false, &Card::memory},
    {"l2", "bytes", 1 << 16, 1e12, true, &Card::l2Bytes},
    {"memory", "bytes", 1 << 20, 1e15, true, &Card::memoryBytes},
};

template <typename Row, size_t size> const Row *findRow(const Row (&rows)[size], std::string_view key) {
  const Row *found = std::find_if(std::begin(rows), std::end(rows), [&](const Row &row) { return row.key == key; });
  return found == std::end(rows) ? nullptr : found;
}

/// Prints a number with the fewest digits that identify it.
std::string print(double number) {
  std::array<char, 32> digits;
  auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), number);
  return {digits.data(), end};
}

/// Parses all of `text` as a finite number.
std::optional<double> readNumber(std::string_view text) {
  double number = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::general);
  const bool isNumber = error == std::errc() && end == text.data() + text.size() && number - number == 0;
  return isNumber ? std::optional(number) : std::nullopt;
}

/// Parses a compute capability: "9.0" is 90.
std::optional<unsigned> readCapability(std::string_view text) {
  const size_t point = text.find('.');
  unsigned major = 0, minor = 0;
  auto isRead = [](std::string_view digits, unsigned &number) {
    auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    return error == std::errc() && end == digits.data() + digits.size();
  };
  if (point == std::string_view::npos || !isRead(text.substr(0, point), major) ||
      !isRead(text.substr(point + 1), minor) || major == 0 || major > 99 || minor > 9)
    return std::nullopt;
  return major * 10 + minor;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(separator, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

std::string inQuotes(std::string_view text) {
  return "'" + std::string(text) + "'";
}

std::string outside(double value, std::string_view unit, double least, double most) {
  const std::string of = unit == "-" ? std::string() : " " + std::string(unit);
  return print(value) + of + "; expected " + print(least) + " to " + print(most);
}

/// Reads the lines of a file one after another.
class CardReader {
public:
  /// Parses a line. Returns an error message, or "" if the line is valid.
  std::string readLine(std::string_view line) {
    const std::vector<std::string_view> columns = split(line, '\t');
    const std::string key(columns[0]);
    if (!keys.insert(key).second)
      return inQuotes(key) + " occurs twice";
    const std::string_view value = columns.size() > 1 ? columns[1] : std::string_view();
    if (value.empty())
      return inQuotes(key) + " has no value: columns are separated by tabs";
    if (const TextProperty *property = findRow(textProperties, key)) {
      card.*property->text = value;
      return "";
    }
    if (key == "capability")
      return readCapabilityOf(value);
    const NumberProperty *property = findRow(numberProperties, key);
    const CardFigure *figure = property ? nullptr : findFigure(key);
    if (!property && !figure)
      return "unknown key " + inQuotes(key) + "; tile-run tune --calibrate writes all keys that this version knows";
    const std::string_view unit = property ? property->unit : figure->unit;
    if (columns.size() < 3 || columns[2].empty())
      return inQuotes(key) + " has no unit; expected " + inQuotes(unit);
    if (columns[2] != unit)
      return inQuotes(key) + " is in " + inQuotes(columns[2]) + "; expected " + inQuotes(unit);
    const std::optional<double> number = readNumber(value);
    if (!number)
      return inQuotes(key) + " is " + inQuotes(value) + ", which is not a number";
    const double least = property ? property->least : figure->least, most = property ? property->most : figure->most;
    if (*number < least || *number > most)
      return inQuotes(key) + " is " + outside(*number, unit, least, most);
    if (property && property->isWhole && *number != std::floor(*number))
      return inQuotes(key) + " is " + print(*number) + "; expected a whole number";
    if (property) {
      card.*property->number = *number;
      return "";
    }
    card.figures.*figure->member = *number;
    return readNote(key, columns);
  }

  bool has(std::string_view key) const { return keys.contains(key); }

  Card card;

private:
  std::string readCapabilityOf(std::string_view value) {
    const std::optional<unsigned> capability = readCapability(value);
    if (!capability)
      return "'capability' is " + inQuotes(value) + "; expected a compute capability such as 9.0";
    card.capability = *capability;
    return "";
  }

  std::string readNote(const std::string &key, const std::vector<std::string_view> &columns) {
    Card::Note note;
    if (columns.size() > 3 && columns[3] != "-") {
      const std::optional<double> spread = readNumber(columns[3]);
      if (!spread || *spread < 0)
        return "the spread of " + inQuotes(key) + " is " + inQuotes(columns[3]) +
               "; expected a percentage of the value, or -";
      note.spread = *spread;
    }
    note.how = columns.size() > 4 ? columns[4] : std::string_view();
    card.notes[key] = std::move(note);
    return "";
  }

  std::set<std::string, std::less<>> keys;
};

} // namespace

std::span<const CardFigure> cardFigures() {
  static constexpr CardFigure figures[] = {
#define CARD_FIGURE(member, key, unit, least, most, meaning) {key, unit, least, most, meaning, &CardFigures::member},
#include "Target/Card/CardFigures.def"
#undef CARD_FIGURE
  };
  return figures;
}

const CardFigure *findFigure(std::string_view key) {
  for (const CardFigure &figure : cardFigures())
    if (figure.key == key)
      return &figure;
  return nullptr;
}

std::string checkFigure(const CardFigure &figure, double value) {
  return value >= figure.least && value <= figure.most ? "" : outside(value, figure.unit, figure.least, figure.most);
}

CardResult parseCard(std::string_view text) {
  CardReader reader;
  size_t number = 0;
  for (std::string_view line : split(text, '\n')) {
    const std::string place = "line " + std::to_string(++number) + ": ";
    if (line.ends_with('\r'))
      line.remove_suffix(1);
    if (number == 1 && line != firstLine)
      return {std::nullopt, place + "expected " + inQuotes(firstLine) + ", not " + inQuotes(line.substr(0, 40))};
    if (number == 1 || line.empty() || line.starts_with('#'))
      continue;
    if (std::string error = reader.readLine(line); !error.empty())
      return {std::nullopt, place + error};
  }
  for (std::string_view key : {"name", "capability", "multiprocessors"})
    if (!reader.has(key))
      return {std::nullopt, "line " + std::to_string(number) + ": the file ends without " + inQuotes(key)};
  return {std::move(reader.card), ""};
}

std::string printCard(const Card &card) {
  std::string text = std::string(firstLine) + "\n# key\tvalue\tunit\tspread %\tmeasured how\n";
  auto addRow = [&](std::string_view key, std::string_view value, std::string_view more) {
    if (!value.empty())
      text += std::string(key) + '\t' + std::string(value) + std::string(more) + '\n';
  };
  for (const TextProperty &property : textProperties)
    addRow(property.key, card.*property.text, "");
  addRow("capability", std::to_string(card.capability / 10) + "." + std::to_string(card.capability % 10), "");
  for (const NumberProperty &property : numberProperties)
    if (const double value = card.*property.number; value > 0)
      addRow(property.key, print(value), "\t" + std::string(property.unit));
  for (const CardFigure &figure : cardFigures()) {
    const double value = card.figures.*figure.member;
    if (value == 0)
      continue;
    const auto note = card.notes.find(figure.key);
    const Card::Note &shown = note == card.notes.end() ? Card::Note() : note->second;
    addRow(figure.key, print(value), "\t" + std::string(figure.unit) + "\t" + print(shown.spread) + "\t" + shown.how);
  }
  return text;
}

} // namespace tile::target
