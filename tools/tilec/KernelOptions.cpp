// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads the options about the kernel: parameters, assumptions, sizes, schedule and variants.
#include "OptionReader.h"

#include "llvm/ADT/StringExtras.h"

using namespace llvm::opt;
using llvm::formatv;
using llvm::StringRef;
using tile::driver::EmitKind;

namespace tile {

/// Reads an integer and checks its range. `value` does not change if the option is absent.
bool OptionReader::readNumber(OptionId id, StringRef name, int low, int high, std::optional<int> &value) {
  const Arg *argument = arguments.getLastArg(id);
  int number = 0;
  if (!argument)
    return true;
  if (StringRef(argument->getValue()).getAsInteger(10, number) || number < low || number > high)
    return fail(formatv("{0} expects a number from {1} to {2}, not '{3}'", name, low, high, argument->getValue()));
  value = number;
  return true;
}

bool OptionReader::readKernel() {
  options.kernel = arguments.getLastArgValue(OPT_kernel).str();
  options.importPaths = arguments.getAllArgValues(OPT_I);
  options.signature = arguments.getLastArgValue(OPT_signature).str();
  options.debug = arguments.hasArg(OPT_debug);
  options.pipeline.instrument = arguments.hasArg(OPT_instrument);
  StringRef standard = arguments.getLastArgValue(OPT_std, "triton");
  if (standard != "triton" && standard != "tile1")
    return fail(formatv("--std expects triton or tile1, not '{0}'", standard));
  options.standard = standard == "tile1" ? frontend::Standard::Tile1 : frontend::Standard::Triton;
  for (const std::string &definition : arguments.getAllArgValues(OPT_D))
    if (!readDefinition(definition))
      return false;
  if (!readPromises() || !readNumber(OPT_num_warps, "--num-warps", 1, 32, options.numWarps) ||
      !readNumber(OPT_num_stages, "--num-stages", 1, 16, options.numStages))
    return false;
  if (options.numWarps && !llvm::isPowerOf2_32(*options.numWarps))
    return fail(formatv("--num-warps expects a power of two from 1 to 32, not '{0}'", *options.numWarps));
  return readSchedule() && readCluster();
}

/// Returns the position of the first comma outside brackets and strings, or the size of `text`.
static size_t findComma(StringRef text) {
  int depth = 0;
  char quote = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (quote) {
      if (c == '\\')
        ++i;
      else if (c == quote)
        quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (StringRef("([{").contains(c)) {
      ++depth;
    } else if (StringRef(")]}").contains(c)) {
      --depth;
    } else if (c == ',' && depth == 0) {
      return i;
    }
  }
  return text.size();
}

/// Reads "BLOCK=64", or "BLOCK=64,128", in which each value adds variants. The last -D of a name wins.
bool OptionReader::readDefinition(StringRef definition) {
  auto [name, remaining] = definition.split('=');
  std::vector<std::string> values;
  for (bool isLast = false; !isLast;) {
    size_t end = findComma(remaining);
    isLast = end == remaining.size();
    values.push_back(remaining.take_front(end).trim().str());
    remaining = remaining.drop_front(isLast ? end : end + 1);
  }
  if (name.empty() || llvm::is_contained(values, ""))
    return fail(formatv("-D expects NAME=VALUE, or NAME=VALUE,..., not '{0}'", definition));
  options.definitions[name.str()] = values.front();
  options.alternatives.erase(name.str());
  for (size_t i = 1; i < values.size(); ++i) {
    if (llvm::is_contained(llvm::ArrayRef(values).take_front(i), values[i]))
      return fail(formatv("-D gives {0} the value {1} twice", name, values[i]));
    options.alternatives[name.str()].push_back(values[i]);
  }
  return true;
}

/// Reads the assumptions about the parameters and their expected values.
bool OptionReader::readPromises() {
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
  return true;
}

bool OptionReader::readSchedule() {
  for (const Arg *argument : arguments.filtered(OPT_schedule)) {
    options.schedule = frontend::parseSchedule(argument->getValue());
    if (!options.schedule)
      return fail(formatv("--schedule expects cooperative, pingpong or auto, not '{0}'", argument->getValue()));
  }
  return true;
}

bool OptionReader::readCluster() {
  const Arg *argument = arguments.getLastArg(OPT_cluster);
  if (!argument)
    return true;
  frontend::ClusterShape shape = {1, 1, 1};
  llvm::SmallVector<StringRef> extents;
  StringRef(argument->getValue()).split(extents, 'x');
  bool isShape = extents.size() == 2 || extents.size() == 3;
  for (size_t i = 0; isShape && i < extents.size(); ++i)
    isShape = !extents[i].getAsInteger(10, shape[i]);
  bool isOpen = StringRef(argument->getValue()) == "auto";
  if (!isOpen && (!isShape || !frontend::isCluster(shape)))
    return fail(formatv(
        "--cluster expects auto, or a shape such as 2x1, 1x2 or 1x1x2 with 1, 2, 4 or 8 CTAs in total, not '{0}'",
        argument->getValue()));
  options.cluster = isOpen ? frontend::openCluster : shape;
  return true;
}

bool OptionReader::readBudget() {
  constexpr uint64_t most = uint64_t(1) << 30; // maximum size of an artifact
  const Arg *argument = arguments.getLastArg(OPT_variants_budget);
  line.variants.budget = argument ? parseBytes(argument->getValue(), most) : std::nullopt;
  if (argument && !line.variants.budget)
    return fail(formatv("--variants-budget expects bytes, 1 to 1024M, like 500000, 800K or 3M, not '{0}'",
                        argument->getValue()));
  return true;
}

bool OptionReader::readTuning(bool hasVariants) {
  using driver::VariantMode;
  bool isVaried = line.variants.mode != VariantMode::None && line.variants.mode != VariantMode::Invariant;
  if (line.variants.alternatives && hasVariants && !isVaried)
    return fail("-O3 adds variants with other schedules, which --variants=none and --variants=invariant rule out");
  const Arg *argument = arguments.getLastArg(OPT_tuning);
  if (!argument)
    return true;
  if (!hasVariants || run || !isVaried)
    return fail("--tuning needs an output that can hold variants: a cubin, a header or a tilepack, without "
                "--variants=none or --variants=invariant");
  for (StringRef path : llvm::split(argument->getValue(), ','))
    line.variants.tuning.push_back(path.str());
  return true;
}

bool OptionReader::readBits() {
  const Arg *argument = arguments.getLastArg(OPT_bits_like);
  if (!argument)
    return true;
  StringRef file = argument->getValue();
  if (!file.consume_front("like:") || file.empty())
    return fail(formatv("--bits expects like:FILE, not '{0}'", argument->getValue()));
  if (run || options.emit < EmitKind::Cubin || options.emit == EmitKind::Manifest)
    return fail("--bits needs an output that records an order: a cubin, a header or a tilepack");
  line.variants.sameBitsAs = file.str();
  return true;
}

bool OptionReader::readVariants() {
  const Arg *mode = arguments.getLastArg(OPT_variants);
  bool hasVariants = line.takesVariants || (!run && options.emit >= EmitKind::Cubin);
  std::optional<int> jobs;
  if (std::optional<driver::VariantMode> known = driver::parseVariantMode(mode          ? mode->getValue()
                                                                          : hasVariants ? "auto"
                                                                                        : "none"))
    line.variants.mode = *known;
  else
    return fail(formatv("--variants expects none, alignment, auto, all or invariant, not '{0}'", mode->getValue()));
  if (!readBudget() || !readNumber(OPT_j, "-j", 1, 1024, jobs))
    return false;
  line.variants.jobs = jobs.value_or(0);
  line.variants.name = arguments.getLastArgValue(OPT_variant).str();
  if (!readTuning(hasVariants) || !readBits())
    return false;
  bool isOne = !line.variants.name.empty();
  if (run && !line.takesVariants && (line.variants.mode != driver::VariantMode::None || isOne || line.variants.budget))
    return fail(
        "tilec run compiles one kernel, for the given sizes; remove --variants, --variant and --variants-budget");
  if (line.variants.budget && !hasVariants)
    return fail("--variants-budget needs an output that can hold variants: a cubin, a header or a tilepack");
  if (isOne && mode && line.variants.mode == driver::VariantMode::None)
    return fail(
        "--variant chooses one of several kernels, but --variants=none makes only one; use only one of the two");
  if (isOne && options.emit == EmitKind::Tilepack)
    return fail("--variant chooses one kernel, but a tilepack holds all variants; use only one of the two");
  // Text output shows the variant that follows from assumptions and sizes. Several values of -D would be ambiguous.
  if (isOne && !mode)
    line.variants.mode = driver::VariantMode::Auto;
  if (!options.alternatives.empty() && line.variants.mode == driver::VariantMode::None) {
    const auto &[name, values] = *options.alternatives.begin();
    if (run && !line.takesVariants)
      return fail(formatv("-D gives {0} {1} values, but {2} compiles one kernel; give one value", name,
                          values.size() + 1,
                          StringRef(line.usage).starts_with("tilec explain") ? "tilec explain" : "tilec run"));
    return fail(formatv("-D gives {0} {1} values, but this output holds one kernel; give one value{2}", name,
                        values.size() + 1, hasVariants ? "" : ", or choose with --variant=NAME"));
  }
  return true;
}

} // namespace tile
