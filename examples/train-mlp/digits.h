// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads the images of handwritten digits in digits.csv, for train-mlp and data-parallel-mlp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

constexpr int pixels = 64, digits = 10;

struct Images {
  std::vector<float> pixels;
  std::vector<int32_t> labels;
  int count() const { return int(labels.size()); }
};

/// The training images, and the test set, which consists of every fifth image of the file.
struct Data {
  Images learned, tested;
};

/// Reads lines with 64 pixel values from 0 to 16 and a digit; comments begin with '#'. Throws if the images do not fill
/// a batch.
inline Data readDigits(const char *path, int batch) {
  Data data;
  int number = 0;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#')
      continue;
    Images &images = ++number % 5 == 0 ? data.tested : data.learned;
    std::replace(line.begin(), line.end(), ',', ' ');
    std::istringstream numbers(line);
    for (int i = 0, pixel = 0; i < pixels && numbers >> pixel; ++i)
      images.pixels.push_back(float(pixel) / 16);
    int32_t label = -1;
    if (!(numbers >> label) || label < 0 || label >= digits)
      throw std::runtime_error(std::string(path) + ": image " + std::to_string(number) +
                               " is not 64 pixels and a digit");
    images.labels.push_back(label);
  }
  if (data.learned.count() < batch || data.tested.count() == 0)
    throw std::runtime_error(std::string(path) + ": " + std::to_string(number) + " images are too few");
  return data;
}

/// Returns the number of rows of y (one for each label) whose largest element is at the label.
inline int countRight(const std::vector<float> &y, const std::vector<int32_t> &labels) {
  int right = 0;
  for (size_t i = 0; i < labels.size(); ++i) {
    const auto row = y.begin() + int(i) * digits;
    right += std::max_element(row, row + digits) - row == labels[i];
  }
  return right;
}
