// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The front end as a library: text -> syntax tree -> module of the tile dialect.
//
//   DiagnosticEngine diagnostics;
//   auto module = emitModule(context, {"matmul.tile", text}, request, diagnostics);
//   if (!module) print(diagnostics.render());

#pragma once

#include "Frontend/Sema/OpenProduct.h"
#include "Frontend/Syntax/Parser.h"
#include "Frontend/Syntax/Unparse.h"

#include "Tile/TileDialect.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <functional>
#include <map>

namespace tile::frontend {

/// The text that an operation was emitted for.
struct OperationSource {
  SourceRange range;
  /// Operands of a binary operation.
  SourceRange left, right;
  /// Whether ".to(...)" can follow the operand as it stands.
  bool leftIsPrimary = false, rightIsPrimary = false;
  /// The calls of helpers around it, innermost first, and what is called.
  std::vector<std::pair<SourceRange, std::string>> calls;
};

/// Products, loads and stores of an emitted kernel.
using SourceMap = llvm::DenseMap<mlir::Operation *, OperationSource>;

/// A name gets a value: for debuggers. It has it after `after` (null: from the start) in `block`, as far as the value
/// is computed, until a later record of the same name and frame.
struct VariableRecord {
  std::string name;
  mlir::Value value;    ///< null for a constant
  std::string constant; ///< its text
  bool isUnsigned = false;
  uint32_t line = 0;            ///< of the assignment
  mlir::Attribute frame;        ///< the location of the call that the function is inlined at; null: the kernel itself
  mlir::Block *block = nullptr; ///< null: wherever the value is known
  mlir::Operation *after = nullptr;
};

/// What the text says about an emitted kernel.
struct KernelText {
  SourceMap operations;
  std::vector<VariableRecord> variables;                  ///< in the order of assignment; see recordVariables
  llvm::DenseMap<mlir::Attribute, std::string> functions; ///< inlined at this location
};

/// What a piece of the text turns out to be, for editors.
struct ObservedValue {
  SourceRange range;    ///< of an expression, or of the name that gets the value
  bool isName = false;  ///< a name gets it, in an assignment or as a parameter
  std::string type;     ///< "fp32[128, 64]"; of what exists at compile time alone "int", "str", ...
  std::string constant; ///< its text, if it is known at compile time
};

/// Rules of the language: Triton's, or those of --std=tile1, where they differ.
enum class Standard { Triton, Tile1 };

/// What to compile, and with which compile-time choices. Everything has a default; a file with one kernel whose
/// parameters are typed and whose constexprs have defaults needs none of it.
struct CompileRequest {
  /// Kernel by name; empty: the only one of the file. May also name an "#: instance".
  std::string kernelName;
  /// Parameter types, comma separated: by position as Triton writes them ("*fp16:16, i32, 128") or by name
  /// ("a: *bf16, lda: i32:8"); parameters that are not named keep their annotation.
  std::string signature;
  /// -D NAME=VALUE: values of constexpr parameters. A run-time parameter named here becomes a constant.
  std::map<std::string, std::string> definitions;
  /// --assume NAME=DIVISOR: the integer is a multiple of it, or the pointer so aligned in bytes. Checked at launch.
  std::map<std::string, int> assumptions;
  /// -I: folders in which modules of other projects are searched.
  std::vector<std::string> importPaths;
  std::optional<int> numWarps;
  std::optional<int> numStages;
  /// CTAs of a cluster; see ClusterShape.h.
  std::optional<ClusterShape> cluster;
  std::optional<Schedule> schedule;
  /// --size NAME=NUMBER: values that integer parameters are expected to have; only `choose` learns them.
  std::map<std::string, int64_t> sizes;
  /// Learns what product the kernel computes, if that is known, also if nothing is left open.
  DescribeProduct describe;
  /// Chooses what the kernel leaves open by `auto`. Without it, that is an error.
  ChooseTiles choose;
  /// Compute capability times ten: what tl.target_info and the checks of tl.dot answer.
  int targetCapability = 90;
  Standard standard = Standard::Triton;
  /// How large a kernel may grow by copies of helpers and unrolled loops: expressions evaluated and operations emitted.
  /// Emitting takes about a second at the default.
  size_t maxWork = 1'000'000;
  /// How many instructions a thread may have for the blocks of a program. LLVM and ptxas take half a minute at the
  /// default.
  int64_t maxInstructions = 1'000'000;
  /// Keep assertions (assert, tl.device_assert) in the kernel.
  bool debug = false;
  /// Record the names of values.
  bool recordVariables = false;
  /// The text is being written: nothing is known of parameters without a type, and what depends on such or on an error
  /// is looked at all the same, for further errors. Emission goes on where the parser has found errors.
  bool isDraft = false;
  /// Takes what tl.static_print prints, with the line ends. Without it, nothing is printed.
  std::function<void(const std::string &)> print;
  /// Learns what expressions and names are, in the order of emission; the same place again where a helper is called or
  /// a loop unrolled.
  std::function<void(const ObservedValue &)> observe;
  /// Looks at the finished kernel as long as its text is known: warnings that need analyses, debuggers.
  std::function<void(KernelOp, const KernelText &)> inspect;
};

/// Loads the dialects that emitted modules use.
void loadDialects(mlir::MLIRContext &context);

/// The functions that say how they are launched (`#: grid(…)`), in the order of the text.
std::vector<std::string> listLaunchedKernels(const Module &module);

/// Compiles one kernel of a parsed file. Null after errors, which are in the engine. The engine must be the one that
/// the file was parsed with.
mlir::OwningOpRef<mlir::ModuleOp> emitModule(mlir::MLIRContext &context, const Module &module,
                                             const CompileRequest &request, DiagnosticEngine &diagnostics);

/// Parses and compiles.
mlir::OwningOpRef<mlir::ModuleOp> emitModule(mlir::MLIRContext &context, const SourceFile &file,
                                             const CompileRequest &request, DiagnosticEngine &diagnostics);

} // namespace tile::frontend
