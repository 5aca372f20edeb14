// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Verify/Report.h"

#include "llvm/Support/FormatVariadic.h"

namespace tile::verify {

static const char *nameOf(Answer answer) {
  switch (answer) {
  case Answer::Proven:
    return "proven";
  case Answer::Conditional:
    return "conditional";
  case Answer::Unknown:
    return "unknown";
  case Answer::Refuted:
    return "counterexample";
  }
  return "";
}

std::string toLine(const Finding &finding) {
  std::string line = (finding.position.empty() ? "?" : finding.position) + ": " + finding.kind;
  if (!finding.subject.empty())
    line += (finding.kind == "programs" ? " that write " : finding.kind == "output" ? " " : " of ") + finding.subject;
  line += std::string(": ") + nameOf(finding.answer);
  if (!finding.counterexample.empty())
    line += ": " + finding.counterexample;
  if (!finding.reason.empty())
    line += ": " + finding.reason;
  return line;
}

std::string summarize(const Report &report) {
  size_t others = 0, conditional = 0, unproven = 0, refuted = 0;
  for (const Finding &finding : report.conditions) {
    ++others;
    conditional += finding.answer == Answer::Conditional;
    unproven += finding.answer == Answer::Unknown;
    refuted += finding.answer == Answer::Refuted;
  }
  std::string text = llvm::formatv(
      "{0} accesses: {1} proven, {2} conditional, {3} unknown, {4} refuted; {5} other conditions: {6} proven, {7} "
      "unknown, {8} refuted",
      report.accesses.size(), report.count(Answer::Proven), report.count(Answer::Conditional),
      report.count(Answer::Unknown), report.count(Answer::Refuted), others, others - conditional - unproven - refuted,
      unproven, refuted);
  if (conditional > 0)
    text += llvm::formatv(", {0} conditional", conditional);
  if (report.isTimeOver)
    text += "; the time limit was reached";
  return text;
}

static llvm::json::Array toJson(llvm::ArrayRef<Finding> findings) {
  llvm::json::Array list;
  for (const Finding &finding : findings) {
    llvm::json::Object entry{
        {"position", finding.position}, {"kind", finding.kind}, {"answer", nameOf(finding.answer)}};
    if (!finding.subject.empty())
      entry["buffer"] = finding.subject;
    if (!finding.reason.empty())
      entry["reason"] = finding.reason;
    if (!finding.counterexample.empty())
      entry["counterexample"] = finding.counterexample;
    list.push_back(std::move(entry));
  }
  return list;
}

llvm::json::Object toJson(const Report &report) {
  return llvm::json::Object{{"accesses", toJson(llvm::ArrayRef(report.accesses))},
                            {"conditions", toJson(llvm::ArrayRef(report.conditions))},
                            {"time_limit_reached", report.isTimeOver}};
}

} // namespace tile::verify
