// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Each call makes one change; libFuzzer calls several times a run.
#include "fuzz/Mutator.h"

#include "Frontend/Syntax/Lexer.h"

#include <algorithm>
#include <array>

namespace tile::fuzz {

namespace {

struct Builtin {
  std::string_view name, parameters;
};

constexpr Builtin builtins[] = {
#define TILE_BUILTIN(name, parameters, emitter, flags) {name, parameters},
#include "Frontend/Syntax/Builtins.def"
};

constexpr std::string_view tokens[] = {
#define TILE_KEYWORD(name, spelling) spelling,
#define TILE_OPERATOR(name, spelling) spelling,
#include "Frontend/Syntax/Tokens.def"
};

/// Words of the language other than functions; extreme values of types, and other limits.
constexpr std::string_view words[] = {
    "tl.int1",       "tl.int8",      "tl.int16",    "tl.int32",   "tl.int64",   "tl.uint8",      "tl.uint32",
    "tl.uint64",     "tl.float16",   "tl.bfloat16", "tl.float32", "tl.float64", "tl.float8e4nv", "tl.float8e5",
    "tl.constexpr",  "constexpr",    "auto",        "i32",        "f32",        "ptr[f16]",      "ptr[i64, 2]",
    "desc[f16, 64]", "True",         "False",       "None",       ".T",         ".dtype",        ".shape",
    ".element_ty",   ".to(tl.int1)", "[:, None]",   "[None, :]",  "[0]",        "[-1]",          "float('inf')",
    "float('nan')",  "\"relu\"",     "f'{x}'",      "()",         "(1,)",       "range(4)",      "lambda x: x",
    "@tile.kernel",  "@triton.jit",  "#: grid(1)",  "...",        "*args",      "math.pi",       "triton.cdiv",
};

constexpr std::string_view numbers[] = {
    "0",
    "1",
    "2",
    "3",
    "16",
    "64",
    "128",
    "1000",
    "65536",
    "2147483647",
    "2147483648",
    "4294967296",
    "1048576",
    "9223372036854775807",
    "-1",
    "-128",
    "1e-40",
    "1e400",
    "0.5",
    "1e38",
    "18446744073709551616",
    "1 << 20",
    "1 << 126",
    "2 ** 100",
    "0x7F",
    "-2147483648",
    "170141183460469231731687303715884105727",
};

constexpr std::string_view statements[] = {
    "for i in range(0, 4):",
    "for i in tl.static_range(3):",
    "while i < n:",
    "if x > 0:",
    "else:",
    "return",
    "return x",
    "break",
    "continue",
    "pass",
    "x += 1",
    "x, y = y, x",
    "x: tl.constexpr = 4",
    "x = tuple = (1, 2.0, None)",
    "assert x > 0, 'x'",
    "x = f(x)",
};

template <typename T, size_t count> const T &pick(const T (&items)[count], size_t index) {
  return items[index % count];
}

std::string replaced(std::string_view text, size_t begin, size_t end, std::string_view with) {
  return std::string(text.substr(0, begin)).append(with).append(text.substr(end));
}

std::vector<std::string_view> linesOf(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    size_t length = std::min(text.find('\n'), text.size() - 1) + 1;
    lines.push_back(text.substr(0, length));
    text.remove_prefix(length);
  }
  return lines;
}

std::string_view indentation(std::string_view line) {
  return line.substr(0, std::min(line.find_first_not_of(" \t"), line.size()));
}

/// Returns the line with the indentation of another one.
std::string indented(std::string_view line, std::string_view like) {
  return std::string(indentation(like)).append(line.substr(indentation(line).size()));
}

} // namespace

Mutator::Span Mutator::someOf(size_t count, size_t most) {
  size_t begin = below(count);
  return {begin, begin + 1 + below(std::min(most, count - begin))};
}

std::vector<Mutator::Span> Mutator::tokensOf(std::string_view text) {
  std::vector<Span> spans;
  for (const frontend::Token &token : frontend::lexFile(text, 0).tokens)
    if (token.range.begin < token.range.end && token.range.end <= text.size() && token.kind != frontend::Tok::Newline &&
        token.kind != frontend::Tok::Indent)
      spans.push_back({token.range.begin, token.range.end});
  // An unclosed bracket is an error token after the tokens that it holds.
  std::sort(spans.begin(), spans.end(), [](Span a, Span b) { return a.begin < b.begin; });
  return spans;
}

/// Finds the contents of closed brackets.
std::vector<Mutator::Span> Mutator::bracketsOf(std::string_view text, const std::vector<Span> &tokens) {
  std::vector<Span> found;
  std::vector<size_t> open;
  for (Span token : tokens) {
    if (std::string_view("([{").find(text[token.begin]) != std::string_view::npos) {
      open.push_back(token.end);
    } else if (std::string_view(")]}").find(text[token.begin]) != std::string_view::npos && !open.empty()) {
      found.push_back({open.back(), token.begin});
      open.pop_back();
    }
  }
  return found;
}

std::string Mutator::number() {
  return std::string(pick(numbers, below(std::size(numbers))));
}

std::string Mutator::word(std::string_view text, const std::vector<Span> &own) {
  switch (below(6)) {
  case 0:
    return std::string(pick(tokens, below(std::size(tokens))));
  case 1:
    return "tl." + std::string(pick(builtins, below(std::size(builtins))).name);
  case 2:
    return std::string(pick(words, below(std::size(words))));
  case 3:
    return number();
  default:
    if (own.empty())
      return number();
    Span token = own[below(own.size())];
    return std::string(text.substr(token.begin, token.end - token.begin));
  }
}

