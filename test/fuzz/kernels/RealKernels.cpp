// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "RealKernels.h"

#include "Random.h"
#include "RunLines.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

namespace tile::fuzz {

namespace {

constexpr const char *mark = "#fuzz: ";

/// Larger sizes are always reduced, because the interpreter and the simulator take long for them.
constexpr int64_t largestSize = 200, largestOfTests = 320;

/// Kernels whose results legitimately differ between devices: tickets in the order of atomic operations, facts about
/// the platform, addresses.
constexpr const char *withoutOneResult[] = {"test/Exec/atomics.tile", "test/Exec/platform-probes.tile",
                                            "test/Exec/pointers.tile"};

bool isPowerOfTwo(int64_t value) {
  return value > 0 && (value & (value - 1)) == 0;
}

int64_t mutateSize(int64_t value, Random &random) {
  // Such small values count heads, groups or iterations, each of which has a size given by others.
  constexpr int64_t largestCount = 8;
  if (value <= largestCount)
    return random.chance(60) ? value : random.pick<int64_t>({0, 1, 2, 3, 5, 7, 8, 9});
  if (value <= largestSize && random.chance(45))
    return value;
  switch (random.below(4)) {
  case 0:
    return random.pick<int64_t>({0, 1, 2, 3, 7, 8});
  case 1:
    return random.pick<int64_t>({16, 32, 64, 128});
  case 2:
    return random.pick<int64_t>({15, 17, 31, 33, 63, 65, 100, 127, 129});
  default:
    return random.between(1, largestSize);
  }
}

/// Replaces one element type by another, in both spellings.
std::string mutateTypes(std::string text, Random &random) {
  const auto [from, to] = random.pick<std::pair<const char *, const char *>>(
      {{"f16", "bf16"}, {"f16", "f32"}, {"f32", "f16"}, {"f32", "bf16"}, {"i32", "i64"}, {"f32", "f64"}});
  const std::regex pattern("\\b(ptr\\[|\\*)(fp|f|i)" + std::string(from + 1) + "\\b");
  std::string result;
  auto begin = std::sregex_iterator(text.begin(), text.end(), pattern);
  size_t at = 0;
  for (auto match = begin; match != std::sregex_iterator(); ++match) {
    const bool isFloat = from[0] == 'f', isPython = (*match)[1] == "*";
    const bool isSame = (isFloat ? (*match)[2] == (isPython ? "fp" : "f") : (*match)[2] == "i");
    result += text.substr(at, static_cast<size_t>(match->position()) - at);
    std::string name = to;
    if (isPython && name[0] == 'f')
      name = "fp" + name.substr(1);
    result += isSame ? (*match)[1].str() + name : match->str();
    at = static_cast<size_t>(match->position() + match->length());
  }
  return result + text.substr(at);
}

/// Returns the integer that the text represents, if any.
std::optional<int64_t> integerOf(const std::string &text) {
  const bool isNumber = !text.empty() && text.size() < 10 && text.find_first_not_of("0123456789") == std::string::npos;
  return isNumber ? std::optional(std::stoll(text)) : std::nullopt;
}

std::string writeOptions(const MutantOptions &options) {
  std::string head = mark + ("file=" + options.file) + " kernel=" + options.kernel;
  for (const std::string &argument : options.arguments)
    head += " " + argument;
  for (const auto &[name, value] : options.definitions)
    head += " -D" + name + "=" + value;
  if (options.numWarps)
    head += " warps=" + std::to_string(*options.numWarps);
  if (options.numStages)
    head += " stages=" + std::to_string(*options.numStages);
  for (const auto &[name, value] :
       {std::pair("signature", options.signature), {"cluster", options.cluster}, {"schedule", options.schedule}})
    if (!value.empty())
      head += std::string(" ") + name + "=" + value;
  return head + "\n";
}

/// Returns the file named in the words of a launch, and the options; nothing if a word is not supported.
std::optional<MutantOptions> readLaunch(const std::vector<std::string> &words, const std::string &folder) {
  MutantOptions options;
  for (size_t i = 0; i < words.size(); ++i) {
    std::string word = words[i];
    const bool takesNext = word == "-D" || word == "--signature" || word == "--kernel";
    if (takesNext && i + 1 < words.size())
      word += (word == "-D" ? "" : "=") + words[++i];
    if (word.starts_with("%S/"))
      word = folder + word.substr(2);
    if (const size_t at = word.find("=%S/"); at != std::string::npos)
      word = word.substr(0, at + 1) + folder + word.substr(at + 3);
    const size_t equals = word.find('=');
    const std::string name = word.substr(0, equals), value = equals == std::string::npos ? "" : word.substr(equals + 1);
    if (word == "%s" || word.ends_with(".tile"))
      options.file = word;
    else if (value.find('%') != std::string::npos && value.find("% ") == std::string::npos)
      return std::nullopt;
    else if (name == "--kernel")
      options.kernel = value;
    else if (name == "--num-warps")
      options.numWarps = static_cast<int>(integerOf(value).value_or(4));
    else if (name == "--num-stages")
      options.numStages = static_cast<int>(integerOf(value).value_or(2));
    else if (name == "--cluster")
      options.cluster = value;
    else if (name == "--schedule")
      options.schedule = value;
    else if (name == "--signature")
      options.signature = value;
    else if (name.starts_with("-D"))
      options.definitions[name.substr(2)] = value;
    else if (!name.starts_with("-") && equals != std::string::npos)
      options.arguments.push_back(word);
  }
  return options.file.empty() || options.file.starts_with("%t") ? std::nullopt : std::optional(options);
}

} // namespace

void MutantOptions::setArgument(const std::string &name, const std::string &value) {
  std::erase_if(arguments, [&](const std::string &argument) { return argument.starts_with(name + "="); });
  arguments.push_back(name + "=" + value);
}

std::optional<MutantOptions> readMutantOptions(const std::string &text) {
  if (!text.starts_with(mark))
    return std::nullopt;
  MutantOptions options;
  std::istringstream words(text.substr(7, text.find('\n') - 7));
  for (std::string word; words >> word;) {
    const size_t equals = word.find('=');
    const std::string name = word.substr(0, equals), value = word.substr(equals + 1);
    if (name == "file")
      options.file = value;
    else if (name == "kernel")
      options.kernel = value;
    else if (name == "warps")
      options.numWarps = std::stoi(value);
    else if (name == "stages")
      options.numStages = std::stoi(value);
    else if (name == "cluster")
      options.cluster = value;
    else if (name == "schedule")
      options.schedule = value;
    else if (name == "signature")
      options.signature = value;
    else if (name.starts_with("-D"))
      options.definitions[name.substr(2)] = value;
    else if (word == "exact")
      options.isExact = true;
    else
      options.arguments.push_back(word);
  }
  return options;
}

RealKernels::RealKernels(const std::vector<std::string> &folders) {
  std::vector<std::string> files;
  for (const std::string &folder : folders)
    for (const auto &entry : std::filesystem::recursive_directory_iterator(folder))
      if (const std::string kind = entry.path().extension(); kind == ".tile" || kind == ".test")
        files.push_back(entry.path().string());
  std::sort(files.begin(), files.end());
  std::vector<std::string> texts;
  for (const std::string &file : files) {
    std::ostringstream stream;
    stream << std::ifstream(file).rdbuf();
    texts.push_back(stream.str());
    const bool hasResult = std::none_of(std::begin(withoutOneResult), std::end(withoutOneResult),
                                        [&](const char *name) { return file.ends_with(name); });
    const bool asksTarget = texts.back().find("cuda_capability_geq") != std::string::npos;
    if (file.ends_with(".tile") && hasResult && !asksTarget)
      readKernels(file, texts.back());
  }
  for (size_t i = 0; i < files.size(); ++i)
    readTests(files[i], texts[i]);
}

void RealKernels::readKernels(const std::string &file, const std::string &text) {
  static const std::regex definition("\n@(?:tile\\.kernel|triton\\.jit)[^\n]*\ndef (\\w+)\\(([^)]*)\\)"),
      size("#: default (\\w+) = (\\d{1,9})\n"), constant("(\\w+): (?:tl\\.|tile\\.)?constexpr = (auto|\\d{1,9}\\b)");
  const std::sregex_iterator none;
  size_t begin = 0;
  for (auto match = std::sregex_iterator(text.begin(), text.end(), definition); match != none; ++match) {
    const size_t end = static_cast<size_t>(match->position());
    const std::string directives = text.substr(begin, end + 1 - begin), parameters = (*match)[2];
    begin = end + static_cast<size_t>(match->length());
    if (directives.find("#: grid(") == std::string::npos)
      continue;
    Kernel &kernel = kernels.emplace_back(Kernel{file, text, (*match)[1], {}, {}});
    // Kernels that count their own errors compare results that are exact only for their sizes.
    kernel.isFixed = directives.find("#: expect bad ==") != std::string::npos;
    if (kernel.isFixed)
      continue;
    for (auto found = std::sregex_iterator(directives.begin(), directives.end(), size); found != none; ++found)
      kernel.sizes.emplace_back((*found)[1], std::stoll((*found)[2]));
    for (auto found = std::sregex_iterator(parameters.begin(), parameters.end(), constant); found != none; ++found)
      kernel.constants.push_back((*found)[1].str() + "=" + (*found)[2].str());
  }
}

void RealKernels::readTests(const std::string &file, const std::string &text) {
  const std::string folder = std::filesystem::path(file).parent_path().string();
  for (const std::vector<std::string> &words : readLaunches(text)) {
    const std::optional<MutantOptions> launch = readLaunch(words, folder);
    if (!launch)
      continue;
    // %examples/softmax.tile, %source_dir/test/Exec/scan.tile
    std::string end = launch->file;
    if (end == "%s")
      end = file;
    else if (end.starts_with("%examples/"))
      end = end.substr(1);
    else if (end.starts_with("%source_dir/"))
      end = end.substr(end.find('/') + 1);
    for (size_t i = 0; i < kernels.size(); ++i)
      if (kernels[i].file.ends_with(end) && (launch->kernel.empty() || launch->kernel == kernels[i].name))
        launches.emplace_back(i, *launch);
  }
}

std::string RealKernels::mutant(uint64_t seed) const {
  Random random(seed);
  // Consecutive seeds select different kernels until all have been used.
  constexpr size_t stride = 7919; // a prime number
  const size_t step = seed / 2 * stride;
  size_t index = step % kernels.size();
  MutantOptions options;
  if (seed % 2 == 1 && !launches.empty())
    std::tie(index, options) = launches[step % launches.size()];
  const Kernel &kernel = kernels[index];
  options.file = kernel.file;
  options.kernel = kernel.name;
  mutateSizes(kernel, options, random);
  mutateConstants(kernel, options, random);
  if (random.chance(options.numWarps ? 25 : 50))
    options.numWarps = random.pick({1, 2, 4, 8});
  if (random.chance(options.numStages ? 25 : 40))
    options.numStages = static_cast<int>(random.between(1, 5));
  if (!kernel.isFixed && random.chance(12))
    options.cluster = random.pick<std::string>({"2x1", "1x2", "2x2", "4x1", "1x1x2", "1x1x2", "1x1x4"});
  if (!kernel.isFixed && random.chance(12))
    options.schedule = random.pick<std::string>({"pingpong", "pingpong", "auto"});
  const bool hasOtherTypes = !kernel.isFixed && options.signature.empty() && random.chance(25);
  return writeOptions(options) + (hasOtherTypes ? mutateTypes(kernel.text, random) : kernel.text);
}

/// Half of the launches from tests keep their sizes, as far as they are small. Tensor maps require rows of whole 16
/// bytes, which few random sizes have.
void RealKernels::mutateSizes(const Kernel &kernel, MutantOptions &options, Random &random) {
  const bool keeps = !options.arguments.empty() && random.chance(50), isAligned = random.chance(50);
  for (const auto &[name, standard] : kernel.sizes) {
    std::optional<int64_t> given;
    bool isGiven = false;
    for (const std::string &argument : options.arguments)
      if (argument.starts_with(name + "=")) {
        given = integerOf(argument.substr(name.size() + 1));
        isGiven = true;
      }
    if (isGiven && (!given || (keeps && *given <= largestOfTests)))
      continue;
    if (keeps && !isGiven && standard <= largestOfTests)
      continue;
    int64_t size = mutateSize(given.value_or(standard), random);
    constexpr int64_t alignment = 8, least = 5; // smaller values are counts of something else
    if (isAligned && size >= least)
      size = (size + alignment - 1) / alignment * alignment;
    options.setArgument(name, std::to_string(size));
  }
}

void RealKernels::mutateConstants(const Kernel &kernel, MutantOptions &options, Random &random) {
  const bool leavesOpen = random.chance(25);
  for (const std::string &constant : kernel.constants) {
    const size_t equals = constant.find('=');
    const std::string name = constant.substr(0, equals), value = constant.substr(equals + 1);
    const bool isOpen = value == "auto";
    std::optional<int64_t> number = integerOf(value);
    if (auto given = options.definitions.find(name); given != options.definitions.end()) {
      number = integerOf(given->second);
      if (!number || random.chance(75))
        continue;
    } else if (!isOpen && (!number || random.chance(60))) {
      continue;
    }
    // The compiler chooses the value.
    if (isOpen && leavesOpen)
      continue;
    const int64_t before = number.value_or(64);
    int64_t changed = before;
    if (before <= 1)
      changed = 1 - before;
    else if (isPowerOfTwo(before))
      changed = random.pick<int64_t>({16, 16, 32, 64, 128, std::max<int64_t>(before / 2, 1), before});
    // An open parameter may be any multiple of 16.
    if (isOpen && random.chance(15))
      changed = random.pick<int64_t>({48, 80, 96, 144});
    options.definitions[name] = std::to_string(changed);
  }
}

} // namespace tile::fuzz
