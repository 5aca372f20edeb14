// The front end as a library: text -> syntax tree -> module of the tile dialect.
//
//   DiagnosticEngine diagnostics;
//   auto module = emitModule(context, {"matmul.tile", text}, request, diagnostics);
//   if (!module) print(diagnostics.render());

#pragma once

#include "Frontend/OpenProduct.h"
#include "Frontend/Parser.h"
#include "Frontend/Unparse.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <map>

namespace tile::frontend {

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
  /// --size NAME=NUMBER: values that integer parameters are expected to have; only `choose` learns them.
  std::map<std::string, int64_t> sizes;
  /// Chooses what the kernel leaves open by `auto`. Without it, that is an error.
  ChooseTiles choose;
  /// Compute capability times ten: what tl.target_info and the checks of tl.dot answer.
  int targetCapability = 90;
  /// Keep assertions (assert, tl.device_assert) in the kernel.
  bool debug = false;
};

/// Loads the dialects that emitted modules use.
void loadDialects(mlir::MLIRContext &context);

/// Compiles one kernel of a parsed file. Null after errors, which are in the engine. The engine must be the one that
/// the file was parsed with.
mlir::OwningOpRef<mlir::ModuleOp> emitModule(mlir::MLIRContext &context, const Module &module,
                                             const CompileRequest &request, DiagnosticEngine &diagnostics);

/// Parses and compiles.
mlir::OwningOpRef<mlir::ModuleOp> emitModule(mlir::MLIRContext &context, const SourceFile &file,
                                             const CompileRequest &request, DiagnosticEngine &diagnostics);

} // namespace tile::frontend
