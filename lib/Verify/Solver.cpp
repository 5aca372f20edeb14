// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Verify/Solver.h"

#include <chrono>
#include <condition_variable>
#include <dlfcn.h>
#include <mutex>
#include <thread>

namespace tile::verify {

struct Solver::Functions {
#define FUNCTION(result, name, ...) result (*name)(__VA_ARGS__) = nullptr;
#include "Verify/Z3.def"

  /// Looks up the functions. Returns the name of one that the library lacks, or null.
  const char *lookUp(void *library) {
#define FUNCTION(result, name, ...)                                                                                    \
  name = reinterpret_cast<result (*)(__VA_ARGS__)>(dlsym(library, "Z3_" #name));                                       \
  if (!name)                                                                                                           \
    return "Z3_" #name;
#include "Verify/Z3.def"
    return nullptr;
  }
};

/// Interrupts a check when its time limit expires, because Z3's timeout does not interrupt long steps of nonlinear
/// arithmetic.
class Solver::Deadline {
public:
  Deadline(const Functions &z3, void *context, unsigned milliseconds)
      : thread([=, this, &z3] {
          std::unique_lock<std::mutex> lock(mutex);
          auto isEnded = [&] { return hasEnded; };
          if (ended.wait_for(lock, std::chrono::milliseconds(milliseconds), isEnded))
            return;
          // An interrupt before the check begins has no effect, so it is repeated.
          do
            z3.interrupt(context);
          while (!ended.wait_for(lock, std::chrono::milliseconds(10), isEnded));
        }) {}
  ~Deadline() {
    {
      std::lock_guard<std::mutex> lock(mutex);
      hasEnded = true;
    }
    ended.notify_one();
    thread.join();
  }

private:
  std::mutex mutex;
  std::condition_variable ended;
  bool hasEnded = false;
  std::thread thread;
};

Solver::Solver(std::unique_ptr<Functions> functions) : z3(std::move(functions)) {}
Solver::~Solver() = default;

llvm::Expected<std::unique_ptr<Solver>> Solver::load() {
  void *library = dlopen("libz3.so.4", RTLD_NOW | RTLD_LOCAL);
  if (!library)
    library = dlopen("libz3.so", RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return llvm::createStringError("verifying needs Z3, libz3.so.4; install it, on Debian: apt install libz3-4");
  auto functions = std::make_unique<Functions>();
  if (const char *missing = functions->lookUp(library))
    return llvm::createStringError(std::string("the installed Z3 lacks ") + missing + "; install version 4.8 or later");
  return std::unique_ptr<Solver>(new Solver(std::move(functions)));
}

/// Parses lines of the form `x -> 5` or `x -> (- 5)`. Functions, which take several lines, do not occur.
static std::map<std::string, std::string> readModel(llvm::StringRef text) {
  std::map<std::string, std::string> values;
  llvm::SmallVector<llvm::StringRef> lines;
  text.split(lines, '\n');
  for (llvm::StringRef line : lines) {
    auto [name, value] = line.split(" -> ");
    std::string plain;
    for (char letter : value)
      if (letter != '(' && letter != ')' && letter != ' ')
        plain += letter;
    values[name.trim().str()] = plain;
  }
  return values;
}

SolverAnswer Solver::check(const std::string &script, unsigned milliseconds) {
  SolverAnswer answer;
  void *config = z3->mk_config();
  void *context = z3->mk_context(config);
  z3->del_config(config);
  z3->set_error_handler(context, [](void *, int) {});
  void *solver = z3->mk_simple_solver(context);
  z3->solver_inc_ref(context, solver);
  void *params = z3->mk_params(context);
  z3->params_inc_ref(context, params);
  constexpr unsigned withProducts = 6; // the arithmetic solver for nonlinear arithmetic
  z3->params_set_uint(context, params, z3->mk_string_symbol(context, "arith.solver"), withProducts);
  z3->solver_set_params(context, solver, params);
  z3->params_dec_ref(context, params);
  z3->solver_from_string(context, solver, script.c_str());
  int result = 0;
  {
    Deadline deadline(*z3, context, milliseconds);
    result = z3->solver_check(context, solver);
  }
  if (result == 1) {
    answer.kind = SolverAnswer::Kind::Satisfiable;
    void *model = z3->solver_get_model(context, solver);
    z3->model_inc_ref(context, model);
    answer.values = readModel(z3->model_to_string(context, model));
    z3->model_dec_ref(context, model);
  } else if (result == -1) {
    answer.kind = SolverAnswer::Kind::Unsatisfiable;
  }
  z3->solver_dec_ref(context, solver);
  z3->del_context(context);
  return answer;
}

} // namespace tile::verify
