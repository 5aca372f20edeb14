// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Conditions, names, and the record of what is unknown. HostReaderWalk.cpp handles statements, SemaConfigs.cpp
// configurations.

#include "Frontend/Sema/HostReader.h"
#include "Frontend/Sema/Evaluator.h"
#include "Frontend/Sema/ModuleNames.h"

#include "Frontend/Host/HostFacts.h"

using namespace mlir;

namespace tile::frontend {

HostReader::HostReader(Sema &sema, const FunctionStmt &kernel)
    : sema(sema), kernel(kernel), decorated(&kernel), reportedBefore(sema.session.diagnostics.all().size()),
      workBefore(sema.session.work) {
  assert(!sema.session.host && "configurations are not nested");
  sema.session.host = this;
  sema.session.work = 0; // separate budget, so that an endless list does not end the compilation
  ++sema.session.hostDepth;
  ++sema.session.quietDepth;
}

HostReader::~HostReader() {
  --sema.session.quietDepth;
  --sema.session.hostDepth;
  sema.session.host = nullptr;
  sema.session.exhausted = false;
  sema.session.work = workBefore;
  (void)sema.session.diagnostics.takeSince(reportedBefore);
}

void HostReader::note(Diag what, SourceRange range, size_t reported) {
  std::vector<Diagnostic> since = sema.session.diagnostics.takeSince(reported);
  bool isNew = llvm::none_of(notes, [&](const UnknownHost &other) {
    return other.range.file == range.file && other.range.begin == range.begin;
  });
  constexpr size_t mostNotes = 8;
  if (isNew && notes.size() < mostNotes)
    notes.push_back({what, range, since.empty() ? "it depends on a run-time value" : since.front().message});
}

/// Returns nullopt for an unknown condition, and records the reason.
std::optional<bool> HostReader::truth(const Expr &condition) {
  if (std::optional<bool> fact = hostCondition(condition, sema.session.request.targetCapability))
    return fact;
  size_t reported = sema.session.diagnostics.all().size();
  SymValue value = sema.evaluator.evaluate(condition);
  std::optional<bool> holds = truthOf(value);
  if (!holds)
    note(Diag::unknown_condition, condition.range, reported);
  return holds;
}

/// Marks configurations that an undecided condition has let through.
void HostReader::markConditional(const SymValue &value) {
  if (!isPruning || openDecisions == 0)
    return;
  if (value.kind == SymValue::Kind::Configuration)
    configuration(value).isConditional = true;
  for (const SymValue &element : value.elements)
    markConditional(element);
}

std::vector<SymValue> HostReader::configurationsOf(const SymValue &list, SourceRange range) {
  constexpr size_t most = 4096; // longer lists are assumed to be errors
  std::vector<SymValue> found;
  for (const SymValue &element : list.elements) {
    if (element.kind == SymValue::Kind::Configuration)
      found.push_back(element);
    if (found.size() <= most)
      continue;
    found.pop_back();
    notes.push_back({Diag::too_many_configurations, range, std::to_string(most)});
    break;
  }
  return found;
}

std::optional<SymValue> HostReader::lookup(const std::string &name) {
  ModuleValue value;
  bool isDecorators = false;
  if (auto known = sema.names.decoratorValues.find(decorated); known != sema.names.decoratorValues.end())
    if (auto found = known->second.find(name); found != known->second.end()) {
      value = found->second;
      isDecorators = true;
    }
  ModuleScope *owner = sema.names.current;
  auto host = owner->hostValues.find(name);
  bool isHost = host != owner->hostValues.end();
  // Module flags are answered by name.
  auto plain = owner->expressions.find(name);
  if (isDecorators && !value.needsRun() && plain != owner->expressions.end() && plain->second == value.expression)
    return std::nullopt;
  if (!isDecorators) {
    if (!isHost && (owner->globals.contains(name) || !owner->expressions.contains(name) || !sema.names.needsRun(name)))
      return std::nullopt;
    value = {isHost ? host->second : owner->expressions[name], owner->statements[name]};
  }
  auto key = std::pair(name, std::pair(value.expression, value.statements.size()));
  if (auto known = values.find(key); known != values.end())
    return known->second;
  std::string guard = "configurations " + name; // for mutually recursive lists
  if (!owner->pending.insert(guard).second)
    return SymValue();
  const FunctionStmt *reader = std::exchange(decorated, nullptr);
  SymValue result;
  {
    InModule inside(sema, owner);
    if (value.needsRun()) {
      SymValue returned;
      walk(value.statements, returned);
      result = sema.session.scope[name].value;
    } else {
      result = sema.evaluator.evaluate(*value.expression);
    }
  }
  owner->pending.erase(guard);
  decorated = reader;
  return values[key] = result;
}

} // namespace tile::frontend
