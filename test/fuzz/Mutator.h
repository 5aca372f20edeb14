// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Mutates .tile programs by tokens and lines, so that most results are still valid for the parser. Inserted words come
// from Tokens.def, Builtins.def and the program itself.

#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace tile::fuzz {

class Mutator {
public:
  explicit Mutator(unsigned seed) : random(seed) {}

  std::string mutate(std::string_view text);
  /// Returns `first` with some lines of `second` inserted.
  std::string crossOver(std::string_view first, std::string_view second);

private:
  struct Span {
    size_t begin, end;
  };

  /// Returns a value from 0 to count - 1; count is positive.
  size_t below(size_t count) { return static_cast<size_t>(random() % count); }
  Span someOf(size_t count, size_t most);

  std::vector<Span> tokensOf(std::string_view text);
  std::vector<Span> bracketsOf(std::string_view text, const std::vector<Span> &tokens);
  std::string word(std::string_view text, const std::vector<Span> &tokens);
  std::string number();
  std::string statement(std::string_view text, const std::vector<Span> &tokens);

  std::string mutateTokens(std::string_view text, const std::vector<Span> &tokens);
  std::string mutateLines(std::string_view text);
  std::string mutateBrackets(std::string_view text, const std::vector<Span> &tokens);
  std::string mutateOptions(std::string_view text, const std::vector<Span> &tokens);

  std::minstd_rand random;
};

} // namespace tile::fuzz
