// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The option table, the help texts, and the conversion of words to a CommandLine.
#include "Options.h"

#include "Driver/Version.h"
#include "Frontend/Syntax/Diagnostics.h"
#include "Messages.h"
#include "OptionReader.h"
#include "Target/GpuTarget.h"

#include "llvm/Support/FormatVariadic.h"

using namespace llvm::opt;
using llvm::StringRef;

namespace tile {
namespace {

#define OPTTABLE_STR_TABLE_CODE
#include "Options.inc"
#undef OPTTABLE_STR_TABLE_CODE

#define OPTTABLE_PREFIXES_TABLE_CODE
#include "Options.inc"
#undef OPTTABLE_PREFIXES_TABLE_CODE

constexpr OptTable::Info optionInfos[] = {
#define OPTION(...) LLVM_CONSTRUCT_OPT_INFO(__VA_ARGS__),
#include "Options.inc"
#undef OPTION
};

constexpr const char *helpEpilogue = R"(
The result is a cubin that carries its own description; tile-run and libtilert launch it.

Other commands; each has its own --help:
  tilec run      Compile a kernel and run it
  tilec explain  Write a page that shows the generated code and a simulated run
  tilec order    Print in which order each variant of a kernel adds floats
  tilec verify   Prove that a kernel's accesses are in bounds, or find counterexamples
  tilec format   Format .tile files
  tilec opt      The same as tile-opt
  tilec lsp      Language server for editors
)";

constexpr const char *exitCodes = R"(
Exit codes: 0 success; 1 the input has errors or does not fit the target{0}; 2 invalid command line{1};
3 a file or tool is missing or cannot be read or written; 4 internal error.
)";

void printHelp(const OptTable &table, const CommandLine &line) {
  table.printHelp(llvm::outs(), line.usage, line.purpose ? line.purpose : "tilec: compiler for tile kernels");
  if (!line.purpose)
    llvm::outs() << helpEpilogue;
  llvm::outs() << llvm::formatv(exitCodes, line.purpose ? ", or a check failed" : "",
                                line.purpose ? " or arguments" : "");
}

} // namespace

TilecOptions::TilecOptions() : GenericOptTable(OptionStrTable, OptionPrefixesTable, optionInfos) {}

ParseStatus parseCommandLine(llvm::ArrayRef<const char *> words, bool run, CommandLine &line) {
  TilecOptions table;
  unsigned missingIndex = 0, missingCount = 0;
  InputArgList arguments = table.ParseArgs(words, missingIndex, missingCount);
  if (arguments.hasArg(OPT_help)) {
    printHelp(table, line);
    return ParseStatus::Help;
  }
  if (arguments.hasArg(OPT_version)) {
    llvm::outs() << driver::compilerVersion << " (LLVM " << LLVM_VERSION_STRING << ")\n";
    return ParseStatus::Done;
  }
  if (arguments.hasArg(OPT_help_warnings)) {
    llvm::outs() << frontend::describeWarnings();
    return ParseStatus::Done;
  }
  if (arguments.getLastArgValue(OPT_target) == "help") {
    for (const target::GpuTarget *target : target::allTargets())
      llvm::outs() << StringRef(target->name) << "  " << StringRef(target->deviceName) << '\n';
    return ParseStatus::Done;
  }
  OptionReader reader(table, arguments, run, line, messages());
  if (missingCount)
    return reader.lacksValue(arguments.getArgString(missingIndex)) ? ParseStatus::Compile : ParseStatus::Error;
  return reader.read() ? ParseStatus::Compile : ParseStatus::Error;
}

bool parseServerOptions(llvm::ArrayRef<const char *> words, CommandLine &line) {
  TilecOptions table;
  unsigned missingIndex = 0, missingCount = 0;
  InputArgList arguments = table.ParseArgs(words, missingIndex, missingCount);
  OptionReader reader(table, arguments, /*run=*/false, line, messages());
  if (missingCount)
    return reader.lacksValue(arguments.getArgString(missingIndex));
  return reader.readForServer();
}

bool parseLibraryOptions(llvm::ArrayRef<const char *> words, CommandLine &line, llvm::raw_ostream &errors) {
  TilecOptions table;
  unsigned missingIndex = 0, missingCount = 0;
  InputArgList arguments = table.ParseArgs(words, missingIndex, missingCount);
  line.compiler.diagnosticsFormat = driver::DiagnosticsFormat::Json;
  OptionReader reader(table, arguments, /*run=*/false, line, errors);
  if (missingCount)
    return reader.lacksValue(arguments.getArgString(missingIndex));
  return reader.readForLibrary();
}

} // namespace tile
