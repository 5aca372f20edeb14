// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The command line of tilec: converts words to CompilerOptions.
#pragma once

#include "Driver/CompileVariants.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/raw_ostream.h"

namespace tile {

struct CommandLine {
  driver::CompilerOptions compiler;
  std::vector<std::string> inputs; ///< several, or "NAME=FILE", for a pack; the first is also `compiler.input`
  bool languageGiven = false;      ///< -x was given
  driver::VariantOptions variants;
  std::string output;               ///< path of the output; empty: no -o
  std::string depfile;              ///< path of the dependency file; empty: none
  std::string cacheFolder;          ///< folder of the result cache; empty: no cache
  uint64_t cacheBytes = 1 << 30;    ///< maximum size of the cache
  std::vector<std::string> meaning; ///< words that affect the result, without those that only name its files
  bool emitGiven = false;           ///< --emit or the output's extension selected the kind of output
  bool targetGiven = false;         ///< --target was given
  const char *usage = "tilec [options] <file.tile>..."; ///< first line of --help
  const char *purpose = nullptr;                        ///< of a subcommand, for --help
  bool takesVariants = false;                           ///< the command handles several kernels: `tilec verify`
  std::vector<std::string> remaining; ///< for `tilec run`: words that are not compiler options, in order
};

enum class ParseStatus { Compile, Help, Done, Error };

/// Parses the words after the tool's name. Returns `Help` if help was printed, and `Done` if the version or the targets
/// were printed. In `run` mode, unknown words are not errors but kept in `remaining`. Does not read the input.
ParseStatus parseCommandLine(llvm::ArrayRef<const char *> words, bool run, CommandLine &line);

/// Parses the options of the language server, which apply to all files.
bool parseServerOptions(llvm::ArrayRef<const char *> words, CommandLine &line);

/// Parses the options for an input in memory, which `line` already contains. Options that name inputs or outputs are
/// rejected. Errors are printed as one JSON document (Driver/DiagnosticLog.h).
bool parseLibraryOptions(llvm::ArrayRef<const char *> words, CommandLine &line, llvm::raw_ostream &errors);

} // namespace tile
