// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Source text and positions in it.
//
// A SourceRange is a half-open byte range of one file; every token, AST node and diagnostic carries one. Lines and
// columns are computed on demand by a LineTable, because only diagnostics and MLIR locations need them.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tile::frontend {

/// Byte offsets have 32 bits; larger kernel sources are not expected.
constexpr size_t maxSourceBytes = size_t(64) << 20;

struct SourceFile {
  std::string name; // as given by the user and shown in diagnostics
  std::string text;
};

struct SourceRange {
  uint32_t begin = 0;
  uint32_t end = 0;
  uint32_t file = 0; // index that DiagnosticEngine::addFile returned
};

/// Returns the smallest range that covers both.
inline SourceRange join(SourceRange first, SourceRange last) {
  return {first.begin, last.end > first.end ? last.end : first.end, first.file};
}

struct LineColumn {
  uint32_t line = 1;   // 1-based
  uint32_t column = 1; // 1-based, in bytes
};

/// Returns the offset of the first byte that is not UTF-8.
std::optional<size_t> findInvalidUtf8(std::string_view text);

/// Maps byte offsets of one text to lines. Lines end at '\n', "\r\n" or a lone '\r', as in Python.
class LineTable {
public:
  explicit LineTable(std::string_view text);

  LineColumn locate(uint32_t offset) const;
  /// Returns a 1-based line without its line end; empty if there is no such line.
  std::string_view line(uint32_t number) const;
  uint32_t lineStart(uint32_t number) const;

private:
  std::string_view text;
  std::vector<uint32_t> starts;
};

} // namespace tile::frontend
