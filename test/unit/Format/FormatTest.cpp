// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tests the style by examples, and that formatting does not change the meaning of a program, by comparing syntax trees
// in the form in which Python prints them.
#include "Format/Format.h"
#include "Frontend/Syntax/Lexer.h"
#include "Frontend/Syntax/Parser.h"
#include "Frontend/Syntax/Unparse.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

using namespace tile::frontend;

namespace {

std::string formatted(const std::string &text) {
  DiagnosticEngine diagnostics;
  std::optional<std::string> result = tile::format::format({"k.tile", text}, diagnostics);
  return result ? *result : diagnostics.render();
}

std::string treeOf(const std::string &text) {
  DiagnosticEngine diagnostics;
  std::string tree = dumpAst(parse({"k.tile", text}, diagnostics));
  for (const Diagnostic &diagnostic : diagnostics.all())
    tree += diagnostic.name + diagnostic.message;
  return tree;
}

/// Returns the directives, each with the token that follows it.
std::string directivesOf(const std::string &text) {
  TokenStream stream = lexFile(text, 0);
  std::string found;
  for (const DirectiveLine &line : stream.directives) {
    size_t before = 0;
    while (stream.tokens[before].range.begin < line.range.begin)
      ++before;
    std::string directive = text.substr(line.range.begin, line.range.end - line.range.begin);
    found += directive.substr(0, directive.find_last_not_of(" \t") + 1) + std::to_string(before) + "\n";
  }
  return found;
}

std::string commentsOf(const std::string &text) {
  TokenStream stream = lexFile(text, 0);
  std::string found;
  uint32_t at = 0;
  for (const Token &token : stream.tokens) {
    for (std::istringstream gap(text.substr(at, token.range.begin - std::min(at, token.range.begin))); gap;) {
      std::string line;
      std::getline(gap, line);
      if (size_t begin = line.find('#'); begin != std::string::npos)
        found += line.substr(begin, line.find_last_not_of(" \t") + 1 - begin) + "\n";
    }
    at = std::max(at, token.range.end);
  }
  return found;
}

std::vector<std::pair<std::string, std::string>> programs(const std::string &folder) {
  std::vector<std::pair<std::string, std::string>> programs;
  for (const auto &entry : std::filesystem::recursive_directory_iterator(TILE_SOURCE "/" + folder))
    if (entry.path().extension() == ".tile") {
      std::ostringstream text;
      text << std::ifstream(entry.path()).rdbuf();
      programs.emplace_back(entry.path().string(), text.str());
    }
  std::sort(programs.begin(), programs.end());
  return programs;
}

/// Changes blanks, line breaks inside brackets, and comments, none of which affect the meaning.
std::string reflowed(const std::string &text, std::mt19937 &random) {
  std::string out;
  int depth = 0;
  uint32_t at = 0;
  auto copyTo = [&](uint32_t end) {
    if (end > at)
      out += text.substr(at, end - at);
    at = std::max(at, end);
  };
  TokenStream stream = lexFile(text, 0);
  for (size_t i = 0; i + 1 < stream.tokens.size(); ++i) {
    const Token &token = stream.tokens[i], &next = stream.tokens[i + 1];
    copyTo(token.range.end);
    std::string_view spelled = spelling(token.kind);
    depth += spelled == "(" || spelled == "[" || spelled == "{";
    depth -= spelled == ")" || spelled == "]" || spelled == "}";
    bool isMark = token.kind == Tok::Newline || token.kind == Tok::Indent || token.kind == Tok::Dedent;
    bool hasGap = text.find_first_of("#\n\\", at) < next.range.begin; // comments are kept
    if (isMark || hasGap || next.kind == Tok::Newline || next.kind == Tok::End)
      continue;
    auto isPart = [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '"' || c == '\'';
    };
    bool needsBlank = isPart(out.back()) && isPart(text[next.range.begin]);
    needsBlank |= next.range.begin > at && (token.kind == Tok::Int || std::ispunct(out.back())) &&
                  !isPart(text[next.range.begin]);
    at = next.range.begin;
    switch (random() % 8) {
    case 0:
      out += depth > 0 ? "\n" : "  ";
      break;
    case 1:
      out += depth > 0 ? " # why\n\n\n  " : " \\\n ";
      break;
    case 2:
      out += "   ";
      break;
    default:
      out += needsBlank ? " " : "";
    }
  }
  copyTo(text.size());
  return out;
}

void expectSameProgram(const std::string &path, const std::string &before, const std::string &after) {
  EXPECT_EQ(treeOf(before), treeOf(after)) << path;
  EXPECT_EQ(directivesOf(before), directivesOf(after)) << path;
  EXPECT_EQ(commentsOf(before), commentsOf(after)) << path;
  EXPECT_EQ(formatted(after), after) << path;
}

bool isFormattable(const std::string &text) {
  DiagnosticEngine diagnostics;
  return tile::format::format({"k.tile", text}, diagnostics).has_value();
}

TEST(Format, ExamplesAreInTheStyle) {
  for (const auto &[path, text] : programs("examples"))
    EXPECT_EQ(formatted(text), text) << path;
}

TEST(Format, ProgramsStayTheSame) {
  for (const auto &[path, text] : programs("test"))
    if (isFormattable(text))
      expectSameProgram(path, text, formatted(text));
}

TEST(Format, ReflowedProgramsAreTheSame) {
  std::mt19937 random(1);
  for (const std::string folder : {"examples", "test/Exec"})
    for (const auto &[path, text] : programs(folder)) {
      std::string other = reflowed(text, random);
      ASSERT_EQ(treeOf(other), treeOf(text)) << path << "\n" << other;
      std::string result = formatted(other);
      EXPECT_NE(result, other) << path;
      expectSameProgram(path, other, result);
    }
}

TEST(Format, BlanksAloneMakeNoDifference) {
  std::mt19937 random(2);
  for (const auto &[path, text] : programs("examples")) {
    std::string wide;
    // Widens blanks everywhere except in strings, in comments and at the start of lines.
    uint32_t at = 0;
    for (const Token &token : lexFile(text, 0).tokens) {
      uint32_t end = std::max(at, token.range.begin);
      bool isInLine = end > at && text.find_first_not_of(' ', at) >= end && !wide.empty() && wide.back() != '\n';
      wide += isInLine ? std::string(1 + random() % 3, ' ') : text.substr(at, end - at);
      wide += text.substr(end, std::max(end, token.range.end) - end);
      at = std::max(end, token.range.end);
    }
    EXPECT_EQ(formatted(wide + text.substr(at)), text) << path;
  }
}

struct Case {
  const char *what, *before, *after;
};

TEST(Format, Style) {
  for (const Case &one : std::initializer_list<Case>{
           {"operators", "x=- a+b *-c** 2\ny = not(a)or~b\n", "x = -a + b * -c ** 2\ny = not (a) or ~b\n"},
           {"arguments", "f (a = 1 , * b, ** c)\n", "f(a=1, *b, **c)\n"},
           {"parameters", "def f(a,b=1,c:i32=2)->i32 : pass\n", "def f(a, b=1, c: i32 = 2) -> i32: pass\n"},
           {"lambda", "f = lambda x,y=1 :x\ng(lambda:1)\n", "f = lambda x, y=1: x\ng(lambda: 1)\n"},
           {"slices", "x [ : ,None,a+1 : b ,:: 2]\n", "x[:, None, a + 1:b, ::2]\n"},
           {"dictionary", "d={'a':1}\n", "d = {'a': 1}\n"},
           {"annotation", "x :constexpr=3\n", "x: constexpr = 3\n"},
           {"decorator", "@ a.b( 1 )\ndef f():\n  pass\n", "@a.b(1)\ndef f():\n    pass\n"},
           {"product", "c=a@b\n", "c = a @ b\n"},
           {"number", "x = 1 .real\n", "x = 1 .real\n"},
           {"imports", "from . a import( b , c )\nfrom .. import d\n", "from .a import (b, c)\nfrom .. import d\n"},
           {"statements", "a=1 ;b=2\n", "a = 1; b = 2\n"},
           {"strings", "f('#',\"a\" 'b', b'c',f'{x:>{w}}')\n", "f('#', \"a\" 'b', b'c', f'{x:>{w}}')\n"},
           {"aligned", "f(a,\n b,\n  c)\n", "f(a,\n  b,\n  c)\n"},
           {"hanging", "x = f(\na,\n  b\n   )\n", "x = f(\n    a,\n    b\n)\n"},
           {"backslash", "x = 1+\\\n2\n", "x = 1 + \\\n    2\n"},
           {"comment", "x = 1 # why\n", "x = 1  # why\n"},
           {"column of comments", "x = 1    # a\nyy = 2   # b\n", "x = 1   # a\nyy = 2  # b\n"},
           {"comments in brackets", "f(# one\n  a, # two\n # three\n b)\n",
            "f(  # one\n    a,  # two\n    # three\n    b)\n"},
           {"comments of blocks", "if a:\n  # in\n  b\n  # still in\n# out\nelse:\n  c\n",
            "if a:\n    # in\n    b\n    # still in\n# out\nelse:\n    c\n"},
           {"blank lines", "\n\na = 1\n\n\n\nb = 2\nif c:\n\n  d\n\n\n  e\n\n\n",
            "a = 1\n\n\nb = 2\nif c:\n    d\n\n    e\n"},
           {"functions", "a = 1\ndef f():\n  pass\n# of g\n@b\n\ndef g():\n  pass\nc = 1\n",
            "a = 1\n\n\ndef f():\n    pass\n\n\n# of g\n@b\ndef g():\n    pass\n\n\nc = 1\n"},
           {"head of a function", "a = 1\n# of a\n\n#: grid(1)\n\ndef f():\n  pass\n",
            "a = 1\n# of a\n\n\n#: grid(1)\n\ndef f():\n    pass\n"},
           {"methods", "class A:\n\n  x = 1\n  def f(self): pass\n  def g(self): pass\n",
            "class A:\n    x = 1\n\n    def f(self): pass\n\n    def g(self): pass\n"},
           {"directives", "  #:  grid( 1 )  \n@tile.kernel\ndef k(): pass\n",
            "#:  grid( 1 )\n@tile.kernel\ndef k(): pass\n"},
           {"line ends", "a = 1\r\nb = 2", "a = 1\nb = 2\n"},
           {"tabs", "if a:\n\tb\n\tif c:\n\t  d\n", "if a:\n    b\n    if c:\n        d\n"},
           {"nothing", "\n  \n", ""},
       }) {
    EXPECT_EQ(formatted(one.before), one.after) << one.what;
    EXPECT_EQ(formatted(one.after), one.after) << one.what;
  }
}

TEST(Format, LongLinesBreak) {
  const std::string a(40, 'a'), b(40, 'b'), c(40, 'c');
  EXPECT_EQ(formatted("f(" + a + ", " + b + ", " + c + ", d,\n  e)\n"),
            "f(" + a + ", " + b + ",\n  " + c + ", d, e)\n");
  EXPECT_EQ(formatted("f(" + a + ", g(" + b + ", " + c + "))\n"), "f(" + a + ",\n  g(" + b + ", " + c + "))\n");
  EXPECT_EQ(formatted("f(" + a + " + " + b + " + " + c + ")\n"), "f(" + a + " + " + b + "\n  + " + c + ")\n");
  EXPECT_EQ(formatted("x = " + a + b + c + ".y[" + a + ", 1]\n"), "x = " + a + b + c + ".y[" + a + ", 1]\n");
}

TEST(Format, SaysWhyItCannot) {
  for (auto [text, name] : {std::pair{"f(a\n", "unclosed-bracket"},
                            {"x = 'a\n", "unterminated-string"},
                            {"x = a)\n", "unmatched-bracket"},
                            {"if a:\n    b\n  c\n", "inconsistent-dedent"}})
    EXPECT_NE(formatted(text).find(name), std::string::npos) << text << formatted(text);
}

} // namespace
