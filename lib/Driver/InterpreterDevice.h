// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The reference interpreter as a device of the runner, so that it shares buffers, references and checks with GPUs.
#pragma once

#include "Interpreter/Debugger.h"
#include "Runner/Device/Device.h"
#include "Runner/LongWork.h"
#include "Tile/TileDialect.h"

#include <memory>

namespace tile::frontend {
struct KernelText;
}

namespace tile::driver {

/// What to look for in a run.
struct InterpreterOptions {
  bool checkRaces = true;
  bool checkUninitialized = true;
  bool checkOverflow = false;
  interp::Debugger::Request debug;
  std::optional<runner::TimeLimit> limit;

  bool wantsDebugger() const { return !debug.breakpoints.empty() || !debug.printLines.empty(); }
};

/// Names and lines for a debugger, from what the front end has recorded.
interp::DebugInfo makeDebugInfo(KernelOp kernel, const frontend::KernelText &text, llvm::StringRef source);

/// `kernel` must outlive the device. Commands of the debugger come from standard input.
std::unique_ptr<runner::Device> createInterpreterDevice(KernelOp kernel, InterpreterOptions options,
                                                        interp::DebugInfo info);

} // namespace tile::driver
