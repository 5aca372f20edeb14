// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Interprets parsed arguments according to the option table and fills a CommandLine. Errors name the option and its
// accepted values.
#pragma once

#include "Options.h"

#include "llvm/Option/ArgList.h"
#include "llvm/Option/OptTable.h"
#include "llvm/Support/FormatVariadic.h"

namespace tile {

enum OptionId {
  OPT_INVALID = 0,
#define OPTION(...) LLVM_MAKE_OPT_ID(__VA_ARGS__),
#include "Options.inc"
#undef OPTION
};

/// The option table of Options.td.
class TilecOptions : public llvm::opt::GenericOptTable {
public:
  TilecOptions();
};

/// Reads options. Stops at the first error, which is printed.
class OptionReader {
public:
  OptionReader(const TilecOptions &table, const llvm::opt::InputArgList &arguments, bool run, CommandLine &line,
               llvm::raw_ostream &errors)
      : table(table), arguments(arguments), run(run), line(line), options(line.compiler), errors(errors) {}

  bool read();
  /// Reads the options of a libtilec request for an input in memory, which `line` already contains.
  bool readForLibrary();
  /// Reads the options of the language server, which apply to all open files.
  bool readForServer();

  /// Reports that the last option has no value; returns false.
  bool lacksValue(llvm::StringRef option);

private:
  bool fail(const llvm::Twine &message);

  bool readFormat();
  bool checkForLibrary();
  bool checkUnknown();
  bool checkEmpty();
  bool checkRepeated();
  const llvm::opt::Arg *findInput() const;
  bool readInputFile();
  bool checkInputs();
  bool readLanguage();
  bool readOutput();
  bool readTargets();
  bool readCard();
  bool readNames();
  bool readPasses();
  bool readWarnings();
  bool readToolkit();
  bool readCache();
  /// Parses a size such as "3M" and returns it in bytes; it may be at most `most`.
  static std::optional<uint64_t> parseBytes(llvm::StringRef text, uint64_t most);

  // KernelOptions.cpp
  bool readNumber(OptionId id, llvm::StringRef name, int low, int high, std::optional<int> &value);
  bool readKernel();
  bool readDefinition(llvm::StringRef definition);
  bool readPromises();
  bool readSchedule();
  bool readCluster();
  bool readTuning(bool hasVariants);
  bool readBits();
  bool readVariants();
  bool readBudget();

  const TilecOptions &table;
  const llvm::opt::InputArgList &arguments;
  bool run;
  CommandLine &line;
  driver::CompilerOptions &options;
  llvm::raw_ostream &errors;
};

} // namespace tile
