// Interprets the option table. Errors name the option and what it accepts.
#include "Options.h"

#include "Driver/Version.h"
#include "Frontend/Diagnostics.h"
#include "Target/GpuTarget.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Option/ArgList.h"
#include "llvm/Option/OptTable.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Regex.h"

#include <cstdlib>

using namespace llvm::opt;
using llvm::formatv;
using llvm::StringRef;
using tile::driver::DiagnosticsFormat;
using tile::driver::EmitKind;
using tile::driver::InputLanguage;

namespace {

enum OptionId {
  OPT_INVALID = 0,
#define OPTION(...) LLVM_MAKE_OPT_ID(__VA_ARGS__),
#include "Options.inc"
#undef OPTION
};

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

class TilecOptions : public GenericOptTable {
public:
  TilecOptions() : GenericOptTable(OptionStrTable, OptionPrefixesTable, optionInfos) {}
};

constexpr const char *helpEpilogue = R"(
A .tile file becomes a cubin that carries its own description; tile-run and libtilert launch it.
`tilec run` compiles a kernel and runs it at once; `tilec run --help` tells how. `tilec opt` is tile-opt.

Exit codes: 0 success; 1 the input has errors or does not fit the target; 2 wrong command line;
3 a file or tool is missing or cannot be read or written; 4 internal error.
)";

void printHelp(const OptTable &table, bool run) {
  table.printHelp(llvm::outs(), run ? "tilec run [options] <file.tile> NAME=VALUE..." : "tilec [options] <file.tile>",
                  "tilec: compiler for tile kernels");
  llvm::outs() << helpEpilogue;
}

std::optional<EmitKind> emitKindOf(StringRef name) {
  return llvm::StringSwitch<std::optional<EmitKind>>(name)
      .Case("ast", EmitKind::Ast)
      .Case("configs", EmitKind::Configurations)
      .Case("tile", EmitKind::Tile)
      .Case("cta", EmitKind::Cta)
      .Case("nvvm", EmitKind::Nvvm)
      .Case("llvm", EmitKind::Llvm)
      .Case("ptx", EmitKind::Ptx)
      .Case("cubin", EmitKind::Cubin)
      .Case("manifest", EmitKind::Manifest)
      .Case("header", EmitKind::Header)
      .Default(std::nullopt);
}

std::optional<EmitKind> emitKindOfFile(StringRef path) {
  return llvm::StringSwitch<std::optional<EmitKind>>(llvm::sys::path::extension(path))
      .Case(".ptx", EmitKind::Ptx)
      .Case(".cubin", EmitKind::Cubin)
      .Case(".ll", EmitKind::Llvm)
      .Case(".h", EmitKind::Header)
      .Case(".json", EmitKind::Manifest)
      .Default(std::nullopt);
}

/// Reads parsed arguments into a CommandLine; the first error stops.
class Reader {
public:
  Reader(const OptTable &table, const InputArgList &arguments, bool run, tile::CommandLine &line)
      : table(table), arguments(arguments), run(run), line(line), options(line.compiler) {}

  bool read() {
    return readFormat() && checkUnknown() && checkEmpty() && readInputFile() && readOutput() && readNames() &&
           readKernel() && readPasses() && readWarnings() && readToolkit();
  }

  /// The last option has no value.
  bool lacksValue(StringRef option) { return readFormat() && fail(formatv("option '{0}' needs a value", option)); }

private:
  bool fail(const llvm::Twine &message) {
    llvm::errs() << tile::driver::DiagnosticLog::printError(options.diagnosticsFormat, message.str());
    return false;
  }

  /// First, since errors of all else have this form.
  bool readFormat() {
    StringRef form = arguments.getLastArgValue(OPT_diagnostics_format, "text");
    std::optional<DiagnosticsFormat> format = llvm::StringSwitch<std::optional<DiagnosticsFormat>>(form)
                                                  .Case("text", DiagnosticsFormat::Text)
                                                  .Case("json", DiagnosticsFormat::Json)
                                                  .Case("sarif", DiagnosticsFormat::Sarif)
                                                  .Default(std::nullopt);
    if (!format)
      return fail(formatv("--diagnostics-format expects text, json or sarif, not '{0}'", form));
    options.diagnosticsFormat = *format;
    return true;
  }

