// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "RealKernels.h"

#include "Random.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

namespace tile::fuzz {

namespace {

constexpr const char *mark = "#fuzz: ";

/// Sizes above are made smaller always: the interpreter and the simulator take long for them.
constexpr int64_t largestSize = 200;

/// Kernels whose results are not the same on all devices, by what they say themselves: tickets in the order of atomic
/// operations, the bytes of tensor maps, facts about the platform.
constexpr const char *withoutOneResult[] = {"test/Exec/atomics.tile", "test/Exec/tensor-maps.tile",
                                            "test/Exec/platform-probes.tile"};

bool isPowerOfTwo(int64_t value) {
  return value > 0 && (value & (value - 1)) == 0;
}

int64_t mutateSize(int64_t value, Random &random) {
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

} // namespace

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
      options.cluster = std::stoi(value);
    else if (name == "pingpong")
      options.isPingPong = true;
    else if (name.starts_with("-D"))
      options.definitions[name.substr(2)] = value;
    else
      options.arguments.push_back(word);
  }
  return options;
}

RealKernels::RealKernels(const std::vector<std::string> &folders) {
  std::vector<std::string> files;
  for (const std::string &folder : folders)
    for (const auto &entry : std::filesystem::recursive_directory_iterator(folder))
      if (entry.path().extension() == ".tile")
        files.push_back(entry.path().string());
  std::sort(files.begin(), files.end());
  const std::regex definition("\n@(?:tile\\.kernel|triton\\.jit)[^\n]*\ndef (\\w+)\\(([^)]*)\\)"),
      size("#: default (\\w+) = (\\d{1,9})\n"), constant("(\\w+): (?:tl\\.|tile\\.)?constexpr = (auto|\\d{1,9}\\b)");
  for (const std::string &file : files) {
    if (std::any_of(std::begin(withoutOneResult), std::end(withoutOneResult),
                    [&](const char *name) { return file.ends_with(name); }))
      continue;
    std::ostringstream stream;
    stream << std::ifstream(file).rdbuf();
    const std::string text = stream.str();
    size_t begin = 0;
    for (auto match = std::sregex_iterator(text.begin(), text.end(), definition); match != std::sregex_iterator();
         ++match) {
      const size_t end = static_cast<size_t>(match->position());
      const std::string directives = text.substr(begin, end + 1 - begin), parameters = (*match)[2];
      begin = end + static_cast<size_t>(match->length());
      if (directives.find("#: grid(") == std::string::npos)
        continue;
      Kernel kernel{file, text, (*match)[1], {}, {}};
      // Kernels that count their own errors compare what is exact for their sizes only.
      kernel.isFixed = directives.find("#: expect bad ==") != std::string::npos;
      if (kernel.isFixed) {
        kernels.push_back(kernel);
        continue;
      }
      for (auto found = std::sregex_iterator(directives.begin(), directives.end(), size);
           found != std::sregex_iterator(); ++found)
        kernel.sizes.emplace_back((*found)[1], std::stoll((*found)[2]));
      for (auto found = std::sregex_iterator(parameters.begin(), parameters.end(), constant);
           found != std::sregex_iterator(); ++found)
        kernel.constants.push_back((*found)[1].str() + "=" + (*found)[2].str());
      kernels.push_back(kernel);
    }
  }
}

std::string RealKernels::mutant(uint64_t seed) const {
  Random random(seed);
  const Kernel &kernel = random.pick(kernels);
  std::string head = mark + ("file=" + kernel.file) + " kernel=" + kernel.name;
  for (const auto &[name, value] : kernel.sizes)
    head += " " + name + "=" + std::to_string(mutateSize(value, random));
  const bool leavesOpen = random.chance(25);
  for (const std::string &constant : kernel.constants) {
    const size_t equals = constant.find('=');
    const std::string name = constant.substr(0, equals), value = constant.substr(equals + 1);
    const bool isOpen = value == "auto", isNumber = value.find_first_not_of("0123456789") == std::string::npos;
    if (!isOpen && (!isNumber || random.chance(60)))
      continue;
    // The compiler chooses.
    if (isOpen && leavesOpen)
      continue;
    const int64_t number = isNumber ? std::stoll(value) : 64;
    int64_t changed = number;
    if (number <= 1)
      changed = 1 - number;
    else if (isPowerOfTwo(number))
      changed = random.pick<int64_t>({16, 16, 32, 64, 128, std::max<int64_t>(number / 2, 1), number});
    // What is left open may be any multiple of 16.
    if (isOpen && random.chance(15))
      changed = random.pick<int64_t>({48, 80, 96, 144});
    head += " -D" + name + "=" + std::to_string(changed);
  }
  if (random.chance(50))
    head += " warps=" + std::to_string(random.pick({1, 2, 4, 8}));
  if (random.chance(40))
    head += " stages=" + std::to_string(random.between(1, 5));
  if (!kernel.isFixed && random.chance(8))
    head += " cluster=" + std::to_string(random.pick({2, 2, 4}));
  if (!kernel.isFixed && random.chance(8))
    head += " pingpong=1";
  return head + "\n" + (!kernel.isFixed && random.chance(25) ? mutateTypes(kernel.text, random) : kernel.text);
}

} // namespace tile::fuzz
