// A client with a script: what the server answers, that edits of all examples leave it alive, and how long it takes.
#include "LanguageServer/Server.h"

#include "Driver/LargeStack.h"
#include "Frontend/BuiltinDocs.h"

#include "llvm/ADT/StringExtras.h"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

using namespace llvm;
using Clock = std::chrono::steady_clock;

namespace {

constexpr const char *uri = "file:///k.tile";

/// Gives the server one message after the other; it asks for the next when it has answered the last.
class Script : public lsp::JSONTransportInput {
public:
  Script(std::vector<std::string> messages, std::vector<double> &times) : messages(std::move(messages)), times(times) {}
  bool hasError() const override { return false; }
  bool isEndOfInput() const override { return next == messages.size(); }
  LogicalResult readDelimitedMessage(std::string &) override { return failure(); }
  LogicalResult readStandardMessage(std::string &text) override {
    Clock::time_point now = Clock::now();
    if (next > 0)
      times.push_back(std::chrono::duration<double, std::milli>(now - last).count());
    text = messages[next++];
    last = Clock::now();
    return success();
  }

private:
  std::vector<std::string> messages;
  std::vector<double> &times;
  size_t next = 0;
  Clock::time_point last;
};

class Client {
public:
  Client() { ask("initialize", json::Object{}); }

  void notify(StringRef method, json::Value parameters) {
    messages.push_back(json(json::Object{{"jsonrpc", "2.0"}, {"method", method}, {"params", std::move(parameters)}}));
  }
  /// The request's number, for `answers`.
  int ask(StringRef method, json::Value parameters) {
    messages.push_back(
        json(json::Object{{"jsonrpc", "2.0"}, {"id", ++asked}, {"method", method}, {"params", std::move(parameters)}}));
    return asked;
  }
  int askAt(StringRef method, unsigned line, unsigned character) {
    return ask(method, json::Object{{"textDocument", json::Object{{"uri", uri}}},
                                    {"position", json::Object{{"line", line}, {"character", character}}}});
  }
  void edit(StringRef text) {
    json::Object document{{"uri", uri}, {"version", ++version}};
    if (version == 1) {
      document["text"] = text;
      return notify("textDocument/didOpen", json::Object{{"textDocument", std::move(document)}});
    }
    notify("textDocument/didChange", json::Object{{"textDocument", std::move(document)},
                                                  {"contentChanges", json::Array{json::Object{{"text", text}}}}});
  }

  void run() {
    ask("shutdown", nullptr);
    notify("exit", nullptr);
    std::string output;
    raw_string_ostream stream(output);
    int code = -1;
    tile::driver::runOnLargeStack(
        [&] { code = tile::lsp::serve(std::make_unique<Script>(std::move(messages), times), stream); });
    EXPECT_EQ(code, 0);
    for (StringRef rest = output; !rest.empty();) {
      size_t length = 0;
      auto [header, body] = rest.split("\r\n\r\n");
      ASSERT_TRUE(header.consume_front("Content-Length: ") && !header.getAsInteger(10, length));
      Expected<json::Value> value = json::parse(body.take_front(length));
      ASSERT_TRUE(bool(value)) << toString(value.takeError());
      rest = body.drop_front(length);
      json::Object &object = *value->getAsObject();
      if (std::optional<int64_t> id = object.getInteger("id"))
        answers[*id] = json(object.get("result") ? *object.get("result") : json::Value(nullptr));
      else
        published.push_back(*object.getObject("params"));
    }
  }

  std::string codes() const {
    std::string codes;
    for (const json::Value &one : *published.back().getArray("diagnostics"))
      codes += one.getAsObject()->getString("code").value_or("").str() + " ";
    return codes;
  }

  std::map<int, std::string> answers; // as text
  std::vector<json::Object> published;
  std::vector<double> times; // milliseconds, of each message
  int version = 0;

private:
  static std::string json(json::Value value) {
    std::string text;
    raw_string_ostream(text) << value;
    return text;
  }

  std::vector<std::string> messages;
  int asked = 0;
};

std::string read(const std::filesystem::path &path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

std::vector<std::filesystem::path> examples() {
  std::vector<std::filesystem::path> paths;
  for (const auto &entry : std::filesystem::recursive_directory_iterator(TILE_EXAMPLES))
    if (entry.path().extension() == ".tile")
      paths.push_back(entry.path());
  llvm::sort(paths);
  return paths;
}

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

TEST(LanguageServer, FindsDefinitions) {
  Client client;
  client.edit(
      "@triton.jit\ndef f(n):\n    m = n\n    return m\n\n\n@triton.jit\ndef g(n):\n    m = f(n)\n    return m\n");
  int local = client.askAt("textDocument/definition", 9, 11);
  int parameter = client.askAt("textDocument/definition", 8, 10);
  int function = client.askAt("textDocument/definition", 8, 8);
  int nothing = client.askAt("textDocument/definition", 5, 0);
  int symbols = client.ask("textDocument/documentSymbol", json::Object{{"textDocument", json::Object{{"uri", uri}}}});
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

/// TILE_LSP_SECONDS says for how long.
TEST(LanguageServer, SurvivesEdits) {
  const char *given = std::getenv("TILE_LSP_SECONDS");
  const Clock::time_point end = Clock::now() + std::chrono::seconds(given ? std::atoi(given) : 4);
  std::vector<std::filesystem::path> paths = examples();
  std::mt19937 random(1);
  constexpr StringRef pieces[] = {"(",        ")",    "[",   "]", ":", "\n", "    ",   "tl.", "é",  "\"",
                                  "#: grid(", "def ", "if ", "1", "=", "N",  "lambda", "**",  "\t", ","};
  size_t edits = 0;
  for (size_t file = 0; Clock::now() < end; ++file) {
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
      client.ask("textDocument/documentSymbol", json::Object{{"textDocument", json::Object{{"uri", uri}}}});
    }
    client.run();
    edits += 20;
    ASSERT_EQ(client.published.size(), size_t(client.version));
    ASSERT_EQ(client.published.back().getInteger("version"), client.version);
  }
  std::printf("%zu edits\n", edits);
}

/// Prints how long answers take; that they are right, however many edits came before, is what it checks.
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
  for (int step = 0; step < 40; ++step) {
    // One line more in front of the word each time.
    client.edit(text + std::string(step, '\n') + last);
    hovers.push_back(client.askAt("textDocument/hover", line + step, 5));
    completions.push_back(client.askAt("textDocument/completion", line + step, 5));
  }
  client.run();
  EXPECT_EQ(client.published.back().getInteger("version"), 40);
  for (int step = 0; step < 40; ++step) {
    EXPECT_TRUE(StringRef(client.answers[hovers[step]]).contains("tl.load(")) << step;
    EXPECT_TRUE(StringRef(client.answers[completions[step]]).contains("\"label\":\"load\"")) << step;
  }
  llvm::sort(client.times);
  std::printf("1000 lines: 95%% of answers, diagnostics among them, within %.1f ms\n",
              client.times[client.times.size() * 95 / 100]);
}

} // namespace