  bool checkUnknown() {
    for (const Arg *argument : arguments) {
      if (!argument->getOption().matches(OPT_UNKNOWN) || run)
        continue;
      std::string word = argument->getAsString(arguments), nearest;
      if (table.findNearest(word, nearest) <= 2)
        return fail(formatv("unknown option '{0}'; did you mean '{1}'?", word, nearest));
      return fail(formatv("unknown option '{0}'; tilec --help lists the options", word));
    }
    return true;
  }

  /// An empty value is a variable of a script that has none.
  bool checkEmpty() {
    for (const Arg *argument : arguments)
      if (!argument->getOption().matches(OPT_UNKNOWN) && !argument->getOption().matches(OPT_INPUT) &&
          argument->getNumValues() == 1 && StringRef(argument->getValue()).empty())
        return fail(formatv("{0} needs a value", StringRef(argument->getSpelling()).rtrim('=')));
    return true;
  }

  /// In `run` mode the value of a runner's option may look like an input: prefer what is named like a kernel.
  const Arg *findInput() const {
    const Arg *first = nullptr;
    for (const Arg *argument : arguments.filtered(OPT_INPUT)) {
      StringRef word = argument->getSpelling();
      if (!run || word == "-" || word.ends_with(".tile") || word.ends_with(".mlir") || word.ends_with(".py"))
        return argument;
      if (!first && !word.contains('='))
        first = argument;
    }
    return first;
  }

  bool readInputFile() {
    const Arg *input = findInput();
    for (const Arg *argument : arguments) {
      std::string word = argument->getAsString(arguments);
      bool isInput = argument->getOption().matches(OPT_INPUT);
      if (!isInput && !argument->getOption().matches(OPT_UNKNOWN))
        continue;
      if (argument == input)
        options.input = word;
      else if (run)
        line.rest.push_back(word);
      else
        return fail(formatv("more than one input: '{0}' and '{1}'", options.input, word));
    }
    if (options.input.empty())
      return fail("no input; give a .tile file, or '-' for standard input");
    options.language = StringRef(options.input).ends_with(".mlir") ? InputLanguage::Mlir : InputLanguage::Tile;
    if (const Arg *argument = arguments.getLastArg(OPT_x)) {
      StringRef language = argument->getValue();
      if (language != "tile" && language != "mlir")
        return fail(formatv("-x expects tile or mlir, not '{0}'", language));
      options.language = language == "mlir" ? InputLanguage::Mlir : InputLanguage::Tile;
    }
    return true;
  }

  bool readOutput() {
    line.output = arguments.getLastArgValue(OPT_o).str();
    if (std::optional<EmitKind> kind = emitKindOfFile(line.output)) {
      options.emit = *kind;
      line.emitGiven = true;
    }
    if (const Arg *argument = arguments.getLastArg(OPT_emit)) {
      std::optional<EmitKind> kind = emitKindOf(argument->getValue());
      if (!kind)
        return fail(
            formatv("--emit expects ast, configs, tile, cta, nvvm, llvm, ptx, cubin, manifest or header, not '{0}'",
                    argument->getValue()));
      options.emit = *kind;
      line.emitGiven = true;
    }
    if (const Arg *argument = arguments.getLastArg(OPT_target)) {
      options.pipeline.target = argument->getValue();
      line.targetGiven = true;
    }
    return true;
  }

  bool readNames() {
    options.headerName = arguments.getLastArgValue(OPT_header_name).str();
    StringRef name = options.headerName;
    if (!name.empty() &&
        (llvm::isDigit(name[0]) || !llvm::all_of(name, [](char c) { return llvm::isAlnum(c) || c == '_'; })))
      return fail(formatv("--header-name expects a C identifier, not '{0}'", name));
    if (!name.empty() && options.emit != EmitKind::Header)
      return fail("--header-name needs --emit=header");
    for (const std::string &replacement : arguments.getAllArgValues(OPT_file_prefix_map)) {
      auto [begin, end] = StringRef(replacement).split('=');
      if (!begin.starts_with("/") || begin.size() == replacement.size())
        return fail(formatv("--file-prefix-map expects OLD=NEW with an absolute path OLD, not '{0}'", replacement));
      options.pathReplacements.emplace_back(begin, end);
    }
    line.depfile = arguments.getLastArgValue(OPT_MF).str();
    if (!arguments.hasArg(OPT_MD))
      return line.depfile.empty() || fail("-MF needs -MD");
    if (line.output.empty() || line.output == "-")
      return fail("-MD needs -o, for the file that depends on the others");
    if (line.depfile.empty())
      line.depfile = line.output + ".d";
    return true;
  }

