// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Lab/Verify/Verdict.h"

#include <nlohmann/json.hpp>

namespace tile::runner {

static constexpr size_t maxUnreachedShown = 3;

std::string quoteWord(const std::string &text) {
  constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./,:@%";
  if (!text.empty() && text.find_first_not_of(plain) == std::string::npos)
    return text;
  std::string quoted = "'";
  for (char c : text)
    quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted + "'";
}

std::string formatVerdict(const Verdict &verdict, size_t width, std::string_view unit) {
  const std::string name = verdict.variant.empty() ? "(the only one)" : verdict.variant;
  std::string text = fmt::format("  {:<{}}  ", name, width);
  if (!verdict.skipped.empty())
    return text + fmt::format("not run: {}\n", verdict.skipped);
  if (!verdict.equal.empty())
    return text + fmt::format("equal: {}\n", verdict.equal);
  const std::string runs = fmt::format("{} {}{}", verdict.runs, unit, verdict.runs == 1 ? "" : "s");
  if (verdict.isCached)
    text += runs + " passed before";
  else
    text += verdict.problem.empty() ? runs + " passed" : "FAILED after " + runs;
  if (verdict.problem.empty() && !verdict.isCached && verdict.runs < verdict.planned)
    text += fmt::format(" of {} planned", verdict.planned);
  if (verdict.instructions)
    text += fmt::format(", {} of {} instructions reached", verdict.reached, verdict.instructions);
  if (!verdict.required.empty())
    text += (verdict.problem.empty() ? ", " : ", required: ") + verdict.required;
  text += '\n';
  for (size_t i = 0; i < std::min(maxUnreachedShown, verdict.unreached.size()); ++i)
    text += fmt::format("    not reached: {}\n", verdict.unreached[i]);
  if (verdict.unreached.size() > maxUnreachedShown)
    text += fmt::format("    and {} more\n", verdict.unreached.size() - maxUnreachedShown);
  if (!verdict.note.empty())
    text += fmt::format("    note: {}\n", verdict.note);
  if (verdict.problem.empty())
    return text;
  text += "    ";
  for (char c : verdict.problem)
    text += c == '\n' ? "\n    " : std::string(1, c);
  return text + fmt::format("\n    again: {}\n", verdict.command);
}

nlohmann::ordered_json verdictToJson(const Verdict &verdict) {
  nlohmann::ordered_json json = {{"variant", verdict.variant},
                                 {"target", verdict.target},
                                 {"runs", verdict.runs},
                                 {"planned", verdict.planned},
                                 {"passed", verdict.problem.empty() && verdict.skipped.empty()}};
  if (verdict.isCached)
    json["cached"] = true;
  if (verdict.instructions) {
    json["instructions"] = verdict.instructions;
    json["reached"] = verdict.reached;
    json["unreached"] = verdict.unreached;
  }
  for (const auto &[name, text] : {std::pair("required", &verdict.required), std::pair("note", &verdict.note),
                                   std::pair("problem", &verdict.problem), std::pair("command", &verdict.command),
                                   std::pair("equal", &verdict.equal), std::pair("not_run", &verdict.skipped)})
    if (!text->empty())
      json[name] = *text;
  return json;
}

} // namespace tile::runner
