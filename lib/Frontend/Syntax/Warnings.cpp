// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The table of warnings, and the evaluation of flags.

#include "Frontend/Syntax/Warnings.h"

#include "Frontend/Syntax/Diagnostics.h"

#include <algorithm>

namespace tile::frontend {

const std::vector<WarningInfo> &allWarnings() {
  static const std::vector<WarningInfo> table = {
#define TILE_WARNING(id, group, enabled, meaning) {Diag::id, #group, enabled, meaning},
#include "Frontend/Syntax/Warnings.def"
  };
  return table;
}

WarningOptions::WarningOptions() {
  for (const WarningInfo &info : allWarnings())
    states.push_back({info.enabled, std::nullopt});
}

std::vector<size_t> WarningOptions::find(std::string_view name) {
  std::vector<size_t> found;
  const std::vector<WarningInfo> &table = allWarnings();
  for (size_t i = 0; i < table.size(); ++i)
    if (name == "all" || name == "everything" || name == table[i].group || name == diagnosticName(table[i].id))
      found.push_back(i);
  return found;
}

bool WarningOptions::apply(std::string_view flag) {
  bool isNegative = flag.starts_with("no-");
  std::string_view name = isNegative ? flag.substr(3) : flag;
  if (name == "error") {
    allErrors = !isNegative;
    return true;
  }
  constexpr std::string_view errorPrefix = "error=";
  bool isError = name.starts_with(errorPrefix);
  std::vector<size_t> chosen = find(isError ? name.substr(errorPrefix.size()) : name);
  for (size_t index : chosen) {
    State &state = states[index];
    if (isError)
      state.error = !isNegative;
    if (!isError || !isNegative) // -Werror=x also enables x; -Wno-error=x leaves it unchanged
      state.enabled = !isNegative;
  }
  return !chosen.empty();
}

static size_t indexOf(Diag id) {
  const std::vector<WarningInfo> &table = allWarnings();
  auto found = std::find_if(table.begin(), table.end(), [&](const WarningInfo &info) { return info.id == id; });
  return static_cast<size_t>(found - table.begin());
}

bool WarningOptions::isEnabled(Diag id) const {
  size_t index = indexOf(id);
  return !silent && (index >= states.size() || states[index].enabled);
}

bool WarningOptions::isError(Diag id) const {
  size_t index = indexOf(id);
  return index < states.size() ? states[index].error.value_or(allErrors) : allErrors;
}

std::vector<std::string> warningNames() {
  std::vector<std::string> names = {"all", "error"};
  for (const WarningInfo &info : allWarnings()) {
    names.push_back(diagnosticName(info.id));
    if (std::find(names.begin(), names.end(), info.group) == names.end())
      names.emplace_back(info.group);
  }
  return names;
}

std::string describeWarnings() {
  std::string text =
      "Warnings: -W<name> enables a warning, -Wno-<name> disables it, -Werror=<name> makes it an error; the name may "
      "be\nthat of a group. -Wall enables all warnings, -Werror makes enabled ones errors, -w suppresses all.\n";
  std::string_view group;
  for (const WarningInfo &info : allWarnings()) {
    if (info.group != group)
      text += "\n-W" + std::string(info.group) + '\n';
    group = info.group;
    std::string flag = "  -W" + diagnosticName(info.id);
    constexpr size_t meaningColumn = 30;
    flag.resize(std::max(flag.size() + 1, meaningColumn), ' ');
    text += flag + std::string(info.meaning) + (info.enabled ? " (on)\n" : "\n");
  }
  return text;
}

} // namespace tile::frontend
