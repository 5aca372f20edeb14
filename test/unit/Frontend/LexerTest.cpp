// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tokens, indentation, directives, and exact ranges.

#include "Frontend/Syntax/Lexer.h"
#include "Frontend/Syntax/Literals.h"

#include <gtest/gtest.h>

using namespace tile::frontend;

namespace {

std::string kinds(std::string_view text) {
  std::string out;
  for (const Token &token : lexFile(text, 0).tokens)
    out += (out.empty() ? "" : " ") + std::string(spelling(token.kind));
  return out;
}

std::string texts(std::string_view text) {
  std::string out;
  for (const Token &token : lexFile(text, 0).tokens)
    out += "<" + std::string(text.substr(token.range.begin, token.range.end - token.range.begin)) + ">";
  return out;
}

TEST(Lexer, OpensAndClosesBlocks) {
  EXPECT_EQ(kinds("if a:\n  b\n\n  # note\n  c\nd\n"), "if name : end of line indentation name end of line name "
                                                       "end of line end of block name end of line end of file");
}

TEST(Lexer, TabsAndSpacesDoNotMix) {
  EXPECT_EQ(kinds("if a:\n\tb\n\tc\n"),
            "if name : end of line indentation name end of line name end of line end of block end of file");
  EXPECT_EQ(kinds("if a:\n\tb\n        c\n"), "if name : end of line indentation name end of line invalid token name "
                                              "end of line end of block end of file");
}

TEST(Lexer, LineEndsVanishInBracketsAndAfterBackslash) {
  EXPECT_EQ(kinds("f(a,\n  b)\nx = \\\n 1\n"),
            "name ( name , name ) end of line name = integer end of line end of file");
}

TEST(Lexer, AcceptsAllLineEnds) {
  EXPECT_EQ(kinds("a\r\nb\rc\n"), "name end of line name end of line name end of line end of file");
}

TEST(Lexer, TakesTheLongestOperator) {
  EXPECT_EQ(texts("a**=b//c<<=d...e:=f\n"), "<a><**=><b><//><c><<<=><d><...><e><:=><f><\n><>");
}

TEST(Lexer, RangesAreExact) {
  EXPECT_EQ(texts("x = 'a\\'b' + 1_0.5e-3\n"), "<x><=><'a\\'b'><+><1_0.5e-3><\n><>");
}

TEST(Lexer, StringPrefixes) {
  EXPECT_EQ(kinds("r'a' Rb'b' f'c' u'd' rf'''e\n''' fr2\n"),
            "string invalid token f-string string f-string name end of line end of file");
}

TEST(Lexer, NumberFollowedByDotName) {
  EXPECT_EQ(texts("1.5.x .5 5. 1..real\n"), "<1.5><.><x><.5><5.><1.><.><real><\n><>");
}

TEST(Lexer, CollectsDirectives) {
  // After code or inside brackets, it is an ordinary comment.
  std::string_view text = "#: grid(1)\n# note\nx = 1 #: late\nf(\n#: inside\n)\n";
  TokenStream stream = lexFile(text, 0);
  ASSERT_EQ(stream.directives.size(), 1u);
  SourceRange range = stream.directives[0].range;
  EXPECT_EQ(text.substr(range.begin, range.end - range.begin), " grid(1)");
}

TEST(Lexer, UnclosedBracketEndsAtTheNextStatement) {
  EXPECT_EQ(kinds("f(a\nreturn\n"), "name ( name invalid token end of line return end of line end of file");
}

TEST(Lexer, SkipsByteOrderMark) {
  EXPECT_EQ(kinds("\xEF\xBB\xBF"
                  "a\n"),
            "name end of line end of file");
}

TEST(Literals, Integers) {
  EXPECT_EQ(toString(*decodeInteger("170141183460469231731687303715884105727")),
            "170141183460469231731687303715884105727");
  EXPECT_FALSE(decodeInteger("170141183460469231731687303715884105728"));
  EXPECT_EQ(toString(*decodeInteger("0x7fff_ffff")), "2147483647");
  EXPECT_EQ(toString(*decodeInteger("0b101")), "5");
  EXPECT_EQ(toString(*decodeInteger("0O17")), "15");
  EXPECT_EQ(toString(*decodeInteger("000")), "0");
  EXPECT_FALSE(decodeInteger("007"));
  EXPECT_FALSE(decodeInteger("0b2"));
  EXPECT_FALSE(decodeInteger("0x"));
}

TEST(Literals, FloatsPrintAsInPython) {
  EXPECT_EQ(floatRepr(decodeFloat("1e16")), "1e+16");
  EXPECT_EQ(floatRepr(decodeFloat("123456789012345.0")), "123456789012345.0");
  EXPECT_EQ(floatRepr(decodeFloat("0.0001")), "0.0001");
  EXPECT_EQ(floatRepr(decodeFloat("0.00001")), "1e-05");
  EXPECT_EQ(floatRepr(decodeFloat("1e999")), "inf");
  EXPECT_EQ(floatRepr(decodeFloat("1e-999")), "0.0");
  EXPECT_EQ(floatRepr(-0.0), "-0.0");
}

TEST(Literals, Escapes) {
  EXPECT_EQ(decodeString("a\\n\\x41\\u00e9\\101\\q\\\\", false), "a\nA\xC3\xA9"
                                                                 "A\\q\\");
  EXPECT_EQ(decodeString("a\\n", true), "a\\n");
  EXPECT_EQ(decodeString("\\\nx\r\ny", false), "x\ny");
  EXPECT_FALSE(decodeString("\\x4", false));
  EXPECT_FALSE(decodeString("\\U00110000", false));
  EXPECT_EQ(stringRepr("it's \"q\"\n\x01"), "'it\\'s \"q\"\\n\\x01'");
}

} // namespace
