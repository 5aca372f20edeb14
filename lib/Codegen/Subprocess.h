// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A program that this one starts and waits for, with bounds on its time and on what is kept of its output.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <atomic>
#include <string>

namespace tile::codegen {

/// Something outside of the compiler is wrong: no room in a folder, a program that cannot be started.
class EnvironmentError : public llvm::ErrorInfo<EnvironmentError> {
public:
  static char ID;
  explicit EnvironmentError(const llvm::Twine &message) : text(message.str()) {}
  void log(llvm::raw_ostream &os) const override { os << text; }
  std::error_code convertToErrorCode() const override { return llvm::inconvertibleErrorCode(); }

private:
  std::string text;
};

/// A text of which only the beginning and the end are kept.
class BoundedText {
public:
  explicit BoundedText(size_t most) : most(most) {}
  void append(llvm::StringRef part);
  /// All of it; or its two ends, cut at lines, and between them a line that says how much is missing.
  std::string take() const;

private:
  size_t most; ///< bytes of either end
  size_t dropped = 0;
  std::string head, tail;
};

struct Ended {
  int code = 0; ///< as a shell has it: 128 more than the signal's number
  std::string output;
};

/// Runs a program; nothing is read from standard input, what it prints to the other two is `output`. It ends with this
/// process, however that ends, after `maxSeconds`, and when `cancelled` becomes true, which is an error. It runs in
/// another folder: paths are absolute. It has the descriptors `inherited`, even those that are closed at exec.
llvm::Expected<Ended> runProgram(llvm::ArrayRef<std::string> command, llvm::ArrayRef<std::string> environment,
                                 int maxSeconds, llvm::ArrayRef<int> inherited = {},
                                 const std::atomic<bool> *cancelled = nullptr);

} // namespace tile::codegen
