// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Prints and parses layouts; see Print.h.

#include "Layout/Print.h"

#include <algorithm>
#include <cctype>
#include <limits>

namespace tile::layout {

namespace {

template <typename Value> std::string list(const std::vector<Value> &values) {
  std::string text = "[";
  for (size_t index = 0; index < values.size(); ++index)
    text += (index ? ", " : "") + std::to_string(values[index]);
  return text + "]";
}

/// A recursive-descent parser for  shape ("," name "=" "[" (coordinate ("," coordinate)*)? "]")*
class Parser {
public:
  explicit Parser(std::string_view text) : text(text) {}

  std::optional<LinearLayout> parse(std::string &error) {
    std::vector<int64_t> shape;
    std::vector<InDim> inDims;
    if (!parseIntegers(shape))
      return fail(error);
    while (skipSpace() != '\0')
      if (!expect(',') || !parseDim(inDims.emplace_back()))
        return fail(error);
    return LinearLayout::create(inDims, std::move(shape), &error);
  }

private:
  /// Returns the next character that is not a space, or 0 at the end of the text.
  char skipSpace() {
    while (position < text.size() && std::isspace(static_cast<unsigned char>(text[position])))
      ++position;
    return position < text.size() ? text[position] : '\0';
  }

  bool expect(char wanted) {
    if (skipSpace() != wanted)
      return report(std::string("'") + wanted + "'");
    ++position;
    return true;
  }

  bool report(std::string what) {
    expected = std::move(what);
    return false;
  }

  std::nullopt_t fail(std::string &error) const {
    std::string found = position < text.size() ? std::string("'") + text[position] + "'" : "the end";
    error = "found " + found + " at byte " + std::to_string(position) + " of the layout, expected " + expected;
    return std::nullopt;
  }

  bool parseInteger(int64_t &value) {
    if (!std::isdigit(static_cast<unsigned char>(skipSpace())))
      return report("a non-negative integer");
    value = 0;
    for (; position < text.size() && std::isdigit(static_cast<unsigned char>(text[position])); ++position) {
      value = value * 10 + (text[position] - '0');
      if (value > std::numeric_limits<int32_t>::max())
        return report("an integer below 2^31");
    }
    return true;
  }

  bool parseIntegers(std::vector<int64_t> &values) {
    return parseList([&] { return parseInteger(values.emplace_back()); });
  }

  template <typename ParseItem> bool parseList(ParseItem parseItem) {
    if (!expect('['))
      return false;
    for (bool first = true; skipSpace() != ']'; first = false)
      if ((!first && !expect(',')) || !parseItem())
        return false;
    return expect(']');
  }

  bool parseDim(InDim &dim) {
    skipSpace();
    while (position < text.size() &&
           (std::isalnum(static_cast<unsigned char>(text[position])) || text[position] == '_'))
      dim.name += text[position++];
    if (dim.name.empty())
      return report("the name of an input dimension");
    return expect('=') && parseList([&] {
             std::vector<int64_t> values;
             if (!parseIntegers(values))
               return false;
             dim.bases.emplace_back(values.begin(), values.end());
             return true;
           });
  }

  std::string_view text;
  size_t position = 0;
  std::string expected;
};

} // namespace

std::string toString(const LinearLayout &layout) {
  std::string text = list(layout.outShape());
  for (const InDim &dim : layout.inDims()) {
    text += ", " + dim.name + " = [";
    for (size_t bit = 0; bit < dim.bases.size(); ++bit)
      text += (bit ? ", " : "") + list(dim.bases[bit]);
    text += "]";
  }
  return text;
}

std::optional<LinearLayout> parse(std::string_view text, std::string *error) {
  std::string message;
  std::optional<LinearLayout> layout = Parser(text).parse(message);
  if (!layout && error)
    *error = std::move(message);
  return layout;
}

namespace {

std::string padded(const std::string &text, size_t width) {
  return std::string(width > text.size() ? width - text.size() : 0, ' ') + text;
}

/// Names the owner of each element by its input values, the last input dimension first (warp:lane:register).
class OwnerNames {
public:
  explicit OwnerNames(const LinearLayout &layout) : layout(layout), owners(layout.toMatrix().columns()) {
    uint64_t others = (uint64_t(1) << (layout.totalInBits() - owners.dimension())) - 1;
    if (others != 0)
      copies = "+" + std::to_string(others);
  }

  std::string legend() const {
    std::string text;
    for (const std::string &name : layout.inDimNames())
      text = name + (text.empty() ? "" : ":") + text;
    return text + (copies.empty() ? "" : "+copies");
  }

  std::string name(uint64_t element) const {
    std::optional<uint64_t> owner = owners.express(element);
    if (!owner)
      return "-";
    std::string text;
    for (int32_t value : layout.unflattenInput(*owner))
      text = std::to_string(value) + (text.empty() ? "" : ":") + text;
    return text + copies;
  }

private:
  const LinearLayout &layout;
  Span owners;
  std::string copies;
};

struct Slice {
  int64_t first;         // the element at row 0, column 0 of the slice
  int64_t rows, columns; // the rows and columns that are shown
  int64_t stride;        // the number of elements in a row
};

std::string printSlice(const OwnerNames &owners, const Slice &slice) {
  std::vector<std::string> cells;
  size_t width = 0;
  for (int64_t row = 0; row < slice.rows; ++row)
    for (int64_t column = 0; column < slice.columns; ++column) {
      cells.push_back(owners.name(static_cast<uint64_t>(slice.first + row * slice.stride + column)));
      width = std::max(width, cells.back().size());
    }
  width = std::max(width, std::to_string(slice.columns - 1).size());
  std::string text = padded("", 6);
  for (int64_t column = 0; column < slice.columns; ++column)
    text += " " + padded(std::to_string(column), width);
  text += "\n";
  for (int64_t row = 0; row < slice.rows; ++row) {
    text += padded(std::to_string(row), 5) + ":";
    for (int64_t column = 0; column < slice.columns; ++column)
      text += " " + padded(cells[static_cast<size_t>(row * slice.columns + column)], width);
    text += "\n";
  }
  return text;
}

} // namespace

std::string printTable(const LinearLayout &layout, int64_t maxRows, int64_t maxColumns) {
  const std::vector<int64_t> &shape = layout.outShape();
  unsigned rank = layout.rank();
  int64_t columns = rank >= 1 ? shape[rank - 1] : 1;
  int64_t rows = rank >= 2 ? shape[rank - 2] : 1;
  int64_t slices = layout.numElements() / (rows * columns);
  OwnerNames owners(layout);
  std::string text = "tensor " + list(shape) + ", each cell is " + owners.legend() + "\n";
  int64_t rowsLeft = maxRows;
  for (int64_t index = 0; index < slices && rowsLeft > 0; ++index) {
    int64_t first = index * rows * columns;
    if (slices > 1) {
      std::vector<int32_t> coordinate = layout.unflatten(static_cast<uint64_t>(first));
      coordinate.resize(rank - 2);
      text += "slice " + list(coordinate) + "\n";
    }
    int64_t shownRows = std::min(rows, rowsLeft), shownColumns = std::min(columns, maxColumns);
    text += printSlice(owners, {first, shownRows, shownColumns, columns});
    rowsLeft -= shownRows;
  }
  if (columns > maxColumns || rows * slices > maxRows)
    text += "cut to " + std::to_string(std::min(rows * slices, maxRows)) + " of " + std::to_string(rows * slices) +
            " rows and " + std::to_string(std::min(columns, maxColumns)) + " of " + std::to_string(columns) +
            " columns\n";
  return text;
}

} // namespace tile::layout
