// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Makes the reference interpreter a device of the runner, so that buffers, references and checks are the same as for
// GPUs.
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

/// Selects the checks and the debugger of a run.
struct InterpreterOptions {
  bool checkRaces = true;
  bool checkUninitialized = true;
  bool checkOverflow = false;
  interp::Debugger::Request debug;
  std::optional<runner::TimeLimit> limit;

  bool needsDebugger() const { return !debug.breakpoints.empty() || !debug.printLines.empty(); }
};

/// Collects, from the records of the front end, the names and source lines that the debugger shows.
interp::DebugInfo makeDebugInfo(KernelOp kernel, const frontend::KernelText &text, llvm::StringRef source);

/// Creates the device. `kernel` must outlive it. Debugger commands are read from standard input.
std::unique_ptr<runner::Device> createInterpreterDevice(KernelOp kernel, InterpreterOptions options,
                                                        interp::DebugInfo info);

} // namespace tile::driver
