// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Messages.h"

#include "Driver/DiagnosticLog.h"

#include <cstdlib>

namespace {

/// A stream without colors for LLVM, which does not check NO_COLOR itself.
class MessageStream final : public llvm::raw_ostream {
public:
  MessageStream() : llvm::raw_ostream(/*unbuffered=*/true), isPainted(tile::colours().messages) {}
  ~MessageStream() override { flushLines(line.size()); }

private:
  void write_impl(const char *text, size_t size) override {
    line.append(text, size);
    flushLines(line.rfind('\n') + 1); // 0 if there is no complete line
    position += size;
  }
  uint64_t current_pos() const override { return position; }

  void flushLines(size_t size) {
    const std::string_view whole = std::string_view(line).substr(0, size);
    if (isPainted)
      llvm::errs() << tile::runner::paintMessages(whole);
    else
      llvm::errs() << whole;
    line.erase(0, size);
  }

  bool isPainted;
  std::string line;
  uint64_t position = 0;
};

} // namespace

tile::runner::Colours tile::colours() {
  return runner::chooseColours(std::getenv("NO_COLOR"), std::getenv("TERM"));
}

int tile::fail(const driver::CompilerOptions &options, driver::Outcome outcome, const llvm::Twine &message) {
  messages() << driver::DiagnosticLog::printError(options.diagnosticsFormat, message.str());
  return int(outcome);
}

llvm::raw_ostream &tile::messages() {
  static MessageStream stream;
  return stream;
}
