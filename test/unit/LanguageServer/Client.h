// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A scripted client: it sends messages to the server one by one, and records the answers.
#pragma once

#include "LanguageServer/Server.h"

#include "Driver/LargeStack.h"
#include "Frontend/Syntax/BuiltinDocs.h"

#include "llvm/ADT/StringExtras.h"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

using namespace llvm;
using Clock = std::chrono::steady_clock;

namespace tile::lsp::test {

inline constexpr const char *uri = "file:///k.tile";

/// Passes messages to the server one by one; the server asks for the next one when it has answered the last.
class Script : public llvm::lsp::JSONTransportInput {
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
  /// Returns the request's number, for `answers`.
  int ask(StringRef method, json::Value parameters) {
    messages.push_back(
        json(json::Object{{"jsonrpc", "2.0"}, {"id", ++asked}, {"method", method}, {"params", std::move(parameters)}}));
    return asked;
  }
  int askAt(StringRef method, unsigned line, unsigned character) {
    return ask(method, json::Object{{"textDocument", json::Object{{"uri", uri}}},
                                    {"position", json::Object{{"line", line}, {"character", character}}}});
  }
  int askAbout(StringRef method) { return ask(method, json::Object{{"textDocument", json::Object{{"uri", uri}}}}); }
  int askToRename(unsigned line, unsigned character, StringRef name) {
    return ask("textDocument/rename", json::Object{{"textDocument", json::Object{{"uri", uri}}},
                                                   {"position", json::Object{{"line", line}, {"character", character}}},
                                                   {"newName", name}});
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
    driver::runOnLargeStack(
        [&] { code = lsp::serve(std::make_unique<Script>(std::move(messages), times), stream, options); });
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
        answers[*id] = json(object.get("result")  ? *object.get("result")
                            : object.get("error") ? *object.get("error")
                                                  : json::Value(nullptr));
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

  /// Returns the text of the last edit after applying the edits of an answer.
  std::string apply(const std::string &text, int id) const {
    Expected<json::Value> answer = json::parse(answers.at(id));
    const json::Array *edits = answer->getAsArray();
    if (const json::Object *object = answer->getAsObject())
      if (const json::Object *changes = object->getObject("changes"))
        edits = changes->getArray(uri);
    if (!edits)
      return answers.at(id);
    auto offsetOf = [&](const json::Object &position) {
      size_t at = 0;
      for (int64_t line = *position.getInteger("line"); line > 0; --line)
        at = text.find('\n', at) + 1;
      return at + *position.getInteger("character"); // the text is ASCII
    };
    std::map<size_t, std::pair<size_t, std::string>> sorted;
    for (const json::Value &edit : *edits) {
      const json::Object &range = *edit.getAsObject()->getObject("range");
      sorted[offsetOf(*range.getObject("start"))] = {offsetOf(*range.getObject("end")),
                                                     edit.getAsObject()->getString("newText")->str()};
    }
    std::string result;
    size_t at = 0;
    for (const auto &[begin, edit] : sorted) {
      result += text.substr(at, begin - at) + edit.second;
      at = edit.first;
    }
    return result + text.substr(at);
  }

  std::map<int, std::string> answers; // answers in text form
  std::vector<json::Object> published;
  std::vector<double> times; // milliseconds, of each message
  int version = 0;
  driver::CompilerOptions options;

private:
  static std::string json(json::Value value) {
    std::string text;
    raw_string_ostream(text) << value;
    return text;
  }

  std::vector<std::string> messages;
  int asked = 0;
};

inline std::string read(const std::filesystem::path &path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

inline std::vector<std::filesystem::path> examples() {
  std::vector<std::filesystem::path> paths;
  for (const auto &entry : std::filesystem::recursive_directory_iterator(TILE_EXAMPLES))
    if (entry.path().extension() == ".tile")
      paths.push_back(entry.path());
  llvm::sort(paths);
  return paths;
}

/// A kernel and a helper whose names have several meanings.
inline constexpr const char *halve = R"(#: grid(cdiv(n, BLOCK))
#: buffer x[n] = inout
#: default n = 1000
@triton.heuristics({"BLOCK": lambda args: 256})
@tile.kernel
def halve(x: ptr[f32], n: i32, BLOCK: constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.device_print(f"{n:>{i}}", [n for n in (1, 2)])
    value = helper(x + i, mask=i < n)
    tl.store(x + i, value * 0.5, mask=i < n)


@tile.jit
def helper(x, mask):
    n = 0.0
    return tl.load(x, mask=mask, other=n)
)";

} // namespace tile::lsp::test
