// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Interprets the option table: parsed arguments -> CommandLine. Errors name the option and what it accepts.
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

/// The table of Options.td.
class TilecOptions : public llvm::opt::GenericOptTable {
public:
  TilecOptions();
};

/// The first error stops, and has been printed.
class OptionReader {
public:
  OptionReader(const TilecOptions &table, const llvm::opt::InputArgList &arguments, bool run, CommandLine &line,
               llvm::raw_ostream &errors)
      : table(table), arguments(arguments), run(run), line(line), options(line.compiler), errors(errors) {}

  bool read();
  /// Of options that libtilec takes, for an input in memory that `line` has.
  bool readForLibrary();
  /// Of options that hold for all files which an editor opens.
  bool readForServer();

  /// The last option has no value; false.
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
  bool readLanguage();
  bool readOutput();
  bool readTargets();
  bool readNames();
  bool readPasses();
  bool readWarnings();
  bool readToolkit();
  bool readCache();
  /// "3M", as bytes up to `most`.
  static std::optional<uint64_t> parseBytes(llvm::StringRef text, uint64_t most);

  // KernelOptions.cpp
  bool readNumber(OptionId id, llvm::StringRef name, int low, int high, std::optional<int> &value);
  bool readKernel();
  bool readDefinition(llvm::StringRef definition);
  bool readPromises();
  bool readSchedule();
  bool readCluster();
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