  /// A number in a range; `value` stays as it is when the option is absent.
  bool readNumber(OptionId id, StringRef name, int low, int high, std::optional<int> &value) {
    const Arg *argument = arguments.getLastArg(id);
    int number = 0;
    if (!argument)
      return true;
    if (StringRef(argument->getValue()).getAsInteger(10, number) || number < low || number > high)
      return fail(formatv("{0} expects a number from {1} to {2}, not '{3}'", name, low, high, argument->getValue()));
    value = number;
    return true;
  }

  bool readKernel() {
    options.kernel = arguments.getLastArgValue(OPT_kernel).str();
    options.importPaths = arguments.getAllArgValues(OPT_I);
    options.signature = arguments.getLastArgValue(OPT_signature).str();
    options.debug = arguments.hasArg(OPT_debug);
    StringRef standard = arguments.getLastArgValue(OPT_std, "triton");
    if (standard != "triton" && standard != "tile1")
      return fail(formatv("--std expects triton or tile1, not '{0}'", standard));
    options.standard = standard == "tile1" ? tile::frontend::Standard::Tile1 : tile::frontend::Standard::Triton;
    for (const std::string &definition : arguments.getAllArgValues(OPT_D)) {
      auto [name, value] = StringRef(definition).split('=');
      if (name.empty() || value.empty())
        return fail(formatv("-D expects NAME=VALUE, not '{0}'", definition));
      options.definitions[name.str()] = value.str();
    }
    for (const std::string &assumption : arguments.getAllArgValues(OPT_assume)) {
      auto [name, value] = StringRef(assumption).split('=');
      int divisor = 0;
      if (name.empty() || value.getAsInteger(10, divisor) || divisor < 1 || !llvm::isPowerOf2_32(divisor))
        return fail(formatv("--assume expects NAME=DIVISOR with a power of two, not '{0}'", assumption));
      options.assumptions[name.str()] = divisor;
    }
    for (const std::string &list : arguments.getAllArgValues(OPT_size))
      for (StringRef size : llvm::split(list, ',')) {
        auto [name, value] = size.split('=');
        int64_t number = 0;
        if (name.empty() || value.getAsInteger(10, number) || number < 0)
          return fail(formatv("--size expects NAME=NUMBER,..., not '{0}'", list));
        if (auto [entry, isNew] = options.sizes.try_emplace(name.str(), number); !isNew && entry->second != number)
          return fail(formatv("--size gives {0} twice: {1} and {2}", name, entry->second, number));
      }
    if (!readNumber(OPT_num_warps, "--num-warps", 1, 32, options.numWarps) ||
        !readNumber(OPT_num_stages, "--num-stages", 1, 16, options.numStages))
      return false;
    if (options.numWarps && !llvm::isPowerOf2_32(*options.numWarps))
      return fail(formatv("--num-warps expects a power of two from 1 to 32, not '{0}'", *options.numWarps));
    return readSchedule() && readCluster();
  }

  bool readSchedule() {
    for (const Arg *argument : arguments.filtered(OPT_schedule)) {
      options.schedule = tile::frontend::parseSchedule(argument->getValue());
      if (!options.schedule)
        return fail(formatv("--schedule expects cooperative, pingpong or auto, not '{0}'", argument->getValue()));
    }
    return true;
  }

  bool readCluster() {
    const Arg *argument = arguments.getLastArg(OPT_cluster);
    if (!argument)
      return true;
    tile::frontend::ClusterShape shape = {1, 1, 1};
    llvm::SmallVector<StringRef> extents;
    StringRef(argument->getValue()).split(extents, 'x');
    bool isShape = extents.size() == 2 || extents.size() == 3;
    for (size_t i = 0; isShape && i < extents.size(); ++i)
      isShape = !extents[i].getAsInteger(10, shape[i]);
    bool isOpen = StringRef(argument->getValue()) == "auto";
    if (!isOpen && (!isShape || !tile::frontend::isCluster(shape)))
      return fail(
          formatv("--cluster expects auto, or 2x1, 1x2, 1x1x2 and the like with 1, 2, 4 or 8 CTAs in all, not '{0}'",
                  argument->getValue()));
    options.cluster = isOpen ? tile::frontend::openCluster : shape;
    return true;
  }

