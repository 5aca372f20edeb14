// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Helpers of the interpreter's tests: run the text of a kernel body on vectors and check the result or the error.
#pragma once

#include "Interpreter/Interpreter.h"
#include "Interpreter/NumberFormats.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/raw_ostream.h"

#include <gtest/gtest.h>

namespace tile::interp::test {

/// A kernel from text, with the buffers and scalars for one launch.
class Launch {
public:
  /// `text` is a whole module.
  explicit Launch(const std::string &text) {
    context.loadDialect<TileDialect, mlir::arith::ArithDialect, mlir::cf::ControlFlowDialect, mlir::math::MathDialect,
                        mlir::scf::SCFDialect>();
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
  /// Returns the message of the expected error.
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

/// Returns the text of a kernel with these parameters and this body.
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

/// Returns the kind of the type with this MLIR name.
inline Kind kindNamed(const std::string &type) {
  const std::pair<const char *, Kind> kinds[] = {
      {"i1", Kind::I1},     {"i8", Kind::I8},           {"i16", Kind::I16},       {"i32", Kind::I32},
      {"i64", Kind::I64},   {"f8E4M3FN", Kind::F8E4M3}, {"f8E5M2", Kind::F8E5M2}, {"f16", Kind::F16},
      {"bf16", Kind::BF16}, {"f32", Kind::F32},         {"f64", Kind::F64}};
  for (auto [name, kind] : kinds)
    if (type == name)
      return kind;
  ADD_FAILURE() << "no type " << type;
  return Kind::F64;
}

inline size_t bytesInMemory(Kind kind) {
  const size_t sizes[] = {1, 1, 2, 4, 8, 1, 1, 2, 2, 4, 8};
  return sizes[size_t(kind)];
}

/// Returns the values in the memory form of a type. Floats must be exact in it; integers wrap.
inline std::vector<char> toMemory(const std::string &type, const std::vector<double> &values) {
  Kind kind = kindNamed(type);
  std::vector<char> memory;
  for (double value : values) {
    uint64_t bits = kind == Kind::F64 ? std::bit_cast<uint64_t>(value)
                    : isFloat(kind)   ? encode(kind, float(value))
                    : value > 0x1p62  ? uint64_t(value)
                                      : uint64_t(int64_t(value));
    const char *bytes = reinterpret_cast<const char *>(&bits);
    memory.insert(memory.end(), bytes, bytes + bytesInMemory(kind));
  }
  return memory;
}

/// Converts back to values; integers as signed ones, i1 as 0 or 1.
inline std::vector<double> fromMemory(const std::string &type, const std::vector<char> &memory) {
  Kind kind = kindNamed(type);
  size_t size = bytesInMemory(kind);
  std::vector<double> values;
  for (size_t at = 0; at < memory.size(); at += size) {
    uint64_t bits = 0;
    memcpy(&bits, &memory[at], size);
    values.push_back(kind == Kind::F64 ? std::bit_cast<double>(bits)
                     : isFloat(kind)   ? double(decode(kind, uint32_t(bits)))
                                       : double(llvm::SignExtend64(bits, unsigned(size) * 8)));
  }
  return values;
}

/// Runs an element-wise kernel (see `elementwise`) on values. The result has as many elements as each input; internally
/// they are padded by repetition to a power of two, which `text` calls N: `%r = arith.negf %a : tensor<Nxf32>`.
inline std::vector<double> evaluate(const std::vector<std::string> &types, std::vector<std::vector<double>> inputs,
                                    const std::string &result, std::string text) {
  size_t wanted = inputs.front().size(), count = llvm::PowerOf2Ceil(wanted);
  for (size_t at; (at = text.find("<Nx")) != std::string::npos;)
    text.replace(at, 3, "<" + std::to_string(count) + "x");
  Launch launch(elementwise(types, result, count, text));
  std::vector<std::vector<char>> memories;
  for (size_t i = 0; i < types.size(); ++i) {
    inputs[i].resize(count, inputs[i].back());
    memories.push_back(toMemory(types[i], inputs[i]));
  }
  memories.push_back(std::vector<char>(count * bytesInMemory(kindNamed(result)), 0x55));
  for (size_t i = 0; i < memories.size(); ++i)
    launch.buffer(memories[i], i < types.size() ? std::string(1, char('a' + i)) : "r");
  launch.run();
  std::vector<double> values = fromMemory(result, memories.back());
  values.resize(wanted);
  return values;
}

/// `evaluate` for an operation on one type: `%r = <op> %a, %b : tensor<N x type>`.
inline std::vector<double> apply(const std::string &op, const std::string &type,
                                 const std::vector<std::vector<double>> &inputs) {
  std::string operands;
  for (size_t i = 0; i < inputs.size(); ++i)
    operands += (i ? ", %" : " %") + std::string(1, char('a' + i));
  return evaluate(std::vector<std::string>(inputs.size(), type), inputs, type,
                  "%r = " + op + operands + " : tensor<Nx" + type + ">");
}

} // namespace tile::interp::test
