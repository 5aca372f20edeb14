// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs a fuzz target without libFuzzer or sanitizers, the same way every time: each file of the corpora once, then
// mutants of them. Builds without the preset "fuzz" have it, so that every test run repeats what fuzzing found.
//
//   tile-fuzz-TARGET [--mutants=N] FILE|FOLDER...
//
// An input that dies or takes more than a minute is written to ./crash-TARGET, and its name or number is printed.
#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

extern "C" {
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t maxSize);
__attribute__((weak)) size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t maxSize, unsigned seed);
}

namespace {

constexpr size_t maxSize = 6000;
constexpr unsigned secondsForOne = 60;

std::minstd_rand randomBits;
std::string outputName;           ///< bytes of a crashing input
std::string current, description; ///< the input that is running

size_t below(size_t count) {
  return count ? randomBits() % count : 0;
}

/// Writes the crashing input; uses only functions that signal handlers may call.
void reportDeath(int signal) {
  const int file = open(outputName.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (file < 0 || write(file, current.data(), current.size()) < 0)
    outputName = "(not written)";
  const std::string *parts[] = {&description, &outputName};
  for (const std::string *part : parts)
    if (write(STDERR_FILENO, part->data(), part->size()) < 0 || write(STDERR_FILENO, "\n", 1) < 0)
      break;
  _exit(128 + signal);
}

void run(std::string input, std::string what) {
  current = std::move(input);
  description = "fuzz: finding: " + what + ", input in:";
  alarm(secondsForOne);
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t *>(current.data()), current.size());
  alarm(0);
}

std::string mutate(const std::string &input) {
  std::string text = input.substr(0, maxSize);
  size_t size = text.size();
  text.resize(maxSize);
  auto *data = reinterpret_cast<uint8_t *>(text.data());
  const size_t rounds = 1 + below(4);
  for (size_t i = 0; i < rounds; ++i)
    size = LLVMFuzzerCustomMutator ? LLVMFuzzerCustomMutator(data, size, maxSize, static_cast<unsigned>(randomBits()))
                                   : LLVMFuzzerMutate(data, size, maxSize);
  text.resize(size);
  return text;
}

/// Returns the files sorted by name, independent of the file system.
std::vector<std::string> findFiles(const std::string &path) {
  if (!std::filesystem::is_directory(path))
    return {path};
  std::vector<std::string> files;
  for (const auto &entry : std::filesystem::directory_iterator(path))
    files.push_back(entry.path().string());
  std::sort(files.begin(), files.end());
  return files;
}

} // namespace

/// Changes, inserts, erases or copies some bytes.
extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most) {
  std::string text(reinterpret_cast<const char *>(data), size);
  const size_t at = below(text.size() + 1), count = 1 + below(8);
  switch (below(4)) {
  case 0:
    for (size_t i = at; i < std::min(at + count, text.size()); ++i)
      text[i] = static_cast<char>(randomBits());
    break;
  case 1:
    text.insert(at, count, static_cast<char>(randomBits()));
    break;
  case 2:
    text.erase(at, count);
    break;
  default: {
    const std::string part = text.substr(below(text.size() + 1), 8 * count);
    text.insert(at, part);
  }
  }
  text.resize(std::min(text.size(), most));
  std::memcpy(data, text.data(), text.size());
  return text.size();
}

int main(int argc, char **argv) {
  outputName = "crash-" + std::filesystem::path(argv[0]).filename().string();
  for (int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM})
    std::signal(signal, reportDeath);
  size_t mutants = 0;
  std::vector<std::string> inputs;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i], option = "--mutants=";
    if (word.starts_with(option)) {
      mutants = std::strtoull(word.c_str() + option.size(), nullptr, 10);
      continue;
    }
    for (const std::string &path : findFiles(word)) {
      std::ifstream file(path, std::ios::binary);
      if (!file) {
        std::fprintf(stderr, "fuzz: error: cannot read '%s'\n", path.c_str());
        return 2;
      }
      inputs.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
      run(inputs.back(), path);
    }
  }
  for (size_t i = 0; i < mutants && !inputs.empty(); ++i)
    run(mutate(inputs[below(inputs.size())]), "mutant " + std::to_string(i));
  std::printf("fuzz: no finding in %zu inputs and %zu mutants\n", inputs.size(), mutants);
  return 0;
}
