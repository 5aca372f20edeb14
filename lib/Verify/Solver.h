// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Z3, loaded with dlopen when a kernel is verified: compilations neither link nor load it.
//
//   Solver solver = *Solver::load();
//   solver.check("(declare-const x Int)(assert (< 3 x 5))", 1000).values["x"]      4
#pragma once

#include "mlir/Support/LLVM.h"
#include "llvm/Support/Error.h"

#include <map>
#include <memory>
#include <string>

namespace tile::verify {

struct SolverAnswer {
  enum class Kind { Satisfiable, Unsatisfiable, Unknown } kind = Kind::Unknown;
  std::map<std::string, std::string> values; ///< decimal integers and truth values by name, if satisfiable
};

class Solver {
public:
  /// Loads the library. Fails, with installation instructions, if it is not installed.
  static llvm::Expected<std::unique_ptr<Solver>> load();
  ~Solver();

  /// Decides an SMT-LIB script of declarations and assertions. Gives up after the given number of milliseconds.
  SolverAnswer check(const std::string &script, unsigned milliseconds);

private:
  struct Functions;
  class Deadline;
  explicit Solver(std::unique_ptr<Functions> functions);

  std::unique_ptr<Functions> z3;
};

} // namespace tile::verify
