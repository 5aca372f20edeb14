// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The front end as a library: text -> syntax tree -> module of the tile dialect.
//
//   DiagnosticEngine diagnostics;
//   auto module = emitModule(context, {"matmul.tile", text}, request, diagnostics);
//   if (!module) print(diagnostics.render());

#pragma once

#include "Directives/ExpressionTree.h"
#include "Frontend/OpenGemm.h"
#include "Frontend/Syntax/Parser.h"
#include "Frontend/Syntax/Unparse.h"

#include "Tile/TileDialect.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <functional>
#include <map>

namespace tile::frontend {

/// Source text of an operation.
struct OperationSource {
  SourceRange range;
  /// Operands of a binary operation.
  SourceRange left, right;
  /// True if ".to(...)" can be appended to the operand without parentheses.
  bool leftIsPrimary = false, rightIsPrimary = false;
  /// Calls of helpers around the operation, innermost first, with their callees.
  std::vector<std::pair<SourceRange, std::string>> calls;
};

/// Source of the multiplications, loads and stores of an emitted kernel.
using SourceMap = llvm::DenseMap<mlir::Operation *, OperationSource>;

/// A variable assignment, for debuggers. The variable has this value after `after` (null: from the start) in `block`,
/// once the value is computed, until a later record with the same name and frame.
struct VariableRecord {
  std::string name;
  mlir::Value value;    ///< null for a constant
  std::string constant; ///< text of the constant
  bool isUnsigned = false;
  uint32_t line = 0;            ///< line of the assignment
  mlir::Attribute frame;        ///< location of the inlined call; null: the kernel itself
  mlir::Block *block = nullptr; ///< null: everywhere
  mlir::Operation *after = nullptr;
};

/// The numbers of programs along each axis, over the kernel's parameters; empty: the caller specifies them.
using Grid = std::vector<directives::ExpressionTree>;

/// Source information about an emitted kernel.
struct KernelText {
  SourceMap operations;
  std::vector<VariableRecord> variables;                  ///< in assignment order; see recordVariables
  llvm::DenseMap<mlir::Attribute, std::string> functions; ///< names of inlined functions by call location
  Grid grid;
};

/// Type and value of a piece of source text, for editors.
struct ObservedValue {
  SourceRange range;    ///< an expression, or the assigned name
  bool isName = false;  ///< an assigned name or a parameter
  std::string type;     ///< "fp32[128, 64]"; for compile-time values "int", "str", ...
  std::string constant; ///< text of the value, if it is known at compile time
};

/// Language standard: Triton's rules, or those of --std=tile1 where they differ.
enum class Standard { Triton, Tile1 };

/// Describes what to compile, and the compile-time choices. All members have defaults, which suffice for a file with
/// one kernel whose parameters have types and whose constexprs have defaults.
struct CompileRequest {
  /// Name of the kernel or of an "#: instance"; empty: the only kernel of the file.
  std::string kernelName;
  /// Parameter types, comma-separated: positional in Triton's format ("*fp16:16, i32, 128") or named ("a: *bf16, lda:
  /// i32:8"); parameters that are not named keep their annotation.
  std::string signature;
  /// -D NAME=VALUE: values of constexpr parameters. A run-time parameter named here becomes a constant.
  std::map<std::string, std::string> definitions;
  /// Names in `definitions` for which an artifact also has other values, which a launch chooses.
  std::vector<std::string> alternatives;
  /// The configurations of an artifact to which this kernel belongs: constants as in `definitions`, num_warps and
  /// num_stages. Empty: unknown, or only one.
  std::vector<std::map<std::string, std::string>> configurations;
  /// --assume NAME=DIVISOR: promises that the integer is a multiple of the divisor, or that the pointer is aligned to
  /// it in bytes. Checked at launch.
  std::map<std::string, int> assumptions;
  /// -I: search path for modules of other projects.
  std::vector<std::string> importPaths;
  std::optional<int> numWarps;
  std::optional<int> numStages;
  /// Cluster size in CTAs; see ClusterShape.h.
  std::optional<ClusterShape> cluster;
  std::optional<Schedule> schedule;
  /// --size NAME=NUMBER: expected values of integer parameters; only passed to `choose`.
  std::map<std::string, int64_t> sizes;
  /// Receives the GEMM that the kernel computes, if it is known, also if nothing is left open.
  DescribeGemm describe;
  /// Chooses the parameters that the kernel leaves open by `auto`. Without it, they are an error.
  ChooseTiles choose;
  /// Compute capability times ten, as reported by tl.target_info and used in the checks of tl.dot.
  int targetCapability = 90;
  Standard standard = Standard::Triton;
  /// Limit for the growth of a kernel through inlined helpers and unrolled loops: expressions evaluated and operations
  /// emitted. Emission takes about a second at the default.
  size_t maxWork = 1'000'000;
  /// Limit for the instructions of a thread that operate on the blocks of a program. LLVM and ptxas take half a minute
  /// at the default.
  int64_t maxInstructions = 1'000'000;
  /// Keep assertions (assert, tl.device_assert) in the kernel.
  bool debug = false;
  /// Record the names of values.
  bool recordVariables = false;
  /// Draft mode, for editors: parameters without a type are unknown, and code that depends on them or on an error is
  /// still checked for further errors. Emission continues after parser errors.
  bool isDraft = false;
  /// Receives the output of tl.static_print, including line ends. Without it, nothing is printed.
  std::function<void(const std::string &)> print;
  /// Receives the types of expressions and names, in emission order; repeatedly for inlined helpers and unrolled loops.
  std::function<void(const ObservedValue &)> observe;
  /// Inspects the finished kernel while its source information is available: for warnings that need analyses, and for
  /// debuggers.
  std::function<void(KernelOp, const KernelText &)> inspect;
};

/// Loads the dialects that emitted modules use.
void loadDialects(mlir::MLIRContext &context);

/// Returns the functions that have a launch directive (`#: grid(…)`), in source order.
std::vector<std::string> listLaunchedKernels(const Module &module);

/// Returns the functions that look like kernels but have no launch directive, in source order.
std::vector<std::string> listUnlaunchedKernels(const Module &module);

/// Returns the kernels that run before `kernel` on the same buffers (`#: after`), in the order in which they run; empty
/// if there is none, or if their order is a circle.
std::vector<std::string> kernelsBefore(const Module &module, llvm::StringRef kernel);

/// Compiles one kernel of a parsed file. Returns null after errors, which are in the engine. The engine must be the one
/// that the file was parsed with.
mlir::OwningOpRef<mlir::ModuleOp> emitModule(mlir::MLIRContext &context, const Module &module,
                                             const CompileRequest &request, DiagnosticEngine &diagnostics);

/// Parses and compiles a file.
mlir::OwningOpRef<mlir::ModuleOp> emitModule(mlir::MLIRContext &context, const SourceFile &file,
                                             const CompileRequest &request, DiagnosticEngine &diagnostics);

} // namespace tile::frontend
