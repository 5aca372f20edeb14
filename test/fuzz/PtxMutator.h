// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Mutates PTX by tokens and lines, so that most results still parse and some run: integers are replaced by extreme
// values of types and memories, words by others of the text, and lines are copied, moved and deleted.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace tile::fuzz {

class PtxMutator {
public:
  explicit PtxMutator(unsigned seed) : random(seed) {}

  std::string mutate(std::string text);
  /// Returns `first` with some lines of `second` inserted.
  std::string crossOver(std::string_view first, std::string_view second);

private:
  struct Span {
    size_t begin, end;
  };
  size_t below(size_t count) { return count ? static_cast<size_t>(random() % count) : 0; }
  std::vector<Span> wordsOf(std::string_view text);
  static std::vector<Span> linesOf(std::string_view text);
  std::string number();
  std::string changeWord(std::string text);
  std::string changeLine(std::string text);

  std::minstd_rand random;
};

} // namespace tile::fuzz
