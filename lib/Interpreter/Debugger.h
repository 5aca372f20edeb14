// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A debugger for kernels: stops before source lines, prints variables, and steps through programs and their helpers.
//
//   $ tilec run k.tile --device=interp --break 'pid==(1,0) and line==12'
//   stopped in program (1, 0, 0) at k.tile:12 in 'k'
//     12  total = tl.sum(x, axis=0)
//   (tile) print x
//   x: f32[64] = [0.5, 1, 2.25, ..., 7, 8.5, 9]
//
// Commands are read from a stream, so a script can drive the debugger, which also stops at errors of the kernel.
#pragma once

#include "Interpreter/Condition.h"

#include <iosfwd>
#include <set>

namespace tile::interp {

class Debugger : public Observer {
public:
  /// Prints the variables that a line assigns (or uses, if it assigns none) when the line is left and the condition
  /// holds.
  struct PrintedLine {
    unsigned line = 0;
    std::optional<Condition> condition;
  };
  struct Request {
    std::vector<Condition> breakpoints;
    std::vector<PrintedLine> printLines;
  };

  Debugger(DebugInfo info, Request request, std::istream &in, llvm::raw_ostream &out)
      : info(std::move(info)), request(std::move(request)), in(in), out(out), wasTrue(this->request.breakpoints.size()),
        hasStopped(this->request.breakpoints.size()) {}

  bool before(Machine &machine, const Instruction &instruction) override;
  void ended(Machine &machine) override;
  /// Reports breakpoints that no program has reached; call after all programs have ended.
  void reportUnreached() const;

private:
  enum class Mode { Continue, Step, Next };

  void leaveLines(Machine &machine, llvm::ArrayRef<StackFrame> next);
  bool isPrinted(const Machine &machine, const StackFrame &frame) const;
  void leaveLine(Machine &machine, const StackFrame &frame);
  bool isBreakpoint(Machine &machine, mlir::Operation *op, const StackFrame &frame);
  /// Reads commands until one of them resumes execution. Returns false if the run should end.
  bool prompt(Machine &machine);
  bool execute(Machine &machine, llvm::StringRef command, llvm::StringRef argument, bool &resumes);
  void showPlace(const Machine &machine, llvm::StringRef reason);
  void print(const Machine &machine, llvm::StringRef text);
  bool printElementOf(const Machine &machine, llvm::StringRef text);
  void printVariable(const Machine &machine, const Variable &variable);
  void move(const Machine &machine, int distance);
  void list() const;
  void where() const;
  void addBreakpoint(llvm::StringRef text);

  DebugInfo info;
  Request request;
  std::istream &in;
  llvm::raw_ostream &out;

  Mode mode = Mode::Continue;
  size_t stepDepth = 0;            ///< stack depth at the last "next"
  std::vector<bool> wasTrue;       ///< conditions that held at the last line
  std::vector<bool> hasStopped;    ///< conditions that have held anywhere
  std::vector<StackFrame> stack;   ///< current call stack
  size_t selected = 0;             ///< frame that commands refer to
  mlir::Operation *here = nullptr; ///< instruction before or in which execution is stopped
  std::optional<std::array<uint32_t, 3>> program;
  std::string lastCommand;
};

} // namespace tile::interp
