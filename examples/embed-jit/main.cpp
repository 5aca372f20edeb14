// Compiles a kernel from text, launches it while a better one is compiled, and checks the result.
//
//   scale [FOLDER]     keeps what it compiles in the folder, so that it is there when the program runs again
//
// Without a GPU it runs in the simulator: LD_LIBRARY_PATH=WHERE_TILE_IS_INSTALLED/lib/tile/simulator.
#include <tile/Compiler.h>
#include <tile/jit.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <vector>

static const char *source = R"(
#: grid(cdiv(N, BLOCK))
@triton.jit
def scale(x: ptr[f32], factor: f32, N: i32, BLOCK: constexpr = 256):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + i, tl.load(x + i, mask=i < N) * factor, mask=i < N)
)";

// A program with the CUDA toolkit calls the functions themselves.
template <typename... Arguments> static void cuda(const char *function, Arguments... arguments) {
  static void *driver = dlopen("libcuda.so.1", RTLD_NOW);
  auto *call = reinterpret_cast<int (*)(Arguments...)>(driver ? dlsym(driver, function) : nullptr);
  if (call && call(arguments...) == 0)
    return;
  std::fprintf(stderr, "%s failed\n", function);
  std::exit(1);
}

static void check(tile_status status, const char *why) {
  if (status == TILE_OK)
    return;
  std::fprintf(stderr, "%s\n", why);
  std::exit(1);
}

int main(int count, char **values) {
  using Address = unsigned long long;
  tile::CompilerSettings settings;
  settings.cacheFolder = count > 1 ? values[1] : "";
  tile::Compiler compiler(settings);
  tile_runtime *runtime = nullptr;
  tile_jit *jit = nullptr;
  tile_jit_kernel *kernel = nullptr;
  check(tile_runtime_create(nullptr, nullptr, &runtime), tile_last_error());
  check(tile_device_activate(runtime, 0), tile_last_error());
  check(tile_jit_create(compiler.get(), runtime, nullptr, &jit), tile_jit_last_error());
  check(tile_jit_get(jit, source, std::strlen(source), nullptr, 0, &kernel), tile_jit_last_error());

  std::vector<float> numbers(1024);
  for (size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = float(i);
  Address x = 0;
  const size_t bytes = numbers.size() * sizeof(float);
  cuda("cuMemAlloc_v2", &x, bytes);
  cuda("cuMemcpyHtoD_v2", x, static_cast<const void *>(numbers.data()), bytes);
  float factor = 2;
  int size = int(numbers.size());
  void *arguments[] = {&x, &factor, &size};
  for (int step = 0; step < 3; ++step) {
    check(tile_jit_launch(kernel, nullptr, arguments, 3), tile_jit_last_error());
    if (step == 0) // else the kernel for sizes that are multiples of 16 comes some launches later
      check(tile_jit_wait(jit), tile_jit_last_error());
  }
  std::vector<float> scaled(numbers.size());
  cuda("cuMemcpyDtoH_v2", static_cast<void *>(scaled.data()), x, bytes);
  bool isRight = true;
  for (size_t i = 0; i < numbers.size(); ++i)
    isRight &= scaled[i] == 8 * numbers[i];
  tile_kernel *choice = nullptr;
  tile_parameter parameter = {};
  check(tile_jit_choice(kernel, arguments, 3, &choice), tile_jit_last_error());
  check(tile_kernel_parameter(choice, 2, &parameter), tile_last_error());
  std::printf("%s; the kernel in use is for multiples of %d\n", isRight ? "right" : "WRONG",
              int(parameter.divisibility));
  tile_jit_destroy(jit);
  check(tile_runtime_destroy(runtime), tile_last_error());
  return isRight ? 0 : 1;
}
