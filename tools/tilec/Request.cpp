// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Values are encoded as CBOR. The worker rejects requests of a different version.
#include "Request.h"

#include "Driver/OutputFile.h"
#include "Driver/Version.h"

#include <nlohmann/json.hpp>

using Json = nlohmann::json;
using llvm::StringRef;

namespace tile {
namespace {

std::string toBytes(const Json &json) {
  std::vector<uint8_t> bytes = Json::to_cbor(json);
  return {bytes.begin(), bytes.end()};
}

/// Decodes CBOR. Strings may contain any bytes, which CBOR, unlike JSON, represents unchanged.
Json fromBytes(StringRef bytes) {
  return Json::from_cbor(bytes.begin(), bytes.end(), /*strict=*/true, /*allow_exceptions=*/false);
}

bool read(const Json &json, const char *key, std::string &value) {
  auto found = json.find(key);
  if (found == json.end() || !found->is_string())
    return false;
  value = found->get<std::string>();
  return true;
}

bool read(const Json &json, const char *key, std::vector<std::string> &values) {
  auto found = json.find(key);
  if (found == json.end() || !found->is_array())
    return false;
  for (const Json &value : *found) {
    if (!value.is_string())
      return false;
    values.push_back(value.get<std::string>());
  }
  return true;
}

} // namespace

std::string encode(const Request &request) {
  return toBytes({{"version", driver::compilerVersion},
                  {"name", request.name},
                  {"text", request.text},
                  {"options", request.options}});
}

std::string encode(const Answer &answer) {
  return toBytes({{"outcome", int(answer.outcome)},
                  {"artifact", answer.artifact},
                  {"diagnostics", answer.diagnostics},
                  {"files", answer.files}});
}

std::optional<Request> decodeRequest(StringRef bytes) {
  Json json = fromBytes(bytes);
  Request request;
  std::string version;
  if (!json.is_object() || !read(json, "version", version) || version != driver::compilerVersion ||
      !read(json, "name", request.name) || !read(json, "text", request.text) || !read(json, "options", request.options))
    return std::nullopt;
  return request;
}

std::optional<Answer> decodeAnswer(StringRef bytes) {
  Json json = fromBytes(bytes);
  Answer answer;
  if (!json.is_object() || !json.contains("outcome") || !json["outcome"].is_number_integer() ||
      !read(json, "artifact", answer.artifact) || !read(json, "diagnostics", answer.diagnostics) ||
      !read(json, "files", answer.files))
    return std::nullopt;
  int64_t outcome = json["outcome"].get<int64_t>();
  if (outcome < 0 || outcome > int64_t(driver::Outcome::Cancelled))
    return std::nullopt;
  answer.outcome = driver::Outcome(outcome);
  return answer;
}

std::optional<Answer> prepareRequest(const Request &request, CommandLine &line) {
  line.compiler.input = request.name;
  line.compiler.inputText = request.text;
  std::vector<const char *> words;
  for (const std::string &option : request.options)
    words.push_back(option.c_str());
  Answer answer;
  llvm::raw_string_ostream errors(answer.diagnostics);
  if (parseLibraryOptions(words, line, errors))
    return std::nullopt;
  answer.outcome = driver::Outcome::Usage;
  return answer;
}

Answer answerRequest(CommandLine line) {
  Answer answer;
  llvm::raw_string_ostream errors(answer.diagnostics);
  driver::VariantCompilation compilation(std::move(line.compiler), std::move(line.variants), errors);
  bool isMade = compilation.run();
  compilation.printDiagnostics();
  answer.outcome = compilation.outcome();
  answer.files = compilation.sourceFiles();
  if (isMade)
    answer.artifact = compilation.result();
  return answer;
}

int workerCommand() {
  llvm::Expected<std::string> bytes = driver::readInput("-");
  std::optional<Request> request;
  if (bytes)
    request = decodeRequest(*bytes);
  else
    llvm::consumeError(bytes.takeError());
  if (!request) {
    llvm::errs() << "tilec: error: standard input has no request of " << driver::compilerVersion << '\n';
    return int(driver::Outcome::Usage);
  }
  CommandLine line;
  std::optional<Answer> wrong = prepareRequest(*request, line);
  llvm::outs() << encode(wrong ? *wrong : answerRequest(std::move(line)));
  return 0;
}

} // namespace tile
