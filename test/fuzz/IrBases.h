// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The inputs that the fuzzer of passes mutates: the IR of kernels between two passes of the pipeline, and of tests of
// passes.
//
//   bases.make(context, mutator)   a kernel of a .tile file after the first steps of the pipeline for some target,
//                                  with some optimisations left out; or a part of a .mlir file
#pragma once

#include "fuzz/IrMutator.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

#include <string>
#include <vector>

namespace tile::fuzz {

std::string readFile(const std::string &path);

struct Base {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  size_t step = 0; ///< The first step of the pipeline that has not run; unspecified if the file is IR.
};

class IrBases {
public:
  /// Finds files with kernels and IR, also in folders. Returns false, after a message, if there are none.
  bool read(const std::vector<std::string> &paths);
  /// Returns none if the chosen file does not compile.
  Base make(mlir::MLIRContext &context, IrMutator &chance) const;
  const std::string &someText(IrMutator &chance) const { return texts[chance.below(texts.size())]; }

private:
  struct Kernel {
    std::string file, name, text;
  };

  void addKernels(const std::string &path, const std::string &text);

  std::vector<Kernel> kernels;
  std::vector<std::string> texts; ///< files of IR
};

} // namespace tile::fuzz
