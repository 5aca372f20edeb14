// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "RunLines.h"

#include <algorithm>
#include <map>
#include <regex>
#include <sstream>

namespace tile::fuzz {

namespace {

using Macros = std::map<std::string, std::string>;

std::string trimmed(const std::string &text) {
  const size_t first = text.find_first_not_of(" \t"), last = text.find_last_not_of(" \t");
  return first == std::string::npos ? "" : text.substr(first, last - first + 1);
}

std::string expand(std::string line, const Macros &macros) {
  constexpr int deepest = 8;
  for (int depth = 0; depth < deepest; ++depth)
    for (const auto &[name, value] : macros)
      for (size_t at = 0; (at = line.find(name, at)) != std::string::npos; at += value.size())
        line.replace(at, name.size(), value);
  // Substitutions on a machine without a GPU.
  static const std::regex either("%if \\S+ %\\{.*?%\\} %else %\\{(.*?)%\\}"), only("%if \\S+ %\\{.*?%\\}");
  return std::regex_replace(std::regex_replace(line, either, "$1"), only, "");
}

/// Splits words like a shell, except that spaces in quotes are removed.
std::vector<std::string> splitWords(const std::string &command) {
  std::vector<std::string> words;
  std::string word;
  char quote = 0;
  bool isWord = false;
  for (char c : command + " ") {
    if (quote ? c == quote : c == '"' || c == '\'') {
      quote = quote ? 0 : c;
      isWord = true;
    } else if (c != ' ') {
      word += c;
      isWord = true;
    } else if (!quote && isWord) {
      words.push_back(word);
      word.clear();
      isWord = false;
    }
  }
  return words;
}

/// Splits at operators of the shell outside of quotes.
std::vector<std::string> splitCommands(const std::string &line) {
  std::vector<std::string> commands(1);
  char quote = 0;
  for (char c : line) {
    if (quote ? c == quote : c == '"' || c == '\'')
      quote = quote ? 0 : c;
    if (!quote && (c == '&' || c == '|' || c == ';'))
      commands.emplace_back();
    else
      commands.back() += c;
  }
  return commands;
}

void addLaunches(const std::string &line, std::vector<std::vector<std::string>> &launches) {
  for (const std::string &text : splitCommands(line)) {
    const std::string command = trimmed(text);
    for (const std::string program : {"%tilec-run ", "tilec run "})
      if (command.starts_with(program))
        launches.push_back(splitWords(command.substr(program.size())));
  }
}

} // namespace

std::vector<std::vector<std::string>> readLaunches(const std::string &text) {
  std::vector<std::vector<std::string>> launches;
  Macros macros;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    constexpr std::string_view runMark = "RUN: ", defineMark = "DEFINE: "; // also finds REDEFINE
    if (const size_t at = line.find(runMark); at != std::string::npos) {
      addLaunches(expand(line.substr(at + runMark.size()), macros), launches);
    } else if (const size_t at = line.find(defineMark); at != std::string::npos) {
      const std::string definition = line.substr(at + defineMark.size());
      const size_t equals = std::min(definition.find('='), definition.size() - 1);
      macros[trimmed(definition.substr(0, equals))] = trimmed(definition.substr(equals + 1));
    }
  }
  return launches;
}

} // namespace tile::fuzz
