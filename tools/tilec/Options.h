// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The command line of tilec: words -> CompilerOptions.
#pragma once

#include "Driver/CompileVariants.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/raw_ostream.h"

namespace tile {

struct CommandLine {
  driver::CompilerOptions compiler;
  driver::VariantOptions variants;
  std::string output;               ///< empty: not given
  std::string depfile;              ///< where the files that the output depends on are written; empty: nowhere
  std::string cacheFolder;          ///< where results are kept; empty: nowhere
  uint64_t cacheBytes = 1 << 30;    ///< at most
  std::vector<std::string> meaning; ///< words on which the result depends, without those that only name files for it
  bool emitGiven = false;           ///< --emit or an extension of the output chose what to make
  bool targetGiven = false;         ///< --target was given
  const char *usage = "tilec [options] <file.tile>"; ///< what --help begins with
  std::vector<std::string> rest;                     ///< for `tilec run`: words that are not the compiler's, in order
};

enum class ParseStatus { Compile, Help, Done, Error };

/// Parses the words after the tool's name. `Help` and `Done`: help, or version or targets, were printed. In `run` mode
/// words that the compiler does not know are kept in `rest` instead of being errors. Does not read the input.
ParseStatus parseCommandLine(llvm::ArrayRef<const char *> words, bool run, CommandLine &line);

/// The same for the language server: options that hold for all files.
bool parseServerOptions(llvm::ArrayRef<const char *> words, CommandLine &line);

/// The same for an input in memory, which `line` has already: options that name no input and no output. Errors are one
/// JSON document (Driver/DiagnosticLog.h).
bool parseLibraryOptions(llvm::ArrayRef<const char *> words, CommandLine &line, llvm::raw_ostream &errors);

} // namespace tile
