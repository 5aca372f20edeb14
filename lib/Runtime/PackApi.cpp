// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The C API for packs of several kernels.
#include "Runtime/ApiGuard.h"
#include "Runtime/Bundle.h"

struct tile_pack {
  std::string file; ///< contents of a file; empty: the memory belongs to the caller
  tile::runtime::Bytes bytes;
  std::optional<tile::runtime::Bundle> bundle; ///< nullopt: the artifact of one kernel
  std::string name;                            ///< the name of that kernel
};

using namespace tile::runtime;

static tile_status openPack(std::unique_ptr<tile_pack> opened, tile_pack **pack) {
  if (isBundle(opened->bytes)) {
    Result<Bundle> bundle = Bundle::read(opened->bytes);
    if (!bundle)
      return reportError(bundle.error());
    opened->bundle = std::move(*bundle);
  } else {
    Result<Artifact> artifact = readArtifact(opened->bytes);
    if (!artifact)
      return reportError(artifact.error());
    opened->name = artifact->manifest.kernel;
  }
  *pack = opened.release();
  return TILE_OK;
}

extern "C" {

tile_status tile_pack_open_file(const char *path, tile_pack **pack) {
  if (pack)
    *pack = nullptr;
  if (!path || !pack)
    return nullArgument("tile_pack_open_file", pack ? "path" : "pack");
  return guarded([&] {
    constexpr uint64_t largest = uint64_t(4) << 30;
    Result<std::string> contents = readFile(path, largest);
    if (!contents)
      return reportError(contents.error());
    auto opened = std::make_unique<tile_pack>();
    opened->file = std::move(*contents);
    opened->bytes = {reinterpret_cast<const uint8_t *>(opened->file.data()), opened->file.size()};
    return openPack(std::move(opened), pack);
  });
}

tile_status tile_pack_open_memory(const void *data, size_t size, tile_pack **pack) {
  if (pack)
    *pack = nullptr;
  if (!data || !pack)
    return nullArgument("tile_pack_open_memory", pack ? "data" : "pack");
  return guarded([&] {
    auto opened = std::make_unique<tile_pack>();
    opened->bytes = {static_cast<const uint8_t *>(data), size};
    return openPack(std::move(opened), pack);
  });
}

void tile_pack_close(tile_pack *pack) {
  delete pack;
}

tile_status tile_pack_kernel_count(const tile_pack *pack, uint32_t *count) {
  if (!pack || !count)
    return nullArgument("tile_pack_kernel_count", pack ? "count" : "pack");
  *count = pack->bundle ? static_cast<uint32_t>(pack->bundle->size()) : 1;
  return TILE_OK;
}

tile_status tile_pack_kernel_name(const tile_pack *pack, uint32_t index, const char **name) {
  uint32_t count = 0;
  if (!name || tile_pack_kernel_count(pack, &count) != TILE_OK)
    return nullArgument("tile_pack_kernel_name", pack ? "name" : "pack");
  if (index >= count)
    return reportError(TILE_ERROR_INVALID_ARGUMENT, "kernel {} does not exist; the pack has {}", index, count);
  *name = pack->bundle ? pack->bundle->name(index).c_str() : pack->name.c_str();
  return TILE_OK;
}

tile_status tile_pack_load(const tile_pack *pack, tile_runtime *runtime, const char *name, tile_kernel **kernel) {
  if (kernel)
    *kernel = nullptr;
  if (!pack || !name || !kernel)
    return nullArgument("tile_pack_load", !pack ? "pack" : !name ? "name" : "kernel");
  if (!*name)
    return reportError(TILE_ERROR_INVALID_ARGUMENT, "tile_pack_load: 'name' is empty");
  return guarded([&] { return finishLoading(runtime, readArtifact(pack->bytes, name), kernel); });
}

} // extern "C"
