// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A program that contains the compiler, possibly with another copy of LLVM.
#include <cstdio>
#include <tile/Compiler.h>
#include <tile/tilert.h>

static const char *source = R"(
#: grid(cdiv(N, BLOCK))
@triton.jit
def twice(x: ptr[f32], N: i32, BLOCK: constexpr = 128):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + i, tl.load(x + i, mask=i < N) * 2, mask=i < N)
)";

int main() {
  tile::CompilerSettings settings;
  settings.isolated = true; // by the tilec that is installed with it
  tile::CompileResult made = tile::Compiler(settings).compile(source, {"--emit=ptx", "--target=sm_80"});
  tile_kernel *kernel = nullptr;
  tile_kernel_info info;
  if (!made || tile_kernel_load_memory(nullptr, made.data(), made.size(), &kernel) != TILE_OK ||
      tile_kernel_describe(kernel, &info) != TILE_OK)
    std::printf("failed: %s %s\n", made.error.c_str(), tile_last_error());
  else
    std::printf("compiled %s for %s\n", info.entry, info.target);
  tile_kernel_destroy(kernel);
}
