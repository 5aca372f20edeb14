// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs a subprocess and waits for it, with limits on its time and on the output that is kept.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <atomic>
#include <string>

namespace tile::codegen {

/// A failure of the environment rather than of the input, such as a full disk or a program that cannot be started.
class EnvironmentError : public llvm::ErrorInfo<EnvironmentError> {
public:
  static char ID;
  explicit EnvironmentError(const llvm::Twine &message) : text(message.str()) {}
  void log(llvm::raw_ostream &os) const override { os << text; }
  std::error_code convertToErrorCode() const override { return llvm::inconvertibleErrorCode(); }

private:
  std::string text;
};

/// A string of which only the beginning and the end are kept.
class BoundedText {
public:
  explicit BoundedText(size_t most) : most(most) {}
  void append(llvm::StringRef part);
  /// Returns the whole string, or its beginning and end, truncated at line boundaries, with a line between them that
  /// states the number of omitted bytes.
  std::string take() const;

private:
  size_t most; ///< bytes that are kept at each end
  size_t dropped = 0;
  std::string head, tail;
};

struct Ended {
  int code = 0; ///< as in a shell: 128 + signal number if a signal ended the program
  std::string output;
};

/// Runs a program. Standard input is empty; standard output and standard error are collected in `output`. The program
/// is killed when this process ends for any reason, after `maxSeconds`, and when `cancelled` becomes true; the latter
/// two are errors. The program runs in a different working folder, so paths must be absolute. It inherits the
/// descriptors in `inherited`, even those that are close-on-exec.
llvm::Expected<Ended> runProgram(llvm::ArrayRef<std::string> command, llvm::ArrayRef<std::string> environment,
                                 int maxSeconds, llvm::ArrayRef<int> inherited = {},
                                 const std::atomic<bool> *cancelled = nullptr);

} // namespace tile::codegen
