// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rendering: carets, tabs, notes, fix-its, limits; and suggestions for mistyped names.

#include "Frontend/Syntax/Parser.h"

#include <gtest/gtest.h>

using namespace tile::frontend;

namespace {

TEST(Diagnostics, RenderAsInTheTerminal) {
  DiagnosticEngine engine;
  uint32_t file = engine.addFile({"k.tile", "first\n\tab = größe + 1\n"});
  engine.report(Diag::unknown_name, {7, 9, file}, {"ab", ""}).note({0, 5, file}, "seen here").fixIt({7, 9, file}, "xy");
  EXPECT_EQ(engine.render(), "k.tile:2:2: error: 'ab' is not defined [unknown-name]\n"
                             "          ab = größe + 1\n"
                             "          ^~\n"
                             "          xy\n"
                             "k.tile:1:1: note: seen here\n"
                             "  first\n"
                             "  ^~~~~\n");
}

TEST(Diagnostics, CaretsCountCharactersNotBytes) {
  EXPECT_EQ(
      [] {
        DiagnosticEngine engine;
        uint32_t file = engine.addFile({"k.tile", "'größe' $\n"});
        engine.report(Diag::invalid_character, {10, 11, file}, {"'$'"});
        return engine.render();
      }(),
      "k.tile:1:11: error: character '$' is not part of the language [invalid-character]\n"
      "  'größe' $\n"
      "          ^\n");
}

TEST(Diagnostics, SortsByPlaceAndDropsRepetitions) {
  DiagnosticEngine engine;
  uint32_t file = engine.addFile({"k", "a b\n"});
  engine.report(Diag::unknown_name, {2, 3, file}, {"b", ""});
  engine.report(Diag::unknown_name, {0, 1, file}, {"a", ""});
  engine.report(Diag::unknown_name, {2, 3, file}, {"b", ""});
  EXPECT_EQ(engine.all().size(), 2u);
  EXPECT_LT(engine.render().find("'a'"), engine.render().find("'b'"));
}

TEST(Diagnostics, WarningsAreNoErrors) {
  DiagnosticEngine engine;
  uint32_t file = engine.addFile({"k", "a\n"});
  engine.report(Diag::misplaced_directive, {0, 1, file});
  EXPECT_FALSE(engine.hasErrors());
}

TEST(Diagnostics, FlagsApplyInOrder) {
  WarningOptions options;
  EXPECT_TRUE(options.isEnabled(Diag::tf32_dot));
  EXPECT_FALSE(options.isEnabled(Diag::uncoalesced));
  EXPECT_TRUE(options.apply("no-precision"));
  EXPECT_FALSE(options.isEnabled(Diag::tf32_dot));
  EXPECT_TRUE(options.apply("error=tf32-dot"));
  EXPECT_TRUE(options.isEnabled(Diag::tf32_dot));
  EXPECT_TRUE(options.isError(Diag::tf32_dot));
  EXPECT_FALSE(options.isError(Diag::masked_load));
  EXPECT_TRUE(options.apply("error"));
  EXPECT_TRUE(options.isError(Diag::masked_load));
  EXPECT_TRUE(options.apply("no-error=tf32-dot"));
  EXPECT_FALSE(options.isError(Diag::tf32_dot));
  EXPECT_TRUE(options.isEnabled(Diag::tf32_dot));
  for (const char *unknown : {"", "no-", "error=", "tf32_dot", "no-error=nothing", "al"})
    EXPECT_FALSE(options.apply(unknown)) << unknown;
}

TEST(Diagnostics, EveryWarningIsInTheTable) {
  DiagnosticEngine engine;
  uint32_t file = engine.addFile({"k", "a\n"});
  WarningOptions options;
  options.apply("no-everything");
  engine.setWarnings(options);
#define TILE_DIAGNOSTIC(id, severity, message)                                                                         \
  if (Severity::severity == Severity::Warning)                                                                         \
    EXPECT_FALSE(engine.report(Diag::id, {0, 1, file})) << #id;
#include "Frontend/Syntax/Diagnostics.def"
  EXPECT_EQ(engine.all().size(), 0u);
}

TEST(Diagnostics, WarningsCanBeErrors) {
  DiagnosticEngine engine;
  uint32_t file = engine.addFile({"k", "a\n"});
  WarningOptions options;
  options.apply("error");
  engine.setWarnings(options);
  engine.report(Diag::tf32_dot, {0, 1, file});
  EXPECT_TRUE(engine.hasErrors());
  EXPECT_NE(engine.render().find("error: tl.dot truncates"), std::string::npos);
  EXPECT_NE(engine.render().find("[-Werror,-Wtf32-dot]"), std::string::npos);
}

TEST(Diagnostics, ErrorsAreShownBehindManyWarnings) {
  DiagnosticEngine engine;
  uint32_t file = engine.addFile({"k", std::string(500, 'a')});
  for (uint32_t i = 0; i < 300; ++i)
    engine.report(Diag::tf32_dot, {i, i + 1, file});
  engine.report(Diag::invalid_character, {400, 401, file}, {"'$'"});
  EXPECT_NE(engine.render().find("character '$'"), std::string::npos);
  EXPECT_LT(engine.all().size(), 200u);
}

TEST(Diagnostics, ArgumentsAreAddedToCalls) {
  auto added = [](const std::string &call) {
    DiagnosticEngine engine;
    uint32_t file = engine.addFile({"k", call});
    SourceRange range{0, uint32_t(call.size()), file};
    engine.report(Diag::tf32_dot, range).fixItArgument(range, "x=1");
    const FixIt &fix = engine.all().front().fixIts.front();
    return call.substr(0, fix.range.begin) + fix.replacement + call.substr(fix.range.end);
  };
  EXPECT_EQ(added("f()"), "f(x=1)");
  EXPECT_EQ(added("f(a, (b))"), "f(a, (b), x=1)");
  EXPECT_EQ(added("f(a,)"), "f(a,x=1)");
  EXPECT_EQ(added("f(\n  a,  # b\n)"), "f(\n  a,  # b\nx=1)");
  EXPECT_EQ(added("f('#,')"), "f('#,', x=1)");
}

TEST(Diagnostics, DidYouMean) {
  EXPECT_EQ(didYouMean("laod", {"store", "load"}), "load");
  EXPECT_EQ(didYouMean("BLOCK_N", {"BLOCK_M", "GRID"}), "BLOCK_M");
  EXPECT_FALSE(didYouMean("x", {"y", "z"}));
  EXPECT_FALSE(didYouMean("totally", {"different"}));
}

TEST(LineTable, EveryKindOfLineEnd) {
  LineTable table("a\r\nb\rc\nd");
  EXPECT_EQ(table.locate(3).line, 2u);
  EXPECT_EQ(table.locate(5).line, 3u);
  EXPECT_EQ(table.locate(7).line, 4u);
  EXPECT_EQ(table.locate(7).column, 1u);
  EXPECT_EQ(table.line(2), "b");
  EXPECT_EQ(table.line(9), "");
  EXPECT_EQ(table.locate(1000).line, 4u);
}

} // namespace