  bool readPasses() {
    if (const Arg *argument = arguments.getLastArg(OPT_O)) {
      StringRef level = argument->getValue();
      if (level != "0" && level != "1" && level != "2")
        return fail(formatv("-O expects a level from 0 to 2, not '{0}'", level));
      options.pipeline.optLevel = level[0] - '0';
    }
    for (const std::string &list : arguments.getAllArgValues(OPT_disable))
      for (StringRef name : llvm::split(list, ','))
        if (!name.empty())
          options.pipeline.disabled.push_back(name.str());
    options.pipeline.startAfter = arguments.getLastArgValue(OPT_start_after).str();
    if (!options.pipeline.startAfter.empty() && options.language == InputLanguage::Tile)
      return fail("--start-after continues with IR, so the input must be an MLIR file");
    options.pipeline.stopAfter = arguments.getLastArgValue(OPT_stop_after).str();
    if (!options.pipeline.stopAfter.empty()) {
      if (line.emitGiven && options.emit != EmitKind::Cta && options.emit != EmitKind::Nvvm)
        return fail("--stop-after prints IR and excludes --emit, but for cta and nvvm");
      options.emit = EmitKind::Nvvm;
      line.emitGiven = true;
    }
    options.dumpDirectory = arguments.getLastArgValue(OPT_dump_ir).str();
    options.remarks = arguments.getLastArgValue(OPT_Rpass).str();
    if (std::string error; !options.remarks.empty() && !llvm::Regex(options.remarks).isValid(error))
      return fail(formatv("-Rpass expects a regular expression, not '{0}': {1}", options.remarks, error));
    options.timePasses = arguments.hasArg(OPT_time_passes);
    options.explainConfig = arguments.hasArg(OPT_explain_config);
    options.printLayouts = arguments.hasArg(OPT_print_layouts);
    return true;
  }

  bool readWarnings() {
    for (const std::string &flag : arguments.getAllArgValues(OPT_W)) {
      if (options.warnings.apply(flag))
        continue;
      StringRef name = flag;
      name.consume_front("no-");
      name.consume_front("error=");
      std::optional<std::string> guess = tile::frontend::didYouMean(name, tile::frontend::warningNames());
      return fail(formatv("unknown warning '-W{0}'; {1}", flag,
                          guess ? "did you mean '-W" + *guess + "'?" : "tilec --help-warnings lists the warnings"));
    }
    if (arguments.hasArg(OPT_w)) {
      options.warnings.silence();
      options.advise = false;
    }
    return true;
  }

  bool readToolkit() {
    options.toolkit.ptxas = arguments.getLastArgValue(OPT_ptxas).str();
    if (const Arg *argument = arguments.getLastArg(OPT_cuda_path)) {
      options.toolkit.roots.push_back(argument->getValue());
      return true; // the folder that the user gave, and no other
    }
    for (const char *variable : {"CUDA_HOME", "CUDA_PATH"})
      if (const char *folder = std::getenv(variable); folder && *folder)
        options.toolkit.roots.push_back(folder);
    options.toolkit.roots.push_back("/usr/local/cuda");
    if (const char *path = std::getenv("PATH"))
      for (StringRef folder : llvm::split(path, ':'))
        options.toolkit.paths.push_back(folder.str());
    return true;
  }

  const OptTable &table;
  const InputArgList &arguments;
  bool run;
  tile::CommandLine &line;
  tile::driver::CompilerOptions &options;
};

} // namespace

tile::ParseStatus tile::parseCommandLine(llvm::ArrayRef<const char *> words, bool run, CommandLine &line) {
  TilecOptions table;
  unsigned missingIndex = 0, missingCount = 0;
  InputArgList arguments = table.ParseArgs(words, missingIndex, missingCount);
  if (arguments.hasArg(OPT_help)) {
    printHelp(table, run);
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
  Reader reader(table, arguments, run, line);
  if (missingCount)
    return reader.lacksValue(arguments.getArgString(missingIndex)) ? ParseStatus::Compile : ParseStatus::Error;
  return reader.read() ? ParseStatus::Compile : ParseStatus::Error;
}
