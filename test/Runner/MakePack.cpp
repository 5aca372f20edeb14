// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// make-pack OUT.tilepack VARIANT.ptx...: a pack of PTX artifacts whose manifests have names, the first of which is the
// general variant. The compiler's packs have cubins as images; the fake driver of these tests accepts PTX.
#include "Runtime/Artifact.h"

#include <cstdio>
#include <fstream>

using namespace tile::runtime;

int main(int argc, char **argv) {
  std::vector<PackedVariant> variants;
  for (int i = 2; i < argc; ++i) {
    Result<Artifact> artifact = readArtifactFile(argv[i]);
    if (!artifact) {
      std::fprintf(stderr, "make-pack: error: %s\n", artifact.error().message.c_str());
      return 1;
    }
    variants.push_back({artifact->manifest, artifact->image, artifact->image});
  }
  Result<std::string> pack = writePack(variants);
  if (!pack) {
    std::fprintf(stderr, "make-pack: error: %s\n", pack.error().message.c_str());
    return 1;
  }
  std::ofstream(argv[1], std::ios::binary) << *pack;
  return 0;
}
