// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Mutants.h"

#include <fmt/format.h>
#include <map>
#include <optional>
#include <sstream>

namespace tile::mutation {

namespace {

/// A line with one instruction: indentation and guard, name, operands up to the semicolon.
struct Statement {
  std::string guard; ///< "@%p1 ", or empty
  std::string name;  ///< "bar.sync"
  std::string operands;
};

std::optional<Statement> parseStatement(const std::string &line) {
  Statement statement;
  size_t begin = line.find_first_not_of(" \t");
  if (begin == std::string::npos)
    return {};
  if (line[begin] == '@') {
    size_t end = line.find_first_of(" \t", begin);
    if (end == std::string::npos)
      return {};
    statement.guard = line.substr(begin, end - begin) + " ";
    begin = line.find_first_not_of(" \t", end);
  }
  size_t semicolon = line.find(';', begin);
  if (begin == std::string::npos || semicolon == std::string::npos)
    return {};
  size_t end = line.find_first_of(" \t;", begin);
  statement.name = line.substr(begin, end - begin);
  size_t operands = line.find_first_not_of(" \t", end);
  statement.operands = operands < semicolon ? line.substr(operands, semicolon - operands) : "";
  return statement;
}

bool startsWith(const std::string &text, std::string_view prefix) {
  return text.starts_with(prefix);
}

std::string lastOperand(const std::string &operands) {
  size_t comma = operands.rfind(',');
  size_t begin = operands.find_first_not_of(" \t", comma == std::string::npos ? 0 : comma + 1);
  return begin == std::string::npos ? "" : operands.substr(begin);
}

std::string withLastOperand(const std::string &operands, const std::string &value) {
  size_t comma = operands.rfind(',');
  return comma == std::string::npos ? value : operands.substr(0, comma + 1) + " " + value;
}

bool isNumber(const std::string &text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
}

class Maker {
public:
  explicit Maker(const std::string &ptx) {
    std::istringstream stream(ptx);
    for (std::string line; std::getline(stream, line);)
      lines.push_back(line);
  }

  std::vector<Mutant> run() {
    for (size_t i = 0; i < lines.size(); ++i) {
      std::optional<Statement> statement = parseStatement(lines[i]);
      noteLocation(lines[i]);
      if (!statement || startsWith(statement->name, ".") || startsWith(statement->name, "//"))
        continue;
      noteConstant(*statement);
      mutate(i, *statement);
    }
    return std::move(mutants);
  }

private:
  void noteLocation(const std::string &line) {
    unsigned file = 0, row = 0, column = 0;
    if (std::sscanf(line.c_str(), " .loc %u %u %u", &file, &row, &column) == 3)
      place = fmt::format("{}:{}", row, column);
  }

  /// `mov.b32 %r41, 16384;`: the value of a register that is written once, as counts are.
  void noteConstant(const Statement &statement) {
    if (!startsWith(statement.name, "mov.") || !isNumber(lastOperand(statement.operands)))
      return;
    constants[statement.operands.substr(0, statement.operands.find(','))] = lastOperand(statement.operands);
  }

  void add(size_t index, const Statement &statement, const std::string &change, const std::string &replacement) {
    Mutant mutant;
    mutant.change = change;
    mutant.instruction = statement.guard + statement.name + " " + statement.operands;
    mutant.place = place;
    mutant.line = index + 1;
    mutant.ordinal = ordinals[change + statement.name + place]++;
    for (size_t i = 0; i < lines.size(); ++i)
      mutant.text += (i == index ? replacement : lines[i]) + "\n";
    mutants.push_back(std::move(mutant));
  }

  void mutate(size_t index, const Statement &s) {
    static constexpr std::string_view removed[] = {"bar.sync",
                                                   "bar.warp.sync",
                                                   "bar.red",
                                                   "bar.arrive",
                                                   "barrier.",
                                                   "mbarrier.arrive",
                                                   "mbarrier.expect_tx",
                                                   "fence.",
                                                   "membar",
                                                   "cp.async.commit_group",
                                                   "cp.async.wait_",
                                                   "cp.async.bulk.commit_group",
                                                   "cp.async.bulk.wait_group",
                                                   "wgmma.fence",
                                                   "wgmma.commit_group",
                                                   "wgmma.wait_group"};
    for (std::string_view name : removed)
      if (startsWith(s.name, name)) {
        add(index, s, "remove", "");
        break;
      }
    bool isTest = startsWith(s.name, "mbarrier.try_wait") || startsWith(s.name, "mbarrier.test_wait");
    if (isTest)
      add(index, s, "remove", fmt::format("{}mov.pred {}, 1;", s.guard, s.operands.substr(0, s.operands.find(','))));
    if (isTest && s.name.find("parity") != std::string::npos)
      flipParity(index, s);
    if (s.name.find("wait_group") != std::string::npos && isNumber(lastOperand(s.operands)))
      add(index, s, "allow one more",
          fmt::format("{}{} {};", s.guard, s.name, std::stoul(lastOperand(s.operands)) + 1));
    if (startsWith(s.name, "mbarrier.init") || s.name.find("expect_tx") != std::string::npos)
      halve(index, s);
    for (std::string_view order : {".release.", ".acquire."})
      if (!startsWith(s.name, "fence") && !startsWith(s.name, "mbarrier") && !startsWith(s.name, "barrier"))
        if (size_t at = s.name.find(order); at != std::string::npos) {
          std::string name = s.name;
          name.replace(at, order.size(), ".relaxed.");
          add(index, s, "relax", fmt::format("{}{} {};", s.guard, name, s.operands));
        }
  }

  void flipParity(size_t index, const Statement &s) {
    std::string parity = lastOperand(s.operands);
    add(index, s, "flip parity",
        fmt::format("{{\n.reg .b32 otherParity;\nxor.b32 otherParity, {}, 1;\n{}{} {};\n}}", parity, s.guard, s.name,
                    withLastOperand(s.operands, "otherParity")));
  }

  void halve(size_t index, const Statement &s) {
    std::string count = lastOperand(s.operands);
    if (auto known = constants.find(count); known != constants.end())
      count = known->second;
    if (!isNumber(count) || std::stoul(count) < 2)
      return;
    add(index, s, "halve",
        fmt::format("{}{} {};", s.guard, s.name, withLastOperand(s.operands, std::to_string(std::stoul(count) / 2))));
  }

  std::vector<std::string> lines;
  std::string place;
  std::map<std::string, std::string> constants;
  std::map<std::string, unsigned> ordinals;
  std::vector<Mutant> mutants;
};

} // namespace

std::string Mutant::name() const {
  size_t begin = instruction.starts_with('@') ? instruction.find(' ') + 1 : 0;
  return fmt::format("{} {} at {} #{}", change, instruction.substr(begin, instruction.find(' ', begin) - begin), place,
                     ordinal);
}

std::vector<Mutant> mutantsOf(const std::string &ptx) {
  return Maker(ptx).run();
}

} // namespace tile::mutation
