// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs a model with one node, tile.Softmax, and compares the result with a reference that is computed on the host.
#include <onnxruntime_cxx_api.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

namespace {

// The model in protobuf encoding (onnx.proto). A field consists of its number and wire type, followed by an integer or
// by a size and bytes.
std::string number(char field, char value) {
  return {char(field << 3), value};
}
std::string bytes(char field, const std::string &contents) {
  return std::string{char(field << 3 | 2), char(contents.size())} + contents;
}
/// Encodes a tensor type with two dynamic dimensions.
std::string tensor(const std::string &name) {
  const std::string shape = bytes(1, bytes(2, "rows")) + bytes(1, bytes(2, "columns"));
  return bytes(1, name) + bytes(2, bytes(1, number(1, 1 /* float */) + bytes(2, shape)));
}
std::string makeModel() {
  const std::string node = bytes(1, "x") + bytes(2, "y") + bytes(4, "Softmax") + bytes(7, "tile");
  const std::string graph = bytes(1, node) + bytes(2, "graph") + bytes(11, tensor("x")) + bytes(12, tensor("y"));
  return number(1, 8) + bytes(7, graph) + bytes(8, bytes(1, "tile") + number(2, 1)) + bytes(8, number(2, 17));
}

} // namespace

int main() try {
  Ort::Env environment;
  Ort::SessionOptions options;
  options.RegisterCustomOpsLibrary(TILE_OPERATORS);
  const std::string model = makeModel();
  Ort::Session session(environment, model.data(), model.size(), options);

  constexpr int64_t rows = 6, columns = 50;
  std::vector<float> x;
  for (int64_t i = 0; i < rows * columns; ++i)
    x.push_back(float(i * 37 % 101) / 25 - 2);
  const int64_t shape[] = {rows, columns};
  const auto memory = Ort::MemoryInfo::CreateCpu(OrtArenaAllocator, OrtMemTypeDefault);
  const auto input = Ort::Value::CreateTensor<float>(memory, x.data(), x.size(), shape, 2);
  const char *inputName = "x", *outputName = "y";
  const auto outputs = session.Run(Ort::RunOptions(), &inputName, &input, 1, &outputName, 1);

  const float *y = outputs[0].GetTensorData<float>();
  double worst = 0;
  for (int64_t row = 0; row < rows; ++row) {
    double sum = 0;
    for (int64_t i = 0; i < columns; ++i)
      sum += std::exp(double(x[row * columns + i]));
    for (int64_t i = 0; i < columns; ++i)
      worst = std::max(worst, std::abs(std::exp(double(x[row * columns + i])) / sum - y[row * columns + i]));
  }
  std::printf("%s\n", worst < 1e-6 ? "right" : "WRONG");
  return worst < 1e-6 ? 0 : 1;
} catch (const std::exception &failure) {
  std::fprintf(stderr, "%s\n", failure.what());
  return 1;
}