/// Returns a call with about as many arguments as the function has parameters, or one of the statements above.
std::string Mutator::statement(std::string_view text, const std::vector<Span> &own) {
  if (below(4) == 0)
    return std::string(pick(statements, below(std::size(statements))));
  std::vector<std::string> names{"x", "0", "64"};
  for (Span token : own)
    if (std::isalpha(static_cast<unsigned char>(text[token.begin])))
      names.emplace_back(text.substr(token.begin, token.end - token.begin));
  const Builtin &builtin = pick(builtins, below(std::size(builtins)));
  std::string_view name = builtin.name;
  if (name.starts_with("builtins."))
    name.remove_prefix(9);
  bool isMethod = below(3) == 0;
  std::string call = isMethod ? names[below(names.size())] + "." : "tl.";
  call.append(name) += '(';
  size_t known =
      builtin.parameters.empty() ? 0 : 1 + std::count(builtin.parameters.begin(), builtin.parameters.end(), ',');
  size_t given = known ? below(known + 1) : 0;
  for (size_t i = 0; i < given; ++i)
    call.append(i ? ", " : "").append(below(4) ? names[below(names.size())] : word(text, own));
  call += ')';
  return names[below(names.size())] + (below(4) ? " = " : " += ") + call;
}

std::string Mutator::mutateTokens(std::string_view text, const std::vector<Span> &own) {
  Span some = someOf(own.size(), 4);
  size_t begin = own[some.begin].begin, end = own[some.end - 1].end;
  Span other = own[below(own.size())];
  switch (below(6)) {
  case 0:
    return replaced(text, begin, end, "");
  case 1:
    return replaced(text, other.begin, other.begin, std::string(text.substr(begin, end - begin)) + " ");
  case 2:
    return replaced(text, begin, end, text.substr(other.begin, other.end - other.begin));
  case 3:
    return replaced(text, other.begin, other.begin, word(text, own) + " ");
  default:
    return replaced(text, other.begin, other.end, word(text, own));
  }
}

std::string Mutator::mutateLines(std::string_view text) {
  std::vector<std::string_view> lines = linesOf(text);
  Span some = someOf(lines.size(), 4);
  size_t at = below(lines.size());
  std::vector<Span> own = tokensOf(text);
  std::string added;
  if (unsigned choice = below(3); choice == 0)
    added = indented(statement(text, own) + "\n", lines[at]);
  else if (choice == 1)
    for (size_t i = some.begin; i < some.end; ++i)
      added += indented(lines[i], lines[at]);
  std::string out;
  for (size_t i = 0; i < lines.size(); ++i) {
    if (i == at)
      out += added;
    if (!added.empty() || i < some.begin || i >= some.end)
      out += lines[i];
  }
  // Indents the lines that follow a line with a block by one more level.
  if (size_t colon = out.find(":\n"); colon != std::string::npos && below(8) == 0)
    out.insert(colon + 2, "    ");
  return out;
}

std::string Mutator::mutateBrackets(std::string_view text, const std::vector<Span> &own) {
  std::vector<Span> brackets = bracketsOf(text, own);
  if (brackets.empty())
    return mutateTokens(text, own);
  Span target = brackets[below(brackets.size())], source = brackets[below(brackets.size())];
  std::string inside(text.substr(target.begin, target.end - target.begin));
  switch (below(4)) {
  case 0: // the same contents, nested once more
    return replaced(text, target.begin, target.end, "(" + inside + ")");
  case 1:
    return replaced(text, target.begin, target.end, inside + ", " + word(text, own));
  case 2:
    return replaced(text, target.begin, target.end, statement(text, own).append("  "));
  default:
    return replaced(text, target.begin, target.end, text.substr(source.begin, source.end - source.begin));
  }
}

/// Mutates the line of options, which FrontendFuzzer.cpp describes.
std::string Mutator::mutateOptions(std::string_view text, const std::vector<Span> &own) {
  std::vector<std::string_view> lines = linesOf(text);
  std::string line = "#fuzz:";
  bool hasOptions = lines[0].starts_with(line);
  if (hasOptions && below(2))
    line = lines[0].substr(0, lines[0].find('\n'));
  constexpr std::string_view options[] = {"tile1", "debug", "names", "signature=*fp16,i32", "signature=i64:16"};
  if (below(2))
    line.append(" ").append(pick(options, below(std::size(options))));
  else
    line += " " + word(text, own) + "=" + (below(2) ? "auto" : number());
  return line + "\n" + std::string(text.substr(hasOptions ? lines[0].size() : 0));
}

std::string Mutator::mutate(std::string_view text) {
  std::vector<Span> own = tokensOf(text);
  if (own.empty())
    return std::string(text) + word(text, own);
  switch (below(10)) {
  case 0:
    return mutateOptions(text, own);
  case 1:
  case 2:
    return mutateBrackets(text, own);
  case 3:
  case 4:
  case 5:
    return mutateLines(text);
  default:
    return mutateTokens(text, own);
  }
}

std::string Mutator::crossOver(std::string_view first, std::string_view second) {
  std::vector<std::string_view> lines = linesOf(first), others = linesOf(second);
  if (lines.empty() || others.empty())
    return std::string(first.empty() ? second : first);
  Span some = someOf(others.size(), 12);
  size_t at = below(lines.size());
  bool keepsIndentation = below(2);
  std::string out;
  for (size_t i = 0; i < lines.size(); ++i) {
    out += lines[i];
    for (size_t j = some.begin; i == at && j < some.end; ++j)
      out += keepsIndentation ? std::string(others[j]) : indented(others[j], lines[i]);
  }
  return out;
}

} // namespace tile::fuzz
