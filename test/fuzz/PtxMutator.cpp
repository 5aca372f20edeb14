// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "PtxMutator.h"

#include <cctype>

namespace tile::fuzz {

namespace {

bool isWord(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$' || c == '%';
}

/// Suffixes that select another variant of the same instruction.
constexpr const char *suffixes[] = {".b8",          ".b16",         ".b32",    ".b64",    ".b128",
                                    ".u32",         ".s64",         ".f32",    ".f16x2",  ".v2",
                                    ".v4",          ".v8",          ".global", ".shared", ".shared::cluster",
                                    ".local",       ".param",       ".const",  ".weak",   ".volatile",
                                    ".acquire.gpu", ".release.cta", ".nc",     ".x2",     ".x4",
                                    ".trans",       ".1d",          ".2d",     ".3d",     ".multicast::cluster",
                                    ".add",         ".exch",        ".cas"};

} // namespace

std::vector<PtxMutator::Span> PtxMutator::wordsOf(std::string_view text) {
  std::vector<Span> words;
  for (size_t at = 0; at < text.size();) {
    size_t end = at;
    while (end < text.size() && isWord(text[end]))
      ++end;
    if (end > at)
      words.push_back({at, end});
    at = end + 1;
  }
  return words;
}

std::vector<PtxMutator::Span> PtxMutator::linesOf(std::string_view text) {
  std::vector<Span> lines;
  for (size_t at = 0; at < text.size();) {
    const size_t end = text.find('\n', at);
    lines.push_back({at, end == text.npos ? text.size() : end + 1});
    at = lines.back().end;
  }
  return lines;
}

std::string PtxMutator::number() {
  constexpr const char *edges[] = {"0",
                                   "1",
                                   "2",
                                   "3",
                                   "4",
                                   "7",
                                   "8",
                                   "15",
                                   "16",
                                   "31",
                                   "32",
                                   "33",
                                   "64",
                                   "128",
                                   "255",
                                   "256",
                                   "1024",
                                   "4096",
                                   "65536",
                                   "524288",
                                   "1048576",
                                   "1073741824",
                                   "0x7fffffff",
                                   "0x80000000",
                                   "0xffffffff",
                                   "0x100000000",
                                   "0xffffffffffffffe0",
                                   "0xffffffffffffffff",
                                   "0x7fffffffffffffff",
                                   "0x8000000000000000",
                                   "0x10000000000",
                                   "0x20000000000",
                                   "0x30000000000",
                                   "0x100000000000"};
  if (below(4))
    return edges[below(std::size(edges))];
  return std::to_string(random() >> below(31));
}

std::string PtxMutator::changeWord(std::string text) {
  const std::vector<Span> words = wordsOf(text);
  if (words.empty())
    return text;
  const Span word = words[below(words.size())];
  const bool isNumber = std::isdigit(static_cast<unsigned char>(text[word.begin]));
  std::string replacement;
  if (isNumber && below(4)) {
    replacement = below(4) ? number() : "-" + number();
  } else if (word.begin > 0 && text[word.begin - 1] == '.' && below(2)) {
    const char *suffix = suffixes[below(std::size(suffixes))];
    if (below(3) == 0)
      return text.insert(word.end, suffix);
    replacement = suffix + 1;
  } else {
    const Span other = words[below(words.size())];
    replacement = text.substr(other.begin, other.end - other.begin);
  }
  return text.replace(word.begin, word.end - word.begin, replacement);
}

std::string PtxMutator::changeLine(std::string text) {
  const std::vector<Span> lines = linesOf(text);
  if (lines.size() < 2)
    return text;
  const Span from = lines[below(lines.size())], to = lines[below(lines.size())];
  const std::string copied = text.substr(from.begin, from.end - from.begin);
  switch (below(3)) {
  case 0:
    return text.insert(to.begin, copied);
  case 1:
    return text.erase(from.begin, from.end - from.begin);
  default: // moved
    text.erase(from.begin, from.end - from.begin);
    return text.insert(to.begin <= from.begin ? to.begin : to.begin - copied.size(), copied);
  }
}

std::string PtxMutator::mutate(std::string text) {
  for (size_t changes = 1 + below(4); changes > 0; --changes)
    text = below(4) ? changeWord(std::move(text)) : changeLine(std::move(text));
  return text;
}

std::string PtxMutator::crossOver(std::string_view first, std::string_view second) {
  const std::vector<Span> into = linesOf(first), lines = linesOf(second);
  std::string text(first);
  if (into.empty() || lines.empty())
    return text;
  const size_t begin = below(lines.size());
  const size_t count = 1 + below(lines.size() - begin);
  const size_t end = lines[begin + count - 1].end;
  return text.insert(into[below(into.size())].begin, second.substr(lines[begin].begin, end - lines[begin].begin));
}

} // namespace tile::fuzz
