// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The lexer: one pass over the bytes, see Lexer.h for the rules.

#include "Frontend/Syntax/Lexer.h"
#include "Frontend/Syntax/Typography.h"

#include <array>
#include <cstring>

namespace tile::frontend {

namespace {

struct Spelling {
  Tok kind;
  std::string_view text;
};

constexpr std::array keywords = {
#define TILE_KEYWORD(name, spelling) Spelling{Tok::name, spelling},
#define TILE_OPERATOR(name, spelling)
#include "Frontend/Syntax/Tokens.def"
};

constexpr std::array operators = {
#define TILE_KEYWORD(name, spelling)
#define TILE_OPERATOR(name, spelling) Spelling{Tok::name, spelling},
#include "Frontend/Syntax/Tokens.def"
};

constexpr std::string_view tokenSpellings[] = {
#define TILE_TOKEN(name, spelling) spelling,
#include "Frontend/Syntax/Tokens.def"
};

// This is CPython's limit.
constexpr size_t maxIndentLevels = 100;

bool isNameStart(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool isDigit(char c) {
  return c >= '0' && c <= '9';
}
bool isNamePart(char c) {
  return isNameStart(c) || isDigit(c);
}
bool isHighByte(char c) {
  return static_cast<unsigned char>(c) >= 0x80;
}

/// Returns true for keywords that start a statement and cannot occur inside brackets: at the start of a line, they mean
/// that a bracket is unclosed.
bool startsStatementOnly(Tok kind) {
  switch (kind) {
  case Tok::KwAssert:
  case Tok::KwBreak:
  case Tok::KwClass:
  case Tok::KwContinue:
  case Tok::KwDef:
  case Tok::KwDel:
  case Tok::KwGlobal:
  case Tok::KwImport:
  case Tok::KwPass:
  case Tok::KwRaise:
  case Tok::KwReturn:
  case Tok::KwTry:
  case Tok::KwWhile:
  case Tok::KwWith:
    return true;
  default:
    return false;
  }
}

class Lexer {
public:
  Lexer(std::string_view text, SourceRange range, bool isExpression)
      : text(text), position(range.begin), end(std::min<size_t>(range.end, text.size())), file(range.file),
        isExpression(isExpression) {}

  TokenStream run();

private:
  struct Bracket {
    char closing;
    SourceRange range;
  };

  char peek(size_t ahead = 0) const { return position + ahead < end ? text[position + ahead] : '\0'; }
  bool atEnd() const { return position >= end; }
  SourceRange rangeFrom(size_t begin) const {
    return {static_cast<uint32_t>(begin), static_cast<uint32_t>(position), file};
  }
  void add(Tok kind, size_t begin) { stream.tokens.push_back({kind, rangeFrom(begin)}); }
  void addError(Diag error, SourceRange range, std::vector<std::string> arguments = {}) {
    stream.tokens.push_back({Tok::Error, range, error, std::move(arguments)});
  }

  bool atLineEnd() const { return peek() == '\n' || peek() == '\r'; }
  void skipLineEnd();
  void skipBlanks();
  void skipComment();
  void lexIndentation();
  void closeBlocks(size_t column, size_t begin);
  bool checkTabs(size_t column, size_t narrowColumn, std::string_view indentation, size_t begin);
  void lexNewline();
  void lexToken();
  void lexName();
  bool lexPrefixedString();
  void lexNumber();
  size_t skipDigits(bool (*isPart)(char));
  void lexString(size_t begin, bool isFormat, bool isBytes);
  void lexOperator();
  void closeBracket(char closing, size_t begin);
  void lexInvalid();
  void reportOpenBrackets();

  std::string_view text;
  size_t position;
  size_t end;
  uint32_t file;
  bool isExpression;
  bool lineStart = true;
  std::vector<size_t> indents{0};
  /// For each open block: the column as if a tab were one column wide, and the indentation.
  std::vector<std::pair<size_t, std::string_view>> narrowIndents{{0, ""}};
  std::vector<Bracket> brackets;
  TokenStream stream;
};

void Lexer::skipLineEnd() {
  if (peek() == '\r' && peek(1) == '\n')
    ++position;
  ++position;
}

void Lexer::skipComment() {
  size_t begin = position;
  while (!atEnd() && !atLineEnd())
    ++position;
  // After code or inside brackets, it is an ordinary comment.
  size_t first = begin;
  while (first > 0 && (text[first - 1] == ' ' || text[first - 1] == '\t'))
    --first;
  bool isAlone = brackets.empty() && (first == 0 || text[first - 1] == '\n' || text[first - 1] == '\r');
  if (isAlone && begin + 1 < position && text[begin + 1] == ':' && !isExpression)
    stream.directives.push_back({rangeFrom(begin + 2)});
}

/// Skips blanks, comments and joined lines between two tokens of a logical line.
void Lexer::skipBlanks() {
  while (!atEnd()) {
    char c = peek();
    if (c == ' ' || c == '\t' || c == '\f') {
      ++position;
    } else if (c == '\\' && (peek(1) == '\n' || peek(1) == '\r')) {
      ++position;
      skipLineEnd();
    } else if (c == '#') {
      skipComment();
    } else if (atLineEnd() && (isExpression || !brackets.empty())) {
      skipLineEnd();
      lineStart = !brackets.empty();
    } else {
      return;
    }
  }
}

/// Measures the indentation of a line and opens or closes blocks. Blank and comment lines do not count.
void Lexer::lexIndentation() {
  for (;;) {
    size_t column = 0, narrowColumn = 0;
    const size_t lineBegin = position;
    while (!atEnd() && (peek() == ' ' || peek() == '\t' || peek() == '\f')) {
      column = peek() == '\t' ? (column / 8 + 1) * 8 : peek() == '\f' ? 0 : column + 1;
      narrowColumn = peek() == '\f' ? 0 : narrowColumn + 1;
      ++position;
    }
    const std::string_view indentation = text.substr(lineBegin, position - lineBegin);
    if (peek() == '#')
      skipComment();
    if (atEnd())
      return;
    if (atLineEnd()) {
      skipLineEnd();
      continue;
    }
    size_t begin = position;
    while (narrowIndents.size() > 1 && indents[narrowIndents.size() - 1] > column)
      narrowIndents.pop_back();
    if (!checkTabs(column, narrowColumn, indentation, begin)) { // continues in the block that seems to be meant
      closeBlocks(std::min(column, indents.back()), begin);
    } else if (column > indents.back()) {
      if (indents.size() >= maxIndentLevels) {
        addError(Diag::too_deep, rangeFrom(begin), {"blocks", std::to_string(maxIndentLevels)});
        position = end;
        return;
      }
      indents.push_back(column);
      narrowIndents.emplace_back(narrowColumn, indentation);
      add(Tok::Indent, begin);
    } else {
      closeBlocks(column, begin);
    }
    return;
  }
}

/// Checks, as Python does, that the comparison with the enclosing block does not depend on the width of a tab.
bool Lexer::checkTabs(size_t column, size_t narrowColumn, std::string_view indentation, size_t begin) {
  const auto &[narrow, enclosing] = narrowIndents.back();
  const size_t wide = indents[narrowIndents.size() - 1];
  if (column == wide ? narrowColumn == narrow : column < wide || narrowColumn > narrow)
    return true;
  addError(Diag::mixed_indentation, {static_cast<uint32_t>(begin), static_cast<uint32_t>(begin + 1), file},
           {describeBlanks(indentation), describeBlanks(enclosing)});
  return false;
}

void Lexer::closeBlocks(size_t column, size_t begin) {
  while (column < indents.back()) {
    indents.pop_back();
    add(Tok::Dedent, begin);
  }
  if (column == indents.back())
    return;
  // The indentation is between two open blocks. Treat it as the inner one, so that parsing continues.
  stream.tokens.pop_back();
  indents.push_back(column);
  narrowIndents.emplace_back(column, "");
  addError(Diag::inconsistent_dedent, {static_cast<uint32_t>(begin), static_cast<uint32_t>(begin + 1), file});
}

void Lexer::lexNewline() {
  size_t begin = position;
  skipLineEnd();
  add(Tok::Newline, begin);
  lineStart = true;
}

void Lexer::reportOpenBrackets() {
  if (brackets.empty())
    return;
  const Bracket &last = brackets.back();
  addError(Diag::unclosed_bracket, last.range, {std::string(text.substr(last.range.begin, 1))});
  brackets.clear();
}

TokenStream Lexer::run() {
  // A byte order mark is not a token.
  if (!isExpression && text.substr(position).starts_with("\xEF\xBB\xBF"))
    position += 3;
  while (!atEnd()) {
    if (lineStart && brackets.empty() && !isExpression) {
      lineStart = false;
      lexIndentation();
      if (atEnd())
        break;
    }
    skipBlanks();
    if (atEnd())
      break;
    if (atLineEnd())
      lexNewline();
    else
      lexToken();
  }
  reportOpenBrackets();
  size_t begin = position;
  bool lineOpen = !stream.tokens.empty() && stream.tokens.back().kind != Tok::Newline;
  if (!isExpression && lineOpen)
    add(Tok::Newline, begin);
  for (; indents.size() > 1; indents.pop_back())
    add(Tok::Dedent, begin);
  add(Tok::End, begin);
  return std::move(stream);
}

void Lexer::lexToken() {
  char c = peek();
  if (isNameStart(c)) {
    if (!lexPrefixedString())
      lexName();
  } else if (isDigit(c) || (c == '.' && isDigit(peek(1)))) {
    lexNumber();
  } else if (c == '"' || c == '\'') {
    lexString(position, false, false);
  } else {
    lexOperator();
  }
  lineStart = false;
}

void Lexer::lexName() {
  size_t begin = position;
  while (isNamePart(peek()))
    ++position;
  std::string_view name = text.substr(begin, position - begin);
  Tok kind = Tok::Name;
  for (const Spelling &keyword : keywords)
    if (keyword.text == name)
      kind = keyword.kind;
  if (!isExpression && !brackets.empty() && lineStart && startsStatementOnly(kind)) {
    // Restart the line outside the brackets.
    position = begin;
    while (position > 0 && (text[position - 1] == ' ' || text[position - 1] == '\t'))
      --position;
    reportOpenBrackets();
    add(Tok::Newline, position);
    lexIndentation();
    lexName();
    return;
  }
  add(kind, begin);
}

/// Lexes a string with a prefix: r f b u and their pairs, in either case.
bool Lexer::lexPrefixedString() {
  size_t length = 0;
  bool isFormat = false, isBytes = false;
  while (length < 2 && isNameStart(peek(length))) {
    char c = static_cast<char>(peek(length) | 0x20);
    if (!strchr("rfbu", c))
      return false;
    isFormat |= c == 'f';
    isBytes |= c == 'b';
    ++length;
  }
  if (peek(length) != '"' && peek(length) != '\'')
    return false;
  size_t begin = position;
  position += length;
  lexString(begin, isFormat, isBytes);
  return true;
}

void Lexer::lexString(size_t begin, bool isFormat, bool isBytes) {
  char quote = peek();
  bool isTriple = peek(1) == quote && peek(2) == quote;
  position += isTriple ? 3 : 1;
  for (;;) {
    if (atEnd() || (!isTriple && atLineEnd())) {
      SourceRange opening{static_cast<uint32_t>(begin), static_cast<uint32_t>(begin + 1), file};
      addError(Diag::unterminated_string, opening);
      return;
    }
    if (peek() == '\\') {
      // A backslash escapes the next character, in raw strings too; "\r\n" is one line end.
      position += peek(1) == '\r' && peek(2) == '\n' ? 3 : 2;
      position = std::min(position, end);
      continue;
    }
    if (peek() == quote && (!isTriple || (peek(1) == quote && peek(2) == quote)))
      break;
    ++position;
  }
  position += isTriple ? 3 : 1;
  if (isBytes) {
    addError(Diag::bytes_literal, rangeFrom(begin));
    return;
  }
  add(isFormat ? Tok::FString : Tok::String, begin);
}

size_t Lexer::skipDigits(bool (*isPart)(char)) {
  size_t count = 0;
  while (isPart(peek()) || (peek() == '_' && isPart(peek(1)))) {
    ++position;
    ++count;
  }
  return count;
}

void Lexer::lexNumber() {
  size_t begin = position;
  auto isHexDigit = [](char c) {
    return isDigit(c) || (static_cast<char>(c | 0x20) >= 'a' && static_cast<char>(c | 0x20) <= 'f');
  };
  char base = static_cast<char>(peek(1) | 0x20);
  Tok kind = Tok::Int;
  if (peek() == '0' && (base == 'x' || base == 'o' || base == 'b')) {
    position += 2;
    if (peek() == '_')
      ++position;
    if (base == 'x')
      skipDigits(isHexDigit);
    else
      skipDigits(isDigit);
  } else {
    skipDigits(isDigit);
    if (peek() == '.') {
      kind = Tok::Float;
      ++position;
      skipDigits(isDigit);
    }
    bool hasSign = peek(1) == '+' || peek(1) == '-';
    if ((peek() | 0x20) == 'e' && isDigit(peek(hasSign ? 2 : 1))) {
      kind = Tok::Float;
      position += hasSign ? 2 : 1;
      skipDigits(isDigit);
    }
  }
  if (!isNamePart(peek()) && !isHighByte(peek())) {
    add(kind, begin);
    return;
  }
  while (isNamePart(peek()) || isHighByte(peek()))
    ++position;
  addError(Diag::invalid_number, rangeFrom(begin), {std::string(text.substr(begin, position - begin))});
}

void Lexer::closeBracket(char closing, size_t begin) {
  if (brackets.empty()) {
    if (!isExpression)
      addError(Diag::unmatched_bracket, rangeFrom(begin), {std::string(1, closing)});
    return;
  }
  Bracket open = brackets.back();
  brackets.pop_back();
  if (open.closing != closing)
    addError(Diag::mismatched_bracket, rangeFrom(begin),
             {std::string(1, closing), std::string(text.substr(open.range.begin, 1))});
}

void Lexer::lexOperator() {
  for (const Spelling &op : operators) {
    if (!text.substr(position, end - position).starts_with(op.text))
      continue;
    size_t begin = position;
    position += op.text.size();
    switch (op.kind) {
    case Tok::LeftParen:
      brackets.push_back({')', rangeFrom(begin)});
      break;
    case Tok::LeftBracket:
      brackets.push_back({']', rangeFrom(begin)});
      break;
    case Tok::LeftBrace:
      brackets.push_back({'}', rangeFrom(begin)});
      break;
    case Tok::RightParen:
    case Tok::RightBracket:
    case Tok::RightBrace:
      closeBracket(op.text[0], begin);
      break;
    default:
      break;
    }
    add(op.kind, begin);
    return;
  }
  lexInvalid();
}

/// Lexes bytes that start no token. One error covers a run of such bytes.
void Lexer::lexInvalid() {
  size_t begin = position;
  char first = peek();
  ++position;
  if (first == '!') {
    addError(Diag::foreign_operator, rangeFrom(begin), {"!", "not"});
    return;
  }
  if (const auto [name, plain] = typographicQuote(text.substr(begin, 3)); !name.empty()) {
    position = begin + 3;
    addError(Diag::quotation_mark, rangeFrom(begin), {std::string(name), std::string(plain)});
    return;
  }
  while (isHighByte(first) && isHighByte(peek()))
    ++position;
  if (isHighByte(first)) {
    while (isNamePart(peek()) || isHighByte(peek()))
      ++position;
    addError(Diag::non_ascii_name, rangeFrom(begin));
    return;
  }
  bool isPrintable = first >= 0x20 && first < 0x7F;
  constexpr char digits[] = "0123456789abcdef";
  std::string hex = {'0', 'x', digits[(first >> 4) & 15], digits[first & 15]};
  addError(Diag::invalid_character, rangeFrom(begin), {isPrintable ? "'" + std::string(1, first) + "'" : hex});
}

} // namespace

std::string_view spelling(Tok kind) {
  return tokenSpellings[static_cast<size_t>(kind)];
}

TokenStream lexFile(std::string_view text, uint32_t file) {
  Lexer lexer(text, {0, static_cast<uint32_t>(text.size()), file}, /*isExpression=*/false);
  return lexer.run();
}

std::vector<Token> lexExpression(std::string_view text, SourceRange range) {
  return Lexer(text, range, /*isExpression=*/true).run().tokens;
}

} // namespace tile::frontend
