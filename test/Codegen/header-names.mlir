// Names that C does not allow, or that the generated functions use themselves, get another spelling.
// REQUIRES: ptxas
// RUN: tilec %s --emit=header -o %t.h
// RUN: FileCheck %s --input-file=%t.h
// RUN: echo '#include "%t.h"' > %t.cpp
// RUN: clang++-22 -std=c++17 -Wall -Wextra -Werror -I%source_dir/include -c %t.cpp -o %t.o

// CHECK: from {{.*}}header-names.mlir
// CHECK: static inline tile_status new__launch(tile_kernel *kernel, void *stream, float class_, tile_f16 stream_, int64_t a_b, int64_t a_b_, int64_t tile_launch_, int64_t _Bool_, int64_t typeof_)
tile.kernel @new(%a: f32 {tile.name = "class"}, %b: f16 {tile.name = "stream"}, %c: i64 {tile.name = "a_b"},
                 %d: i64 {tile.name = "a_b_"}, %e: i32 {tile.name = "tile_launch"}, %f: i32 {tile.name = "_Bool"},
                 %g: i32 {tile.name = "typeof"}) {
  tile.return
}
