// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs a subprocess and waits for it, with limits on its time and on the output that is kept.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <atomic>
#include <string>

namespace tile::codegen {

/// A failure of the environment rather than of the input: a full disk, a program that cannot be started.
class EnvironmentError : public llvm::ErrorInfo<EnvironmentError> {
public:
  static char ID;
  explicit EnvironmentError(const llvm::Twine &message) : text(message.str()) {}
  void log(llvm::raw_ostream &os) const override { os << text; }
  std::error_code convertToErrorCode() const override { return llvm::inconvertibleErrorCode(); }

private:
  std::string text;
};

/// A text that keeps only its beginning and its end.
class BoundedText {
public:
  explicit BoundedText(size_t most) : most(most) {}
  void append(llvm::StringRef part);
  /// Returns the whole text, or its two ends, cut at line boundaries, and between them a line with the number of
  /// missing bytes.
  std::string take() const;

private:
  size_t most; ///< bytes kept of each end
  size_t dropped = 0;
  std::string head, tail;
};

struct Ended {
  int code = 0; ///< as in a shell: 128 + number for a signal
  std::string output;
};

/// Runs a program. Standard input is empty; standard output and error are collected in `output`. The program is killed
/// when this process ends for any reason, after `maxSeconds`, and when `cancelled` becomes true, which is an error. It
/// runs in another folder, so paths must be absolute. It inherits the descriptors `inherited`, even close-on-exec ones.
llvm::Expected<Ended> runProgram(llvm::ArrayRef<std::string> command, llvm::ArrayRef<std::string> environment,
                                 int maxSeconds, llvm::ArrayRef<int> inherited = {},
                                 const std::atomic<bool> *cancelled = nullptr);

} // namespace tile::codegen
