// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads the options about files, passes, diagnostics and tools.
#include "OptionReader.h"

#include "Driver/OutputFile.h"
#include "Frontend/Syntax/Diagnostics.h"
#include "Target/Card/CardTarget.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Regex.h"

#include <cstdlib>

using namespace llvm::opt;
using llvm::formatv;
using llvm::StringRef;
using tile::driver::DiagnosticsFormat;
using tile::driver::EmitKind;
using tile::driver::InputLanguage;

namespace tile {

static std::optional<EmitKind> emitKindOf(StringRef name) {
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
      .Case("tilepack", EmitKind::Tilepack)
      .Default(std::nullopt);
}

static std::optional<EmitKind> emitKindOfExtension(StringRef extension) {
  return llvm::StringSwitch<std::optional<EmitKind>>(extension)
      .Case(".ptx", EmitKind::Ptx)
      .Case(".cubin", EmitKind::Cubin)
      .Case(".ll", EmitKind::Llvm)
      .Case(".h", EmitKind::Header)
      .Case(".tilepack", EmitKind::Tilepack)
      .Case(".json", EmitKind::Manifest)
      .Default(std::nullopt);
}

bool OptionReader::read() {
  return readFormat() && checkUnknown() && checkEmpty() && checkRepeated() && readInputFile() && readOutput() &&
         checkInputs() && readNames() && readKernel() && readPasses() && readTargets() && readCard() &&
         readVariants() && readWarnings() && readToolkit() && readCache();
}

bool OptionReader::readForLibrary() {
  if (!checkForLibrary() || !checkUnknown() || !checkEmpty() || !checkRepeated() || !readToolkit() || !readLanguage() ||
      !readOutput())
    return false;
  // Without ptxas, emit PTX, which the driver compiles.
  if (!line.emitGiven && !codegen::findPtxas(options.toolkit))
    options.emit = EmitKind::Ptx;
  return readNames() && readKernel() && readPasses() && readTargets() && readCard() && readVariants() && readWarnings();
}

bool OptionReader::readForServer() {
  for (const Arg *argument : arguments) {
    auto id = OptionId(argument->getOption().getUnaliasedOption().getID());
    if (!llvm::is_contained({OPT_I, OPT_std, OPT_target, OPT_W, OPT_w}, id))
      return fail(formatv("tilec lsp does not take '{0}'; see tilec lsp --help", argument->getAsString(arguments)));
  }
  return checkEmpty() && checkRepeated() && readTargets() && readKernel() && readWarnings();
}

bool OptionReader::lacksValue(StringRef option) {
  return readFormat() && fail(formatv("option '{0}' needs a value", option));
}

bool OptionReader::fail(const llvm::Twine &message) {
  errors << driver::DiagnosticLog::printError(options.diagnosticsFormat, message.str());
  return false;
}

/// Reads the format of diagnostics. This is done first, because it determines the format of all errors.
bool OptionReader::readFormat() {
  if (!arguments.hasArg(OPT_diagnostics_format))
    return true;
  StringRef form = arguments.getLastArgValue(OPT_diagnostics_format);
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

/// Rejects options about files and printed text, which only apply to the command line.
bool OptionReader::checkForLibrary() {
  for (OptionId id :
       {OPT_INPUT, OPT_help, OPT_version, OPT_help_warnings, OPT_diagnostics_format, OPT_o, OPT_MD, OPT_MF, OPT_cache,
        OPT_cache_in, OPT_cache_size, OPT_dump_ir, OPT_time_passes, OPT_explain_config, OPT_print_layouts, OPT_Rpass})
    if (const Arg *argument = arguments.getLastArg(id))
      return fail(formatv("'{0}' is for the command line only; the library does not support it",
                          StringRef(argument->getSpelling()).rtrim('=')));
  return true;
}

bool OptionReader::checkUnknown() {
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

/// Rejects empty values, which are usually unset variables of a script, and options in place of a value.
bool OptionReader::checkEmpty() {
  for (const Arg *argument : arguments) {
    const unsigned next = argument->getIndex() + 1;
    const bool isSeparate = argument->getNumValues() == 1 && next < arguments.getNumInputArgStrings() &&
                            argument->getValue() == arguments.getArgString(next);
    if (StringRef value = isSeparate ? argument->getValue() : ""; value.size() > 1 && value.starts_with("-"))
      return fail(formatv("option '{0}' needs a value, but the next word is the option '{1}'",
                          arguments.getArgString(argument->getIndex()), value));
  }
  for (const Arg *argument : arguments)
    if (!argument->getOption().matches(OPT_UNKNOWN) && !argument->getOption().matches(OPT_INPUT) &&
        argument->getNumValues() == 1 && StringRef(argument->getValue()).empty())
      return fail(formatv("{0} needs a value", StringRef(argument->getSpelling()).rtrim('=')));
  return true;
}

/// Rejects conflicting repetitions of options that select the kernel, the output or the GPU, because all but the last
/// would be ignored. For settings, the last one wins, so that scripts can append options.
bool OptionReader::checkRepeated() {
  for (OptionId once : {OPT_cache_in, OPT_card, OPT_emit, OPT_header_name, OPT_kernel, OPT_MF, OPT_o, OPT_signature,
                        OPT_target, OPT_variant, OPT_x}) {
    const Arg *last = arguments.getLastArg(once);
    for (const Arg *argument : arguments.filtered(once))
      if (StringRef(argument->getValue()) != last->getValue())
        return fail(formatv("{0} is given twice: '{1}' and '{2}'{3}", StringRef(argument->getSpelling()).rtrim('='),
                            argument->getValue(), last->getValue(),
                            once == OPT_target ? "; separate targets by ','" : ""));
  }
  return true;
}

/// Finds the input. In `run` mode, values of runner options may look like inputs, so words with the extension of a
/// kernel are preferred.
const Arg *OptionReader::findInput() const {
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

bool OptionReader::readInputFile() {
  const Arg *input = findInput();
  for (const Arg *argument : arguments) {
    std::string word = argument->getAsString(arguments);
    bool isInput = argument->getOption().matches(OPT_INPUT);
    if (!isInput && !argument->getOption().matches(OPT_UNKNOWN))
      continue;
    if (argument == input)
      options.input = word;
    if (!run)
      line.inputs.push_back(word);
    else if (argument != input)
      line.remaining.push_back(word);
  }
  if (options.input.empty())
    return fail("no input; give a .tile file, or '-' for standard input");
  return readLanguage();
}

/// Checks several inputs: they must be combined in a pack, and options that concern a single kernel are rejected.
bool OptionReader::checkInputs() {
  if (line.inputs.size() < 2)
    return true;
  if (options.emit != EmitKind::Tilepack && options.emit != EmitKind::Header)
    return fail(formatv("{0} inputs ('{1}', '{2}'{3}) need -o FILE.tilepack, -o FILE.h, --emit=tilepack or "
                        "--emit=header",
                        line.inputs.size(), line.inputs[0], line.inputs[1], line.inputs.size() > 2 ? ", ..." : ""));
  if (llvm::is_contained(line.inputs, "-"))
    return fail("standard input ('-') can only be the only input");
  for (OptionId id : {OPT_kernel, OPT_signature, OPT_variant})
    if (const Arg *argument = arguments.getLastArg(id))
      return fail(formatv("{0} applies to one kernel; compile it to an artifact, and give that as an input: "
                          "tilec a.tile b.cubin -o FILE.tilepack",
                          StringRef(argument->getSpelling()).rtrim('=')));
  return true;
}

bool OptionReader::readLanguage() {
  options.language = StringRef(options.input).ends_with(".mlir") ? InputLanguage::Mlir : InputLanguage::Tile;
  if (const Arg *argument = arguments.getLastArg(OPT_x)) {
    line.languageGiven = true;
    StringRef language = argument->getValue();
    if (language != "tile" && language != "mlir")
      return fail(formatv("-x expects tile or mlir, not '{0}'", language));
    options.language = language == "mlir" ? InputLanguage::Mlir : InputLanguage::Tile;
  }
  return true;
}

bool OptionReader::readOutput() {
  line.output = arguments.getLastArgValue(OPT_o).str();
  StringRef extension = llvm::sys::path::extension(line.output);
  if (std::optional<EmitKind> kind = emitKindOfExtension(extension)) {
    options.emit = *kind;
    line.emitGiven = true;
  } else if (!run && !extension.empty() && !arguments.hasArg(OPT_emit, OPT_stop_after)) {
    return fail(formatv("-o expects a file that ends in .cubin, .ptx, .ll, .h, .json or .tilepack, not '{0}'; use "
                        "--emit=KIND to write this file",
                        line.output));
  }
  if (const Arg *argument = arguments.getLastArg(OPT_emit)) {
    std::optional<EmitKind> kind = emitKindOf(argument->getValue());
    if (!kind)
      return fail(
          formatv("--emit expects ast, configs, tile, cta, nvvm, llvm, ptx, cubin, manifest, header or tilepack, not "
                  "'{0}'",
                  argument->getValue()));
    options.emit = *kind;
    line.emitGiven = true;
  }
  return true;
}

bool OptionReader::readTargets() {
  std::vector<std::string> &targets = line.variants.targets;
  if (const Arg *argument = arguments.getLastArg(OPT_target)) {
    line.targetGiven = true;
    for (StringRef target : llvm::split(argument->getValue(), ',')) {
      if (target.empty())
        return fail(formatv("--target expects names of GPUs, separated by ',', not '{0}'", argument->getValue()));
      if (llvm::is_contained(targets, target))
        return fail(formatv("--target gives '{0}' twice", target));
      targets.push_back(target.str());
    }
    options.target = targets.front();
  }
  bool holdsSeveral = !run && (options.emit == EmitKind::Tilepack || options.emit == EmitKind::Header);
  if (targets.size() > 1 && !holdsSeveral)
    return fail(formatv("--target gives {0} targets, which need -o FILE.tilepack, --emit=tilepack or --emit=header",
                        targets.size()));
  return true;
}

/// Reads the file named by --card, which also determines the target if no target is given.
bool OptionReader::readCard() {
  const Arg *argument = arguments.getLastArg(OPT_card);
  if (!argument)
    return true;
  options.cardFile = argument->getValue();
  llvm::Expected<std::string> text = driver::readInput(options.cardFile);
  if (!text)
    return fail("--card: " + llvm::toString(text.takeError()));
  target::CardResult read = target::parseCard(*text);
  if (!read.card)
    return fail(formatv("--card: {0}: {1}", options.cardFile, read.error));
  options.card = std::move(read.card);
  const unsigned capability = options.card->capability;
  const target::GpuTarget *best = target::findTargetOf(capability);
  const bool isKnown = best && best->capability == capability;
  const std::string ofCard = formatv("--card: {0} describes {1} of compute capability {2}.{3}", options.cardFile,
                                     options.card->name, capability / 10, capability % 10);
  std::vector<std::string> &targets = line.variants.targets;
  if (targets.empty() && !isKnown)
    return fail(ofCard + ", for which there is no target; known targets are " + target::listTargets());
  if (targets.empty())
    options.target = best->name;
  const bool isOfTarget = targets.empty() || llvm::any_of(targets, [&](const std::string &name) {
                            const target::GpuTarget *gpu = target::findTarget(name);
                            return gpu && gpu->capability == capability;
                          });
  return isOfTarget || fail(formatv("{0}, but --target is {1}", ofCard, llvm::join(targets, ",")));
}

bool OptionReader::readNames() {
  options.headerName = arguments.getLastArgValue(OPT_header_name).str();
  StringRef name = options.headerName;
  if (!name.empty() &&
      (llvm::isDigit(name[0]) || !llvm::all_of(name, [](char c) { return llvm::isAlnum(c) || c == '_'; })))
    return fail(formatv("--header-name expects a C identifier, not '{0}'", name));
  if (!name.empty() && options.emit != EmitKind::Header)
    return fail("--header-name needs --emit=header");
  options.keepPtx = arguments.hasArg(OPT_keep_ptx);
  if (options.keepPtx && options.emit != EmitKind::Header)
    return fail("--keep-ptx needs --emit=header; other artifacts contain their PTX anyway");
  options.strip = arguments.hasArg(OPT_strip);
  if (options.strip && options.emit != EmitKind::Cubin && options.emit != EmitKind::Tilepack)
    return fail("--strip needs a cubin or a tilepack, which contain code other than PTX");
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

bool OptionReader::readPasses() {
  if (const Arg *argument = arguments.getLastArg(OPT_O)) {
    StringRef level = argument->getValue();
    if (level.size() != 1 || level[0] < '0' || level[0] > '3')
      return fail(formatv("-O expects a level from 0 to 3, not '{0}'", level));
    options.pipeline.optLevel = std::min(level[0] - '0', 2);
    line.variants.alternatives = level == "3";
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
      return fail("--stop-after prints IR and cannot be combined with --emit, except for cta and nvvm");
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

bool OptionReader::readWarnings() {
  for (const std::string &flag : arguments.getAllArgValues(OPT_W)) {
    if (options.warnings.apply(flag))
      continue;
    StringRef name = flag;
    name.consume_front("no-");
    name.consume_front("error=");
    std::optional<std::string> guess = frontend::didYouMean(name, frontend::warningNames());
    return fail(formatv("unknown warning '-W{0}'; {1}", flag,
                        guess ? "did you mean '-W" + *guess + "'?" : "tilec --help-warnings lists the warnings"));
  }
  if (arguments.hasArg(OPT_w)) {
    options.warnings.silence();
    options.advise = false;
  }
  return true;
}

bool OptionReader::readToolkit() {
  options.toolkit.ptxas = arguments.getLastArgValue(OPT_ptxas).str();
  if (const Arg *argument = arguments.getLastArg(OPT_cuda_path)) {
    options.toolkit.roots.push_back(argument->getValue());
    return true; // search only the folder that the user specified
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

std::optional<uint64_t> OptionReader::parseBytes(StringRef text, uint64_t most) {
  unsigned shift = text.consume_back("K") ? 10 : text.consume_back("M") ? 20 : text.consume_back("G") ? 30 : 0;
  uint64_t number = 0;
  if (text.getAsInteger(10, number) || number == 0 || number > (most >> shift))
    return std::nullopt;
  return number << shift;
}

bool OptionReader::readCache() {
  constexpr uint64_t most = uint64_t(1) << 40;
  line.cacheFolder = arguments.getLastArgValue(OPT_cache_in).str();
  if (line.cacheFolder.empty() && arguments.hasArg(OPT_cache)) {
    const char *cache = std::getenv("XDG_CACHE_HOME"), *home = std::getenv("HOME");
    if (cache && *cache)
      line.cacheFolder = std::string(cache) + "/tile";
    else if (home && *home)
      line.cacheFolder = std::string(home) + "/.cache/tile";
    else
      return fail("--cache needs XDG_CACHE_HOME or HOME in the environment; set one of them, or use --cache=DIR");
  }
  if (const Arg *argument = arguments.getLastArg(OPT_cache_size)) {
    std::optional<uint64_t> bytes = parseBytes(argument->getValue(), most);
    if (!bytes)
      return fail(formatv("--cache-size expects bytes, 1 to 1024G, like 500M or 2G, not '{0}'", argument->getValue()));
    if (line.cacheFolder.empty())
      return fail("--cache-size needs --cache");
    line.cacheBytes = *bytes;
  }
  line.meaning = {std::to_string(int(options.emit))}; // -o may have selected it
  for (const Arg *argument : arguments) {
    const OptionId files[] = {OPT_INPUT, OPT_o, OPT_MD, OPT_MF, OPT_j, OPT_cache, OPT_cache_in, OPT_cache_size};
    if (llvm::none_of(files, [&](OptionId id) { return argument->getOption().matches(id); }))
      line.meaning.push_back(argument->getAsString(arguments));
  }
  return true;
}

} // namespace tile
