// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tests that the lexer and the parser neither crash nor loop on any input.

#include "Frontend/Syntax/Parser.h"
#include "Frontend/Syntax/Unparse.h"

#include <gtest/gtest.h>

#include <random>

using namespace tile::frontend;

namespace {

std::string repeat(std::string_view text, size_t count) {
  std::string out;
  for (size_t i = 0; i < count; ++i)
    out += text;
  return out;
}

/// Returns the messages for 'text' as the body of a function.
std::string messages(const std::string &text) {
  DiagnosticEngine diagnostics;
  Module module = parse({"<test>", "@jit\ndef f():\n" + text + "\n"}, diagnostics);
  dumpAst(module);
  return diagnostics.render();
}

TEST(Robustness, DeepNestingIsAnError) {
  for (std::string text :
       {" x = " + repeat("(", 5000), " x = " + repeat("[", 100000) + repeat("]", 100000),
        " x = " + repeat("-", 100000) + "1", " x = " + repeat("not ", 100000) + "1", " x = 1" + repeat(" + 1", 100000),
        " x = a" + repeat(".b", 100000), " x = a" + repeat("[0]", 100000), " x = 1" + repeat(" ** 1", 100000),
        " x = 1" + repeat(" if 1 else 1", 100000), " x = f" + repeat("(f", 100000)})
    EXPECT_NE(messages(text).find("[too-deep]"), std::string::npos) << text.substr(0, 20);
  std::string blocks;
  for (size_t i = 1; i < 500; ++i)
    blocks += repeat(" ", i) + "if a:\n";
  EXPECT_NE(messages(blocks).find("[too-deep]"), std::string::npos);
  EXPECT_NE(messages(" if a: pass\n" + repeat(" elif a: pass\n", 5000)).find("[too-deep]"), std::string::npos);
  EXPECT_NE(messages(" f\"" + repeat("{f'{", 300) + "\"").find("error"), std::string::npos);
}

TEST(Robustness, LongInputIsFine) {
  EXPECT_EQ(messages(repeat(" x = 1\n", 20000)), "");
  EXPECT_EQ(messages(" x = (" + repeat("a, ", 50000) + ")"), "");
  EXPECT_EQ(messages(" x = a" + repeat(" and a", 10000)), "");
}

TEST(Robustness, TooLargeFile) {
  DiagnosticEngine diagnostics;
  parse({"<test>", std::string(size_t(65) << 20, ' ')}, diagnostics);
  EXPECT_EQ(diagnostics.all().at(0).name, "file-too-large");
}

TEST(Robustness, OnlyUtf8) {
  for (std::string_view text : {"", "a", "\xC2\x80", "\xE0\xA0\x80", "\xED\x9F\xBF", "\xEE\x80\x80", "\xF0\x90\x80\x80",
                                "\xF4\x8F\xBF\xBF", "\xEF\xBB\xBFx"})
    EXPECT_EQ(findInvalidUtf8(text), std::nullopt) << text;
  // Invalid UTF-8: continuation bytes that are alone, truncated or missing; overlong encodings; surrogates; values
  // beyond the last character; UTF-16.
  for (std::string_view bad : {"\x80", "\xC2", "\xE2\x82", "\xE2\x82x", "\xC1\x81", "\xE0\x9F\xBF", "\xF0\x8F\xBF\xBF",
                               "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xF8\x88\x80\x80\x80", "\xFF\xFE"})
    EXPECT_EQ(findInvalidUtf8("ab" + std::string(bad)), 2u) << bad;
  DiagnosticEngine diagnostics;
  parse({"<test>", "x = 1\n# caf\xE9\n"}, diagnostics);
  EXPECT_EQ(diagnostics.render(),
            "<test>:2:6: error: byte 0xe9 is not valid UTF-8, the encoding of source files [not-utf8]\n"
            "  # caf?\n       ^\n");
}

TEST(Robustness, AnyBytes) {
  std::mt19937 random(1);
  const std::string_view pieces[] = {"@jit\n",  "def f(a, b=1):\n",
                                     "  x = ",  "if ",
                                     "else",    ":\n",
                                     "    ",    "\t",
                                     "(",       ")",
                                     "[",       "]",
                                     "{",       "}",
                                     "'",       "\"",
                                     "'''",     "f'{",
                                     "1e",      "0x",
                                     ".",       "..",
                                     "->",      "#: ",
                                     "grid(",   "buffer",
                                     "\\\n",    "\n",
                                     "\r",      "lambda",
                                     "for ",    " in ",
                                     "@",       "*",
                                     ",",       "=",
                                     ":=",      "a",
                                     "b",       "yield",
                                     "class ",  "expect a == ",
                                     " within "};
  for (int round = 0; round < 3000; ++round) {
    std::string text = round % 2 ? "@jit\ndef f():\n  " : "";
    size_t length = random() % 60;
    for (size_t i = 0; i < length; ++i) {
      if (random() % 4 == 0)
        text += static_cast<char>(random() % 256);
      else
        text += pieces[random() % std::size(pieces)];
    }
    DiagnosticEngine diagnostics;
    Module module = parse({"<test>", text}, diagnostics);
    dumpAst(module);
    diagnostics.render();
  }
}

TEST(Robustness, EveryPrefixOfAProgram) {
  std::string program = "#: grid(cdiv(N, 2))\n@triton.jit\ndef f(a: ptr[f16], *b, c=(1, 2)) -> int:\n"
                        "    for i in range(0, 3):\n        x = a[:, None] + f'{i!r:>3}' if not b else -1.5e-3\n"
                        "        while x < 3 and (y or z): x //= 2; pass\n    return x, 'a\\x41'\n";
  for (size_t length = 0; length <= program.size(); ++length) {
    DiagnosticEngine diagnostics;
    parse({"<test>", program.substr(0, length)}, diagnostics);
    diagnostics.render();
  }
}

} // namespace
