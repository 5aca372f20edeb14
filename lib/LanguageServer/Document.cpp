// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Converts positions: the front end counts bytes, and the protocol counts UTF-16 units.
#include "LanguageServer/Document.h"

#include "Frontend/Syntax/Lexer.h"

#include "llvm/ADT/StringExtras.h"

namespace tile::lsp {

using frontend::SourceRange;

static bool isWordCharacter(char c) {
  return llvm::isAlnum(c) || c == '_' || c == '.';
}

/// Returns the size of the character with this lead byte, in bytes and in UTF-16 units (two outside the BMP).
static std::pair<uint32_t, uint32_t> sizeOf(char lead) {
  auto byte = static_cast<unsigned char>(lead);
  if (byte >= 0xF0)
    return {4, 2};
  return {byte >= 0xE0 ? 3 : byte >= 0xC0 ? 2 : 1, 1};
}

uint32_t Document::offset(uint32_t line, uint32_t character) const {
  if (line >= lines.locate(source.text.size()).line)
    return source.text.size();
  std::string_view content = lines.line(line + 1);
  uint32_t at = 0;
  for (uint32_t units = 0; at < content.size() && units < character;) {
    auto [bytes, width] = sizeOf(content[at]);
    at += bytes;
    units += width;
  }
  return lines.lineStart(line + 1) + std::min<uint32_t>(at, content.size());
}

llvm::json::Object Document::position(uint32_t offset) const {
  offset = std::min<uint32_t>(offset, source.text.size());
  const uint32_t line = lines.locate(offset).line;
  std::string_view content = lines.line(line);
  const uint32_t column = std::min<uint32_t>(offset - lines.lineStart(line), content.size());
  uint32_t units = 0;
  for (uint32_t at = 0; at < column;) {
    auto [bytes, width] = sizeOf(content[at]);
    at += bytes;
    units += width;
  }
  return llvm::json::Object{{"line", line - 1}, {"character", units}};
}

llvm::json::Object Document::range(frontend::SourceRange range) const {
  return llvm::json::Object{{"start", position(range.begin)}, {"end", position(std::max(range.begin, range.end))}};
}

llvm::StringRef Document::wordBefore(uint32_t offset) const {
  uint32_t begin = offset;
  while (begin > 0 && isWordCharacter(source.text[begin - 1]))
    --begin;
  return text().slice(begin, offset);
}

llvm::StringRef Document::wordAround(uint32_t offset) const {
  uint32_t end = offset;
  while (end < source.text.size() && isWordCharacter(source.text[end]) && source.text[end] != '.')
    ++end;
  return wordBefore(end);
}

llvm::json::Array Document::replaceBy(llvm::StringRef newText) const {
  llvm::StringRef oldText = text();
  if (newText == oldText)
    return {};
  const size_t shorter = std::min(oldText.size(), newText.size());
  size_t prefix = 0, suffix = 0, lineStart = 0, whole = 0; // `lineStart` and `whole` cover whole lines
  for (; prefix < shorter && oldText[prefix] == newText[prefix]; ++prefix)
    if (oldText[prefix] == '\n')
      lineStart = prefix + 1;
  const size_t remaining = shorter - lineStart;
  for (; suffix < remaining && oldText[oldText.size() - suffix - 1] == newText[newText.size() - suffix - 1]; ++suffix)
    if (oldText[oldText.size() - suffix - 1] == '\n')
      whole = suffix;
  SourceRange changed{uint32_t(lineStart), uint32_t(oldText.size() - whole), 0};
  llvm::StringRef inserted = newText.slice(lineStart, newText.size() - whole);
  return llvm::json::Array{llvm::json::Object{{"range", range(changed)}, {"newText", llvm::json::fixUTF8(inserted)}}};
}

const ScopeTree &Document::scopes() const {
  if (!scopeTree)
    scopeTree.emplace(source.text);
  return *scopeTree;
}

std::set<std::string> Document::names() const {
  std::set<std::string> names;
  bool followsDot = false;
  for (const frontend::Token &token : frontend::lexFile(source.text, 0).tokens) {
    if (token.kind == frontend::Tok::Name && !followsDot)
      names.insert(text().slice(token.range.begin, token.range.end).str());
    followsDot = token.kind == frontend::Tok::Dot;
  }
  return names;
}

} // namespace tile::lsp
