// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Trees, unparsing and exact source ranges.

#include "Frontend/Syntax/Parser.h"
#include "Frontend/Syntax/Unparse.h"

#include <gtest/gtest.h>

using namespace tile::frontend;

namespace {

std::string roundTrip(const std::string &text) {
  DiagnosticEngine diagnostics;
  Module module;
  const Expr *expr = parseExpression({"<test>", text}, module, diagnostics);
  return expr ? unparse(*expr) : diagnostics.render();
}

/// Returns the source text of the outermost expression of 'text'.
std::string rangeOf(const std::string &text) {
  DiagnosticEngine diagnostics;
  Module module;
  const Expr *expr = parseExpression({"<test>", text}, module, diagnostics);
  return expr ? std::string(diagnostics.text(expr->range)) : "error";
}

TEST(Unparse, KeepsNeededParenthesesOnly) {
  for (const char *text : {"a + b * c",
                           "(a + b) * c",
                           "a - (b - c)",
                           "-a ** b",
                           "(-a) ** b",
                           "a ** -b",
                           "not (a and b)",
                           "a if b else c if d else e",
                           "(a if b else c) if d else e",
                           "(a, b)",
                           "(a,)",
                           "()",
                           "[a, b]",
                           "x[:, None]",
                           "x[1:2:3]",
                           "f(a, *b, c=d)",
                           "a.b.c(1)[2]",
                           "'it' < \"it's\"",
                           "(a or b) and c",
                           "a | b ^ c & d << e",
                           "(a == b) == c",
                           "f'a{b!r:>3}c'",
                           "~a + +b"})
    EXPECT_EQ(roundTrip(text), text);
  EXPECT_EQ(roundTrip("((a)) + ((b * c))"), "a + b * c");
  EXPECT_EQ(roundTrip("0x10 + 1e3"), "16 + 1000.0");
}

TEST(Ranges, CoverTheWholeExpression) {
  for (const char *text : {"(a + b) * (c)", "a.b(c)[d]", "x if (y) else (z)", "not (a)", "-(a)", "(a)(b)", "(a) < (b)",
                           "[a, (b)]", "'a' 'b'"})
    EXPECT_EQ(rangeOf(std::string("  ") + text + " "), text);
}

TEST(Parser, ReportsSeveralErrors) {
  DiagnosticEngine diagnostics;
  parse({"<test>", "@jit\ndef f():\n  x = = 1\n  y = 2 +\n  z = lambda: 1\n"}, diagnostics);
  EXPECT_EQ(diagnostics.numErrors(), 3u);
}

TEST(Parser, SkipsHostCode) {
  DiagnosticEngine diagnostics;
  Module module =
      parse({"<test>", "def host(x):\n  yield x\nclass C: pass\nD = {1: 2}\n@jit\ndef k(): pass\n$$$\n"}, diagnostics);
  EXPECT_FALSE(diagnostics.hasErrors()) << diagnostics.render();
  // Functions that decorators may use are kept, but kernels are not; host functions record which definition is used.
  ASSERT_EQ(module.body.size(), 3u);
  EXPECT_TRUE(as<SkippedStmt>(module.body[0]));
  ASSERT_TRUE(as<AssignStmt>(module.body[1]));
  EXPECT_TRUE(as<AssignStmt>(module.body[1])->isHost);
  ASSERT_EQ(module.skipped.size(), 3u);
  EXPECT_EQ(module.skipped[0].name, "host");
  ASSERT_TRUE(module.skipped[0].function);
  EXPECT_FALSE(module.skipped[0].function->errors.empty()) << "a generator cannot be evaluated";
  EXPECT_EQ(module.skipped[1].what, "class");
  EXPECT_EQ(module.skipped[2].name, "D");
}

TEST(Parser, KernelsInHostFunctions) {
  DiagnosticEngine diagnostics;
  Module module =
      parse({"<test>", "def host(x):\n  N = 4\n  @jit\n  def k(): lambda\n  return k\ndef pure(n):\n  return "
                       "[m for m in n]\nfor i in x:\n  try: pass\n  finally: pass\n"},
            diagnostics);
  EXPECT_FALSE(diagnostics.hasErrors()) << diagnostics.render();
  ASSERT_EQ(module.body.size(), 3u); // the loop is kept, too, because of the names that it changes
  EXPECT_TRUE(as<SkippedStmt>(module.body[1]));
  const auto *host = as<HostStmt>(module.body[0]);
  ASSERT_TRUE(host);
  ASSERT_EQ(host->body.size(), 2u);
  ASSERT_TRUE(as<FunctionStmt>(host->body[1]));
  EXPECT_EQ(as<FunctionStmt>(host->body[1])->errors.size(), 1u);
  ASSERT_EQ(host->skipped.size(), 1u);
  EXPECT_EQ(host->skipped[0].what, "parameter");
  ASSERT_EQ(module.skipped.size(), 2u);
  ASSERT_TRUE(module.skipped[1].function);
  EXPECT_TRUE(module.skipped[1].function->errors.empty());
}

TEST(Parser, FunctionsInTopLevelIf) {
  DiagnosticEngine diagnostics;
  Module module =
      parse({"<test>", "if A:\n  @jit\n  def f(): pass\nelse:\n  B = 1\nif (await a)():\n  C = 1\n"}, diagnostics);
  ASSERT_EQ(module.body.size(), 2u); // the other statement is kept, too, because of the name that it changes
  const auto *conditional = as<IfStmt>(module.body[0]);
  ASSERT_TRUE(conditional);
  EXPECT_TRUE(as<FunctionStmt>(conditional->branches[0].body[0]));
  EXPECT_TRUE(as<AssignStmt>(conditional->elseBody[0]));
}

TEST(Parser, DirectivesBelongToTheNextKernel) {
  DiagnosticEngine diagnostics;
  Module module = parse({"<test>", "#: grid(1)\n@jit\ndef f(): pass\n#: grid(2,\n#:   3)\n#: num_warps = 8\n@jit\ndef "
                                   "g(): pass\n"},
                        diagnostics);
  ASSERT_FALSE(diagnostics.hasErrors()) << diagnostics.render();
  EXPECT_EQ(as<FunctionStmt>(module.body[0])->directives.grid.size(), 1u);
  const DirectiveSet &second = as<FunctionStmt>(module.body[1])->directives;
  ASSERT_EQ(second.grid.size(), 2u);
  EXPECT_EQ(second.grid[1].text, "3");
  EXPECT_EQ(second.numWarps, 8);
}

} // namespace
