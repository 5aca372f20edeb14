// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// libFuzzer target: manifests and tuning tables -> libtilert, with the mock driver of the unit tests. Artifacts are
// untrusted: they must be accepted, or rejected with an error that gives the reason, and accepted ones can be
// described, chosen from, launched and destroyed. Sanitizers find everything else.
//
// Each line of an input is a manifest, of a PTX artifact or, if there are several, of a pack; a line that begins with
// "tuning " is a table for it. Mutations change values and strings of the JSON, or bytes as libFuzzer does.
#include "Runtime/Artifact.h"
#include "tile/tilert.h"
#include "unit/Runtime/FakeDriver.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <unistd.h>

using namespace tile;

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);

namespace {

/// A failure without a message is a finding.
bool isFine(tile_status status) {
  if (status != TILE_OK && !*tile_last_error()) {
    std::fprintf(stderr, "ArtifactFuzzer: status %d without an explanation\n", int(status));
    abort();
  }
  return status == TILE_OK;
}

std::vector<std::string> linesOf(std::string_view text) {
  std::vector<std::string> lines;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    if (end > begin)
      lines.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

/// Returns nothing if no pack can be made of these manifests.
std::string makeArtifact(const std::vector<std::string> &manifests) {
  if (manifests.size() == 1)
    return ".version 8.0\n// tile.manifest: " + manifests.front() + "\n";
  std::vector<runtime::PackedVariant> variants;
  for (const std::string &text : manifests) {
    runtime::Result<runtime::Manifest> manifest = runtime::parseManifest(text);
    if (!manifest)
      return "";
    variants.push_back({std::move(*manifest), "image " + std::to_string(variants.size()), ""});
  }
  runtime::Result<std::string> pack = runtime::writePack(variants);
  return pack ? *pack : "";
}

void useTable(tile_kernel *kernel, const std::string &artifact, std::string table) {
  static const std::string path = "/tmp/tile-fuzz-table-" + std::to_string(getpid());
  const runtime::Bytes bytes(reinterpret_cast<const uint8_t *>(artifact.data()), artifact.size());
  if (const size_t place = table.find("HASH"); place != std::string::npos && runtime::isPack(bytes))
    table.replace(place, 4, runtime::Pack::read(bytes)->hash());
  FILE *file = std::fopen(path.c_str(), "wb");
  std::fwrite(table.data(), 1, table.size(), file);
  std::fclose(file);
  isFine(tile_kernel_use_tuning(kernel, path.c_str()));
  std::remove(path.c_str());
}

/// Launches the kernel once; `seed` chooses its arguments among boundary values.
void launch(tile_kernel *kernel, uint32_t count, uint64_t seed) {
  static constexpr uint64_t edges[] = {0,          1,          2,          8,          16,    64,        4096,
                                       0x7fffffff, 0x80000000, 0xffffffff, 1ull << 40, ~0ull, 1ull << 63};
  std::vector<uint64_t> values(count);
  std::vector<void *> arguments;
  for (uint64_t &value : values) {
    value = edges[seed % std::size(edges)];
    seed = seed / std::size(edges) + 7919 * seed;
    arguments.push_back(&value);
  }
  constexpr int multiprocessors = 132;
  int64_t grid[3] = {}, blocks[3] = {};
  uint32_t index = 0;
  runtime::TensorMap map;
  if (isFine(tile_kernel_grid(kernel, arguments.data(), count, multiprocessors, grid)))
    isFine(tile_kernel_blocks(kernel, grid, multiprocessors, blocks));
  isFine(tile_kernel_choice(kernel, arguments.data(), count, multiprocessors, &index));
  tile_variant variant = {};
  isFine(tile_kernel_estimate(kernel, 0, arguments.data(), count, multiprocessors, &variant));
  isFine(tile_kernel_encode_tensor_map(kernel, 0, arguments.data(), count, &map));
  isFine(tile_check_arguments(kernel, arguments.data(), count));
  isFine(tile_launch(kernel, nullptr, arguments.data(), count));
}

void use(tile_kernel *kernel) {
  tile_kernel_info info = {};
  size_t scratch = 0;
  if (!isFine(tile_kernel_describe(kernel, &info)))
    return;
  for (uint32_t i = 0; i < info.parameter_count; ++i) {
    tile_parameter parameter = {};
    isFine(tile_kernel_parameter(kernel, i, &parameter));
  }
  isFine(tile_kernel_scratch_bytes(kernel, 132, &scratch));
  for (uint64_t seed : {0, 3, 12345, 777777777})
    launch(kernel, info.parameter_count, seed);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::vector<std::string> manifests, tables;
  for (std::string &line : linesOf({reinterpret_cast<const char *>(data), size}))
    (line.starts_with("tuning ") ? tables : manifests).push_back(std::move(line));
  const std::string artifact = manifests.empty() ? "" : makeArtifact(manifests);
  test::FakeDriver driver;
  driver.isRecording = false;
  tile_runtime *runtime = nullptr;
  tile_kernel *kernel = nullptr;
  isFine(tile_runtime_create(test::FakeDriver::lookup, nullptr, &runtime));
  if (isFine(tile_kernel_load_memory(runtime, artifact.data(), artifact.size(), &kernel))) {
    for (const std::string &table : tables)
      useTable(kernel, artifact, table.substr(std::string_view("tuning ").size()));
    use(kernel);
    tile_kernel_destroy(kernel);
  }
  isFine(tile_runtime_destroy(runtime));
  return 0;
}

namespace {

/// Returns the position at which a value begins in JSON: after a colon, comma or bracket.
std::vector<std::pair<size_t, size_t>> findValues(const std::string &text) {
  std::vector<std::pair<size_t, size_t>> values;
  for (size_t i = 1; i < text.size(); ++i) {
    const bool isText = text[i] == '"' && std::string_view(":,[ ").find(text[i - 1]) != std::string_view::npos;
    if (!isText && (!std::isdigit(text[i]) || std::isalnum(text[i - 1]) || text[i - 1] == '_'))
      continue;
    size_t end = i + 1;
    while (end < text.size() && (isText ? text[end] != '"' : std::isdigit(text[end]) != 0))
      ++end;
    values.emplace_back(i, std::min(end + isText, text.size()));
    i = end;
  }
  return values;
}

} // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed) {
  static constexpr const char *words[] = {"0",
                                          "-1",
                                          "1",
                                          "2",
                                          "31",
                                          "32",
                                          "1024",
                                          "65536",
                                          "2147483647",
                                          "-2147483648",
                                          "4294967295",
                                          "9223372036854775807",
                                          "-9223372036854775808",
                                          "1e300",
                                          "null",
                                          "true",
                                          "[]",
                                          "{}",
                                          "\"\"",
                                          "\"M\"",
                                          "\"cdiv(M, 0)\"",
                                          "\"M // N\"",
                                          "\"M % N\"",
                                          "\"M ** M\"",
                                          "\"num_sms\"",
                                          "\"min(M, N) * 9223372036854775807\"",
                                          "\"next_power_of_2(M)\"",
                                          "\"((((((((M))))))))\"",
                                          "\"M if N else K\"",
                                          "\"-M\"",
                                          "\"ptr<f32>\"",
                                          "\"i64\"",
                                          "\"i1\"",
                                          "\"f8e4m3\"",
                                          "\"sm_90a\"",
                                          "\"sm_80\"",
                                          "\"ptx\"",
                                          "\"random\""};
  std::minstd_rand random(seed);
  std::string text(reinterpret_cast<const char *>(data), size);
  const std::vector<std::pair<size_t, size_t>> values = findValues(text);
  if (values.empty() || random() % 4 == 0)
    return LLVMFuzzerMutate(data, size, most);
  const auto [begin, end] = values[random() % values.size()];
  const auto [otherBegin, otherEnd] = values[random() % values.size()];
  const std::string other = text.substr(otherBegin, otherEnd - otherBegin);
  text.replace(begin, end - begin, random() % 3 == 0 ? other : words[random() % std::size(words)]);
  if (text.size() > most)
    return size;
  std::copy(text.begin(), text.end(), data);
  return text.size();
}
