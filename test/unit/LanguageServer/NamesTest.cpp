// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Names: renaming, references, definitions in this file and in others, and the outline.
#include "Client.h"

#include "Frontend/Syntax/Lexer.h"

#include <cstring>
#include <random>

using namespace tile::lsp::test;

namespace {

TEST(LanguageServer, FindsDefinitions) {
  Client client;
  client.edit(
      "@triton.jit\ndef f(n):\n    m = n\n    return m\n\n\n@triton.jit\ndef g(n):\n    m = f(n)\n    return m\n");
  int local = client.askAt("textDocument/definition", 9, 11);
  int parameter = client.askAt("textDocument/definition", 8, 10);
  int function = client.askAt("textDocument/definition", 8, 8);
  int nothing = client.askAt("textDocument/definition", 5, 0);
  int symbols = client.askAbout("textDocument/documentSymbol");
  client.run();
  auto start = [](int line, int character) {
    return formatv("\"start\":{{\"character\":{0},\"line\":{1}}", character, line).str();
  };
  EXPECT_TRUE(StringRef(client.answers[local]).contains(start(8, 4))) << client.answers[local];
  EXPECT_TRUE(StringRef(client.answers[parameter]).contains(start(7, 6))) << client.answers[parameter];
  EXPECT_TRUE(StringRef(client.answers[function]).contains(start(1, 4))) << client.answers[function];
  EXPECT_EQ(client.answers[nothing], "null");
  EXPECT_TRUE(StringRef(client.answers[symbols]).contains("\"name\":\"g\"")) << client.answers[symbols];
}

std::string replaced(std::string text, std::initializer_list<std::pair<const char *, const char *>> changes) {
  for (auto [before, after] : changes)
    for (size_t at = 0; (at = text.find(before, at)) != std::string::npos; at += strlen(after))
      text.replace(at, strlen(before), after);
  return text;
}

TEST(LanguageServer, RenamesWhatMeansTheSame) {
  Client client;
  client.edit(halve);
  int size = client.askToRename(5, 23, "count"), block = client.askToRename(6, 28, "WIDTH");
  int local = client.askToRename(6, 4, "lanes"), function = client.askToRename(8, 13, "read");
  int argument = client.askToRename(8, 26, "inside"), inner = client.askToRename(7, 34, "each");
  int helperSize = client.askToRename(14, 4, "nothing");
  client.run();
  EXPECT_EQ(client.apply(halve, size), replaced(halve, {{"cdiv(n", "cdiv(count"},
                                                        {"x[n]", "x[count]"},
                                                        {"default n", "default count"},
                                                        {", n: i32", ", count: i32"},
                                                        {"{n:", "{count:"},
                                                        {"< n", "< count"}}));
  EXPECT_EQ(client.apply(halve, block), replaced(halve, {{"BLOCK", "WIDTH"}}));
  EXPECT_EQ(
      client.apply(halve, local),
      replaced(halve, {{"    i =", "    lanes ="}, {"{i}", "{lanes}"}, {"+ i", "+ lanes"}, {"=i <", "=lanes <"}}));
  EXPECT_EQ(client.apply(halve, function), replaced(halve, {{"helper(", "read("}}));
  EXPECT_EQ(client.apply(halve, argument), replaced(halve, {{"x + i, mask=i", "x + i, inside=i"},
                                                            {"(x, mask)", "(x, inside)"},
                                                            {"mask=mask", "mask=inside"},
                                                            {"value * 0.5, inside=i", "value * 0.5, mask=i"}}));
  EXPECT_EQ(client.apply(halve, inner), replaced(halve, {{"[n for n in", "[each for each in"}}));
  EXPECT_EQ(client.apply(halve, helperSize),
            replaced(halve, {{"n = 0.0", "nothing = 0.0"}, {"other=n", "other=nothing"}}));
}

/// If a name in a directive or elsewhere had not been renamed, the front end would report an error.
TEST(LanguageServer, RenamedExamplesAreRight) {
  std::mt19937 random(1);
  size_t renamed = 0;
  for (const std::filesystem::path &path : examples()) {
    const std::string text = read(path);
    std::vector<tile::frontend::Token> names = tile::frontend::lexFile(text, 0).tokens;
    llvm::erase_if(names, [](const auto &token) { return token.kind != tile::frontend::Tok::Name; });
    Client client;
    client.edit(text);
    std::vector<int> asked;
    for (int count = 0; count < 6; ++count) {
      const StringRef before = StringRef(text).take_front(names[random() % names.size()].range.begin);
      asked.push_back(client.askToRename(before.count('\n'), before.size() - (before.rfind('\n') + 1), "renamed"));
    }
    client.run();
    for (int id : asked) {
      if (StringRef(client.answers[id]).contains("\"message\"")) // the server has refused the request
        continue;
      Client other;
      const std::string result = client.apply(text, id);
      other.edit(result);
      other.run();
      EXPECT_NE(result, text);
      for (const json::Value &one : *other.published.back().getArray("diagnostics"))
        EXPECT_NE(one.getAsObject()->getInteger("severity"), 1) << path << formatv("{0}\n{1}", one, result).str();
      ++renamed;
    }
  }
  EXPECT_GT(renamed, examples().size());
}

TEST(LanguageServer, RefusesToRename) {
  Client client;
  client.edit("from .ops import f\nimport numpy as np\n\n\nclass A:\n    size = 1\n\n\n@triton.jit\ndef k(x):\n"
              "    y = f(tl.load(x), np.pi)\n    return min(y, A.size)\n");
  struct Case {
    int id;
    const char *message;
  };
  std::vector<Case> cases{{client.askToRename(10, 8, "g"), "'f' is imported from another file"},
                          {client.askToRename(10, 10, "g"), "'tl' is part of the language"},
                          {client.askToRename(10, 14, "g"), "'load' is an attribute"},
                          {client.askToRename(11, 12, "g"), "'min' is part of the language"},
                          {client.askToRename(5, 6, "g"), "'size' is a member of a class"},
                          {client.askToRename(10, 4, "2y"), "'2y' is not a valid name"},
                          {client.askToRename(10, 4, "lambda"), "'lambda' is not a valid name"},
                          {client.askToRename(10, 4, "x"), "'x' is already in use, in line 10"},
                          {client.askToRename(2, 0, "g"), "there is no name at this position"},
                          {client.askAt("textDocument/prepareRename", 10, 8), "'f' is imported from another file"}};
  int prepared = client.askAt("textDocument/prepareRename", 10, 22); // the position of 'np'
  client.run();
  for (const Case &one : cases)
    EXPECT_TRUE(StringRef(client.answers[one.id]).contains(one.message)) << one.message << client.answers[one.id];
  EXPECT_TRUE(StringRef(client.answers[prepared]).contains("\"placeholder\":\"np\"")) << client.answers[prepared];
}

TEST(LanguageServer, RefusesToRenameWhatTheCompilerChooses) {
  Client client;
  client.edit("@tile.kernel\ndef k(x: ptr[f32], BLOCK_M: constexpr = auto):\n    pass\n");
  int id = client.askToRename(1, 20, "ROWS");
  client.run();
  EXPECT_TRUE(StringRef(client.answers[id]).contains("is an auto parameter")) << client.answers[id];
}

TEST(LanguageServer, FindsReferences) {
  Client client;
  client.edit(halve);
  int references = client.askAt("textDocument/references", 5, 23);
  int highlights = client.askAt("textDocument/documentHighlight", 5, 23);
  int nothing = client.askAt("textDocument/references", 9, 8);
  client.run();
  EXPECT_EQ(StringRef(client.answers[references]).count("\"uri\""), 7u) << client.answers[references];
  EXPECT_EQ(StringRef(client.answers[highlights]).count("\"range\""), 7u) << client.answers[highlights];
  EXPECT_EQ(client.answers[nothing], "[]");
}

TEST(LanguageServer, FindsDefinitionsInOtherFiles) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::path(testing::TempDir()) / "tile-lsp-imports";
  fs::create_directories(folder / "parts");
  auto write = [&](const char *name, const char *text) { std::ofstream(folder / name) << text; };
  write("ops.py", "from .parts.inner import deep\n\n\ndef f(x):\n    return x\n");
  write("parts/inner.tile", "\ndef deep(x):\n    return x\n");
  write("all.py", "\n\ndef g(x):\n    return x\n");
  const std::string file = "file://" + (folder / "k.tile").string();
  Client client;
  client.notify(
      "textDocument/didOpen",
      json::Object{{"textDocument", json::Object{{"uri", file},
                                                 {"version", 1},
                                                 {"text", "from .ops import f as h, deep\nfrom .all import *\n"
                                                          "from . import ops\nimport parts.inner as p\n\n\n"
                                                          "@triton.jit\ndef k(x):\n"
                                                          "    h(deep(g(ops.f(p.deep(x)))))\n"}}}});
  auto askIn = [&](unsigned line, unsigned character) {
    return client.ask("textDocument/definition",
                      json::Object{{"textDocument", json::Object{{"uri", file}}},
                                   {"position", json::Object{{"line", line}, {"character", character}}}});
  };
  struct Case {
    int id;
    const char *file;
    int line;
  };
  std::vector<Case> cases{{askIn(8, 4), "ops.py", 3},  {askIn(8, 7), "inner.tile", 1}, {askIn(8, 11), "all.py", 2},
                          {askIn(8, 13), "ops.py", 0}, {askIn(8, 17), "ops.py", 3},    {askIn(8, 21), "inner.tile", 1},
                          {askIn(0, 17), "ops.py", 3}, {askIn(3, 16), "inner.tile", 0}};
  client.run();
  for (const Case &one : cases) {
    EXPECT_TRUE(StringRef(client.answers[one.id]).contains(std::string(one.file) + "\""))
        << one.file << client.answers[one.id];
    EXPECT_TRUE(StringRef(client.answers[one.id])
                    .contains(formatv("\"start\":{{\"character\":{0},\"line\":{1}}", one.line ? 4 : 0, one.line).str()))
        << one.file << one.line << client.answers[one.id];
  }
  fs::remove_all(folder);
}

} // namespace
