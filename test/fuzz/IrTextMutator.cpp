// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Mutates the text of IR.
#include "fuzz/IrMutator.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"

using namespace tile::fuzz;
using llvm::StringRef;

static llvm::SmallVector<StringRef> linesOf(StringRef text) {
  llvm::SmallVector<StringRef> lines;
  text.split(lines, '\n');
  return lines;
}

/// Finds names, integers and signs.
static llvm::SmallVector<StringRef> tokensOf(StringRef text) {
  llvm::SmallVector<StringRef> tokens;
  auto isWord = [](char c) { return llvm::isAlnum(c) || c == '_' || c == '.' || c == '%' || c == '#' || c == '!'; };
  while (!text.empty()) {
    size_t length = text.take_while(isWord).size();
    if (length == 0 && !llvm::isSpace(text.front()))
      length = 1;
    if (length != 0)
      tokens.push_back(text.take_front(length));
    text = text.drop_front(std::max<size_t>(length, 1));
  }
  return tokens;
}

std::string IrMutator::mutateText(std::string_view text, std::string_view other) {
  llvm::SmallVector<StringRef> lines = linesOf(text);
  size_t first = below(lines.size());
  auto iterator = lines.begin() + first;
  switch (below(6)) {
  case 0:
    lines.erase(iterator, iterator + 1 + below(std::min<size_t>(4, lines.size() - first)));
    return llvm::join(lines, "\n");
  case 1: {
    StringRef copy = *iterator;
    lines.insert(lines.begin() + below(lines.size()), copy);
    return llvm::join(lines, "\n");
  }
  case 2:
    std::swap(*iterator, lines[below(lines.size())]);
    return llvm::join(lines, "\n");
  case 3: {
    llvm::SmallVector<StringRef> others = linesOf(other);
    lines.insert(iterator, others[below(others.size())]);
    return llvm::join(lines, "\n");
  }
  default:
    break;
  }
  // Replaces a token of a line by another one of the text, or by another integer; here or in the whole text.
  llvm::SmallVector<StringRef> tokens = tokensOf(*iterator), words = tokensOf(lines[below(lines.size())]);
  if (tokens.empty() || words.empty())
    return std::string(text);
  StringRef token = tokens[below(tokens.size())];
  std::string word = words[below(words.size())].str();
  if (int64_t number; !token.getAsInteger(10, number))
    word = std::to_string(changed(number));
  std::string result(text);
  size_t place = token.data() - text.data();
  bool everywhere = oneIn(4);
  result.replace(place, token.size(), word);
  for (size_t next = 0; everywhere && token.size() > 1 && (next = result.find(token, next)) != std::string::npos;
       next += word.size())
    result.replace(next, token.size(), word);
  return result;
}
