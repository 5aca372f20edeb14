// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Simulator/Ptx/Lexer.h"

#include <bit>
#include <charconv>

namespace tile::sim {

namespace {

bool isDigit(char c) {
  return c >= '0' && c <= '9';
}
bool isLetter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool isWord(char c) {
  return isLetter(c) || isDigit(c) || c == '_' || c == '$';
}

class Lexer {
public:
  explicit Lexer(std::string_view text) : text(text) {}

  runtime::Result<std::vector<Token>> run() {
    while (skipBlanks() && at < text.size())
      if (!lexToken())
        break;
    if (!message.empty())
      return runtime::makeError(TILE_ERROR_INVALID_ARGUMENT, "line {}: {}", line, message);
    for (int i = 0; i < 2; ++i)
      tokens.push_back({.line = line, .text = "the end of the file"});
    return std::move(tokens);
  }

private:
  char peek(size_t ahead = 0) const { return at + ahead < text.size() ? text[at + ahead] : '\0'; }
  bool fail(std::string_view what) {
    message = what;
    return false;
  }
  void push(TokenKind kind, size_t begin, size_t end) {
    tokens.push_back({.kind = kind, .line = line, .text = text.substr(begin, end - begin)});
  }

  bool skipBlanks() {
    while (at < text.size()) {
      if (text[at] == '\n') {
        ++line, ++at;
      } else if (text[at] == ' ' || text[at] == '\t' || text[at] == '\r') {
        ++at;
      } else if (text.substr(at, 2) == "//") {
        at = std::min(text.find('\n', at), text.size());
      } else if (text.substr(at, 2) == "/*") {
        size_t end = text.find("*/", at + 2);
        if (end == text.npos)
          return fail("the comment that begins here has no end");
        for (; at < end + 2; ++at)
          line += text[at] == '\n';
      } else {
        return true;
      }
    }
    return true;
  }

  bool lexToken() {
    char c = text[at];
    if (c == '.' && isWord(peek(1)))
      return lexDirective();
    if (isDigit(c))
      return lexNumber();
    if (isWord(c) || (c == '%' && isWord(peek(1)))) {
      size_t begin = at++;
      while (isWord(peek()))
        ++at;
      push(TokenKind::Name, begin, at);
      return true;
    }
    if (c == '"')
      return lexString();
    if (c == '\'')
      return lexCharacter();
    for (std::string_view pair : {"<<", ">>", "<=", ">=", "==", "!=", "&&", "||"})
      if (text.substr(at, 2) == pair) {
        push(TokenKind::Punctuation, at, at + 2);
        at += 2;
        return true;
      }
    if (std::string_view("{}[]()<>,;:@!|+-*/%~&^=?").find(c) == std::string_view::npos)
      return fail(c > ' ' && c < 127 ? fmt::format("unexpected '{}'", c)
                                     : fmt::format("unexpected byte {:#04x}", static_cast<unsigned char>(c)));
    push(TokenKind::Punctuation, at, at + 1);
    ++at;
    return true;
  }

  /// Lexes a directive. `.shared::cta` is one directive.
  bool lexDirective() {
    size_t begin = ++at;
    while (isWord(peek()) || (peek() == ':' && peek(1) == ':' && isWord(peek(2))))
      at += peek() == ':' ? 2 : 1;
    push(TokenKind::Directive, begin, at);
    return true;
  }

  bool lexString() {
    size_t begin = ++at;
    while (peek() != '"') {
      if (at >= text.size() || peek() == '\n')
        return fail("the string has no end");
      at += peek() == '\\' && at + 1 < text.size() ? 2 : 1;
    }
    push(TokenKind::String, begin, at);
    ++at;
    return true;
  }

  bool lexCharacter() {
    size_t begin = at;
    bool isEscape = peek(1) == '\\';
    char c = peek(isEscape ? 2 : 1);
    if (c == '\0' || c == '\n' || peek(isEscape ? 3 : 2) != '\'')
      return fail("malformed character constant");
    if (isEscape)
      c = c == 'n' ? '\n' : c == 't' ? '\t' : c == 'r' ? '\r' : c == '0' ? '\0' : c;
    at += isEscape ? 4 : 3;
    push(TokenKind::Integer, begin, at);
    tokens.back().bits = static_cast<unsigned char>(c);
    return true;
  }

  template <typename T> bool convert(std::string_view digits, T &value, int base) {
    auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
    return error == std::errc() && end == digits.data() + digits.size();
  }

  bool lexNumber() {
    size_t begin = at;
    while (isWord(peek()))
      ++at;
    std::string_view word = text.substr(begin, at - begin);
    if (word.size() >= 2 && word[0] == '0' && (word[1] == 'f' || word[1] == 'F' || word[1] == 'd' || word[1] == 'D'))
      return lexFloatBits(begin, word);
    bool isHex = word.size() >= 2 && (word[1] == 'x' || word[1] == 'X');
    bool isExponent = !isHex && word.find_first_of("eE") != word.npos;
    if (!isHex && ((peek() == '.' && isDigit(peek(1))) || isExponent))
      return lexDecimalFloat(begin);
    std::string_view digits = word;
    bool isUnsigned = digits.back() == 'U';
    if (isUnsigned)
      digits.remove_suffix(1);
    int base = 10;
    if (digits.size() > 1 && digits[0] == '0') {
      base = isHex ? 16 : digits[1] == 'b' || digits[1] == 'B' ? 2 : 8;
      digits.remove_prefix(base == 8 ? 1 : 2);
    }
    uint64_t value = 0;
    if (digits.empty() || !convert(digits, value, base))
      return fail(fmt::format("malformed number '{}'", word));
    push(TokenKind::Integer, begin, at);
    tokens.back().bits = value;
    tokens.back().isUnsigned = isUnsigned;
    return true;
  }

  bool lexFloatBits(size_t begin, std::string_view word) {
    bool isSingle = word[1] == 'f' || word[1] == 'F';
    uint64_t value = 0;
    if (word.size() != (isSingle ? 10 : 18) || !convert(word.substr(2), value, 16))
      return fail(fmt::format("'{}' should have {} hexadecimal digits", word, isSingle ? 8 : 16));
    push(TokenKind::Float, begin, at);
    tokens.back().bits = value;
    tokens.back().floatBits = isSingle ? 32 : 64;
    return true;
  }

  bool lexDecimalFloat(size_t begin) {
    double value = 0;
    auto [end, error] = std::from_chars(text.data() + begin, text.data() + text.size(), value);
    at = end - text.data();
    if (error != std::errc() || isWord(peek()))
      return fail(fmt::format("malformed number '{}'", text.substr(begin, std::min<size_t>(at + 1 - begin, 40))));
    push(TokenKind::Float, begin, at);
    tokens.back().bits = std::bit_cast<uint64_t>(value);
    tokens.back().floatBits = 64;
    return true;
  }

  std::string_view text;
  size_t at = 0;
  uint32_t line = 1;
  std::string message;
  std::vector<Token> tokens;
};

} // namespace

runtime::Result<std::vector<Token>> lexPtx(std::string_view text) {
  return Lexer(text).run();
}

} // namespace tile::sim
