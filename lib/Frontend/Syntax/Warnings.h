// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Selects the warnings that are reported, and those that are errors, with clang's flags:
//
//   WarningOptions options;
//   options.apply("all");                    // -Wall
//   options.apply("no-uncoalesced");         // -Wno-uncoalesced
//   options.apply("error=offset-overflow");  // -Werror=offset-overflow
//
// Later flags take precedence. A flag names a warning, a group, or "all" (also "everything").

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
  bool enabled; // default without a flag
  std::string_view meaning;
};

/// Returns the warnings of Warnings.def, in the same order.
const std::vector<WarningInfo> &allWarnings();

class WarningOptions {
public:
  WarningOptions();

  /// Applies a flag, which is passed without its "-W". Returns false if the flag names neither a warning nor a group.
  bool apply(std::string_view flag);
  /// "-w": disables all warnings.
  void silence() { silent = true; }

  bool isEnabled(Diag id) const;
  /// Returns true if an enabled warning is reported as an error.
  bool isError(Diag id) const;

private:
  struct State {
    bool enabled;
    std::optional<bool> error; // nullopt: as -Werror specifies
  };
  /// Returns the indices of the warnings that a name denotes.
  static std::vector<size_t> find(std::string_view name);

  std::vector<State> states; // by index in allWarnings()
  bool allErrors = false;
  bool silent = false;
};

/// Returns the names of warnings and groups, for suggestions.
std::vector<std::string> warningNames();

/// Returns the table that `tilec --help-warnings` prints.
std::string describeWarnings();

} // namespace tile::frontend
