// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which warnings are reported, and which of them are errors, from flags as clang has them:
//
//   WarningOptions options;
//   options.apply("all");                    // -Wall
//   options.apply("no-uncoalesced");         // -Wno-uncoalesced
//   options.apply("error=offset-overflow");  // -Werror=offset-overflow
//
// Later flags win. A name is a warning's, a group's, or "all" (also "everything").

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tile::frontend {

enum class Diag;

struct WarningInfo {
  Diag id;
  std::string_view group;
  bool enabled; // without a flag
  std::string_view meaning;
};

/// Warnings.def, in its order.
const std::vector<WarningInfo> &allWarnings();

class WarningOptions {
public:
  WarningOptions();

  /// A flag without its "-W". False if it names no warning and no group.
  bool apply(std::string_view flag);
  /// "-w": reports no warning at all.
  void silence() { silent = true; }

  bool isEnabled(Diag id) const;
  /// Whether an enabled warning is reported as an error.
  bool isError(Diag id) const;

private:
  struct State {
    bool enabled;
    std::optional<bool> error; // else as -Werror says
  };
  /// Indices of the warnings that a name stands for.
  static std::vector<size_t> find(std::string_view name);

  std::vector<State> states; // by index in allWarnings()
  bool allErrors = false;
  bool silent = false;
};

/// Names of warnings and groups, for suggestions.
std::vector<std::string> warningNames();

/// The table that `tilec --help-warnings` prints.
std::string describeWarnings();

} // namespace tile::frontend
