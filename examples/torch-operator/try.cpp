// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls tile::softmax through PyTorch's dispatcher, and compares it with PyTorch's softmax.
#include <ATen/ATen.h>
#include <ATen/core/dispatch/Dispatcher.h>

#include <cstdio>

namespace {

using Operator = c10::TypedOperatorHandle<at::Tensor(const at::Tensor &)>;

bool compare(const Operator &softmax, const char *name, const at::Tensor &x) {
  const at::Tensor out = softmax.call(x);
  const bool isRight = out.sizes() == x.sizes() && at::allclose(out, at::softmax(x, -1), 1e-5, 1e-7);
  std::printf("%s: %s\n", name, isRight ? "right" : "WRONG");
  return isRight;
}

} // namespace

int main() try {
  const Operator softmax =
      c10::Dispatcher::singleton().findSchemaOrThrow("tile::softmax", "").typed<at::Tensor(const at::Tensor &)>();
  const at::Tensor x = at::randn({4, 3, 50});
  bool isRight = compare(softmax, "three dimensions", x);
  isRight &= compare(softmax, "a transposed view", x.transpose(1, 2));
  isRight &= compare(softmax, "nothing", at::empty({0, 8}));
  if (at::hasCUDA())
    isRight &= compare(softmax, "on the GPU", x.cuda());
  try {
    softmax.call(x.to(at::kDouble));
    isRight = false;
  } catch (const c10::Error &error) {
    std::printf("refused: %s\n", error.what_without_backtrace());
  }
  return isRight ? 0 : 1;
} catch (const std::exception &failure) {
  std::fprintf(stderr, "%s\n", failure.what());
  return 1;
}
