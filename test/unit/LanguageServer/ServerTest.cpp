// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tests the server's answers, and that edits of all examples do not crash it; prints response times.
#include "Client.h"

#include <chrono>
#include <random>

using namespace tile::lsp::test;

namespace {

TEST(LanguageServer, ReportsWhereAndOfWhichText) {
  Client client;
  client.edit("@tile.kernel\ndef k(x: ptr[f32]):\n    tl.store(x, \"𝄞é\", msk=unknown)\n    tl.store(x, nothing)\n");
  client.run();
  ASSERT_EQ(client.published.size(), 1u);
  EXPECT_EQ(client.published[0].getInteger("version"), 1);
  bool isFound = false;
  for (const json::Value &one : *client.published[0].getArray("diagnostics")) {
    const json::Object &start = *one.getAsObject()->getObject("range")->getObject("start");
    isFound |= start.getInteger("line") == 2 && start.getInteger("character") == 27; // two units of the clef, one of é
  }
  EXPECT_TRUE(isFound) << formatv("{0}", json::Value(json::Object(client.published[0]))).str();
}

TEST(LanguageServer, AsksForNoOptions) {
  for (const char *text : {"@triton.jit\ndef k(x, n):\n    pass\n", "", "A = 1\n",
                           "@tile.kernel\ndef a(x: i32):\n    pass\n\n@tile.kernel\ndef b(x: i32):\n    pass\n"}) {
    Client client;
    client.edit(text);
    client.run();
    EXPECT_EQ(client.codes(), "") << text;
  }
  Client client;
  client.edit("@triton.jit\ndef k(x, n):\n    x = (\n");
  client.run();
  EXPECT_NE(client.codes(), "");
}

TEST(LanguageServer, ExamplesAreRight) {
  for (const std::filesystem::path &path : examples()) {
    Client client;
    client.edit(read(path));
    client.run();
    for (const json::Value &one : *client.published.back().getArray("diagnostics"))
      EXPECT_NE(one.getAsObject()->getInteger("severity"), 1) << path << formatv("{0}", one).str();
  }
}

TEST(LanguageServer, EveryBuiltinHasHoverAndCompletion) {
  for (const tile::frontend::BuiltinDoc &doc : tile::frontend::builtinDocs()) {
    Client client;
    client.edit("y = " + doc.spelling + "(");
    const unsigned end = 4 + doc.spelling.size();
    int hover = client.askAt("textDocument/hover", 0, end - 1);
    int completion = client.askAt("textDocument/completion", 0, end - 1);
    int signature = client.askAt("textDocument/signatureHelp", 0, end + 1);
    client.run();
    std::string shown = formatv("{0}", json::Value(doc.signature)).str();
    StringRef spelling = doc.spelling;
    std::string name = spelling.substr(spelling.rfind('.') + 1).str();
    EXPECT_TRUE(StringRef(client.answers[hover]).contains(StringRef(shown).drop_front().drop_back()))
        << doc.spelling << client.answers[hover];
    EXPECT_TRUE(StringRef(client.answers[completion]).contains("\"label\":\"" + name + "\"")) << doc.spelling;
    EXPECT_TRUE(StringRef(client.answers[signature]).contains("\"signatures\":[")) << doc.spelling;
  }
}

TEST(LanguageServer, CompletesMethodsBehindAValue) {
  Client client;
  client.edit("y = x.");
  int id = client.askAt("textDocument/completion", 0, 6);
  client.run();
  EXPECT_TRUE(StringRef(client.answers[id]).contains("\"label\":\"to\"")) << client.answers[id].substr(0, 500);
  EXPECT_FALSE(StringRef(client.answers[id]).contains("\"label\":\"program_id\""));
}

TEST(LanguageServer, CompletesNamesOfTheFile) {
  Client client;
  client.edit("def helper(first):\n    second = first\n    return sec");
  int id = client.askAt("textDocument/completion", 2, 14);
  client.run();
  EXPECT_TRUE(StringRef(client.answers[id]).contains("\"label\":\"second\""));
}

TEST(LanguageServer, OffersFixIts) {
  Client client;
  client.edit("@tile.kernel\ndef k(a: i32, b: i32):\n    if a = b:\n        pass\n");
  auto line = [](int number) { return json::Object{{"line", number}, {"character", 0}}; };
  auto askLine = [&](int number) {
    return client.ask("textDocument/codeAction",
                      json::Object{{"textDocument", json::Object{{"uri", uri}}},
                                   {"range", json::Object{{"start", line(number)}, {"end", line(number)}}}});
  };
  int there = askLine(2), elsewhere = askLine(0);
  client.run();
  EXPECT_TRUE(StringRef(client.answers[there]).contains("\"newText\":\"==\"")) << client.answers[there];
  EXPECT_EQ(client.answers[elsewhere], "[]");
}

TEST(LanguageServer, Formats) {
  const std::string text = "def f( x ):\n    # é\n    y=x\n    return y\n";
  Client client;
  client.edit(text);
  int first = client.askAbout("textDocument/formatting");
  client.edit("a = 1\nb=2\nc = 3\n");
  int middle = client.askAbout("textDocument/formatting");
  client.edit("x = (\n");
  int broken = client.askAbout("textDocument/formatting");
  client.edit("x = 1\n");
  int nothing = client.askAbout("textDocument/formatting");
  client.run();
  EXPECT_EQ(client.apply(text, first), "def f(x):\n    # é\n    y = x\n    return y\n");
  EXPECT_TRUE(StringRef(client.answers[middle]).contains("\"newText\":\"b = 2\\n\"")) << client.answers[middle];
  EXPECT_TRUE(StringRef(client.answers[broken]).contains("cannot format: ")) << client.answers[broken];
  EXPECT_EQ(client.answers[nothing], "[]");
}

TEST(LanguageServer, OffersCommands) {
  Client client;
  client.edit(halve);
  int lenses = client.askAbout("textDocument/codeLens");
  client.run();
  const StringRef shown = client.answers[lenses];
  EXPECT_EQ(shown.count("\"command\":\"tile.explain\""), 1u) << shown.str(); // there is no lens above the helper
  EXPECT_TRUE(shown.contains(formatv("\"arguments\":[\"{0}\",\"halve\"],\"command\":\"tile.run\"", uri).str()))
      << shown.str();
}

/// TILE_LSP_SECONDS makes it last longer, on more files.
TEST(LanguageServer, SurvivesEdits) {
  const char *given = std::getenv("TILE_LSP_SECONDS");
  const Clock::time_point end = Clock::now() + std::chrono::seconds(given ? std::atoi(given) : 0);
  constexpr size_t fewest = 6; // files; the same ones each time
  std::vector<std::filesystem::path> paths = examples();
  std::mt19937 random(1);
  constexpr StringRef pieces[] = {"(",        ")",    "[",   "]", ":", "\n", "    ",   "tl.", "é",  "\"",
                                  "#: grid(", "def ", "if ", "1", "=", "N",  "lambda", "**",  "\t", ","};
  size_t edits = 0;
  for (size_t file = 0; file < fewest || Clock::now() < end; ++file) {
    Client client;
    std::string text = read(paths[file % paths.size()]);
    client.edit(text);
    for (int step = 0; step < 20; ++step) {
      size_t at = random() % (text.size() + 1);
      while (at < text.size() && (text[at] & 0xC0) == 0x80)
        ++at;
      size_t until = std::min(text.size(), at + random() % 12);
      while (until < text.size() && (text[until] & 0xC0) == 0x80)
        ++until;
      StringRef piece = random() % 3 ? pieces[random() % std::size(pieces)] : StringRef();
      text.replace(at, random() % 2 ? until - at : 0, piece.data(), piece.size());
      client.edit(text);
      client.askAt("textDocument/hover", random() % 60, random() % 100);
      client.askAt("textDocument/completion", random() % 60, random() % 100);
      client.askAt("textDocument/signatureHelp", random() % 60, random() % 100);
      client.askAt("textDocument/definition", random() % 60, random() % 100);
      client.askAt("textDocument/references", random() % 60, random() % 100);
      client.askAt("textDocument/prepareRename", random() % 60, random() % 100);
      client.askToRename(random() % 60, random() % 100, "renamed");
      for (const char *request : {"documentSymbol", "inlayHint", "codeLens", "formatting"})
        client.askAbout(std::string("textDocument/") + request);
    }
    client.run();
    edits += 20;
    ASSERT_EQ(client.published.size(), size_t(client.version));
    ASSERT_EQ(client.published.back().getInteger("version"), client.version);
    Client fresh; // a server that has received no other message
    fresh.edit(text);
    fresh.run();
    EXPECT_EQ(*client.published.back().getArray("diagnostics"), *fresh.published.back().getArray("diagnostics"));
  }
  std::printf("%zu edits\n", edits);
}

/// Prints how long answers take, and checks that they are correct, however many edits came before.
TEST(LanguageServer, AnswersOfLongFiles) {
  std::string text;
  for (int lines = 0, copy = 0; lines < 1000; ++copy) {
    std::string kernel = read(std::string(TILE_EXAMPLES) + "/softmax.tile");
    size_t name = kernel.find("def ") + 4;
    text += kernel.insert(name, "k" + std::to_string(copy) + "_") + "\n";
    lines += StringRef(kernel).count('\n') + 1;
  }
  const std::string last = "tl.load";
  const unsigned line = StringRef(text).count('\n');
  Client client;
  std::vector<int> hovers, completions;
  constexpr int steps = 8;
  for (int step = 0; step < steps; ++step) {
    // Each edit inserts one more line in front of the word.
    client.edit(text + std::string(step, '\n') + last);
    hovers.push_back(client.askAt("textDocument/hover", line + step, 5));
    completions.push_back(client.askAt("textDocument/completion", line + step, 5));
    client.askAt("textDocument/references", 20, 4);
    client.askAt("textDocument/definition", 20, 4);
    client.askToRename(20, 4, "renamed");
    for (const char *request : {"documentSymbol", "inlayHint", "codeLens", "formatting"})
      client.askAbout(std::string("textDocument/") + request);
  }
  client.run();
  EXPECT_EQ(client.published.back().getInteger("version"), steps);
  for (int step = 0; step < steps; ++step) {
    EXPECT_TRUE(StringRef(client.answers[hovers[step]]).contains("tl.load(")) << step;
    EXPECT_TRUE(StringRef(client.answers[completions[step]]).contains("\"label\":\"load\"")) << step;
  }
  llvm::sort(client.times);
  std::printf("1000 lines: 95%% of answers, diagnostics among them, within %.1f ms, all within %.1f ms\n",
              client.times[client.times.size() * 95 / 100], client.times.back());
}

// Each bracket is read once, not again at each enclosing level, which took more than a minute here.
TEST(LanguageServer, AnswersOfDeepNesting) {
  constexpr size_t depth = 200000;
  Client client;
  client.edit("a = " + std::string(depth, '(') + "b" + std::string(depth, ')') + "\n");
  int hover = client.askAt("textDocument/hover", 0, 0);
  client.run();
  EXPECT_EQ(client.answers.count(hover), 1u);
}

} // namespace
