// What the interpreter's tests share: run the text of a kernel body on vectors and look at the result or the error.
#pragma once

#include "Interpreter/Interpreter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/raw_ostream.h"

#include <gtest/gtest.h>

namespace tile::interp::test {

/// A kernel from text, with the buffers and scalars of one launch.
class Launch {
public:
  /// `text` is a whole module.
  explicit Launch(const std::string &text) {
    context.loadDialect<TileDialect, mlir::arith::ArithDialect, mlir::math::MathDialect, mlir::scf::SCFDialect>();
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context, "kernel.tile");
    EXPECT_TRUE(bool(module)) << text;
  }

  template <typename T> Launch &buffer(std::vector<T> &data, std::string name) {
    arguments.push_back(Argument::pointer(int(buffers.size())));
    buffers.push_back({data.data(), data.size() * sizeof(T), std::move(name)});
    return *this;
  }
  Launch &scalar(Argument argument) {
    arguments.push_back(argument);
    return *this;
  }
  Launch &integer(int64_t value) { return scalar(Argument::integer(value)); }

  std::optional<Error> tryRun(Grid grid = {}) {
    if (!module)
      return Error{"the text does not parse", mlir::UnknownLoc::get(&context), {}, {}};
    Options options;
    llvm::raw_string_ostream stream(printed);
    options.prints = &stream;
    return interp::run(*module->getOps<KernelOp>().begin(), grid, arguments, buffers, options);
  }
  void run(Grid grid = {}) {
    std::optional<Error> error = tryRun(grid);
    EXPECT_FALSE(error) << error->toString();
  }
  /// Message of the error that the run must give.
  std::string message(Grid grid = {}) {
    std::optional<Error> error = tryRun(grid);
    return error ? error->toString() : "no error";
  }

  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::vector<Argument> arguments;
  std::vector<Buffer> buffers;
  std::string printed;
};

/// A kernel with these parameters whose body is `body`.
inline std::string kernel(const std::string &parameters, const std::string &body) {
  return "tile.kernel @k(" + parameters + ") {\n" + body + "\n  tile.return\n}\n";
}

/// Loads `names` (a, b, c, …) of type tensor<N x type> with N elements each, evaluates `text`, which defines %r of
/// element type `result`, and stores that. The parameters are %a_ptr, %b_ptr, … and %r_ptr.
inline std::string elementwise(const std::vector<std::string> &types, const std::string &result, size_t count,
                               const std::string &text) {
  std::string n = std::to_string(count), parameters, body;
  auto address = [&](const std::string &name, const std::string &type) {
    std::string pointers = "tensor<" + n + "x!tile.ptr<" + type + ">>";
    parameters += "%" + name + "_ptr: !tile.ptr<" + type + ">, ";
    body += "%" + name + "_base = tile.splat %" + name + "_ptr : !tile.ptr<" + type + "> -> " + pointers + "\n";
    body += "%" + name + "_at = tile.addptr %" + name + "_base, %index : " + pointers + ", tensor<" + n + "xi32>\n";
    return pointers;
  };
  body = "%index = tile.arange 0 to " + n + " : tensor<" + n + "xi32>\n";
  char name = 'a';
  for (const std::string &type : types) {
    std::string pointers = address({name}, type);
    body += std::string("%") + name + " = tile.load %" + name + "_at : " + pointers + "\n";
    ++name;
  }
  std::string pointers = address("r", result);
  parameters.resize(parameters.size() - 2);
  return kernel(parameters, body + text + "\ntile.store %r_at, %r : " + pointers);
}

} // namespace tile::interp::test
