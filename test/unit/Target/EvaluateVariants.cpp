// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Computes how much an artifact's variants lose on measured sizes: due to the planned set, and due to the choice within
// the set.
//
//   cd bench/results/h200
//   ../../../build/test/unit/Target/variant-loss variants.tsv 12 1 3 3 6        counts of kernels by class
//   ../../../build/test/unit/Target/variant-loss variants.tsv --errors          errors of the model by class and kernel
//
// The classes are those of PromiseClasses.cpp: aligned, loads, pieces8, pieces4, general.
//
// Prints for each shape cuBLAS's time over that of the kernel that the model chooses, and over the fastest of the set
// and of all that were measured. A time that was not measured (~) is the model's, corrected by its median error for the
// class there.
#include "VariantTimes.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <map>

using namespace tile::target;

namespace {

const GpuTarget &hopper = *findTarget("sm_90a");

double medianOf(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values.empty() ? 0 : values[values.size() / 2];
}

double expected(const TimedShape &shape, VariantClass promises, const GemmKernel &kernel) {
  return estimateKernel(hopper, shape.problem(promises), kernel, shape.size);
}

struct Time {
  double microseconds;
  bool isMeasured;
};

Time timeOf(const TimedShape &shape, VariantClass promises, const GemmKernel &kernel) {
  if (std::optional<double> time = shape.timeOf(promises, kernel))
    return {*time, true};
  std::vector<double> errors;
  for (const VariantTime &time : shape.times)
    if (time.promises == promises && !time.isQuick)
      errors.push_back(std::log(time.microseconds / expected(shape, promises, time.kernel)));
  return {expected(shape, promises, kernel) * std::exp(medianOf(errors)), false};
}

using Sets = std::map<std::pair<std::string, VariantClass>, std::vector<GemmKernel>>;

Sets planSets(const std::vector<TimedShape> &shapes, const size_t (&most)[numVariantClasses]) {
  Sets sets;
  for (const TimedShape &shape : shapes)
    for (size_t i = 0; i < numVariantClasses; ++i) {
      const VariantClass promises = VariantClass(i);
      std::vector<GemmKernel> &set = sets[{shape.order, promises}];
      if (set.empty())
        set = chooseKernels(
                  hopper, shape.problem(promises), {}, {},
                  sampleSizes({}, promises <= VariantClass::Loads ? SampleKind::OfNetworks : SampleKind::Anywhere),
                  {.most = most[i]})
                  .kernels;
    }
  return sets;
}

struct Ratios {
  std::vector<double> values;

  void print(const char *name) const {
    if (values.empty())
      return;
    double sum = 0;
    size_t fast = 0;
    for (double value : values) {
      sum += std::log(value);
      fast += value >= 0.9;
    }
    std::printf("%-28s %3zu shapes: geometric mean %.3f, %.0f %% at least 0.9, least %.3f\n", name, values.size(),
                std::exp(sum / double(values.size())), 100.0 * double(fast) / double(values.size()),
                *std::min_element(values.begin(), values.end()));
  }
};

int printLoss(const std::vector<TimedShape> &shapes, const size_t (&most)[numVariantClasses]) {
  Sets sets = planSets(shapes, most);
  std::string order;
  for (const auto &[key, set] : sets) {
    std::printf("%s%s %s:", order == key.first ? "" : "\n", key.first.c_str(), variantClassNames[size_t(key.second)]);
    for (const GemmKernel &kernel : set)
      std::printf(" %s", kernelName(kernel).c_str());
    std::printf("\n");
    order = key.first;
  }
  std::printf("\n%-22s %8s %-26s %9s %9s | %6s %6s %6s  best of all\n", "shape", "cuBLAS", "choice", "expected", "us",
              "choice", "of set", "of all");
  Ratios ratios[2], setRatios[2], allRatios[2];
  std::vector<const TimedShape *> sorted;
  for (const TimedShape &shape : shapes)
    sorted.push_back(&shape);
  for (const TimedShape *shape : sorted) {
    double least = HUGE_VAL, best = HUGE_VAL;
    Time chosen{};
    std::string name, bestName;
    for (size_t i = 0; i < numVariantClasses; ++i) {
      const VariantClass promises = VariantClass(i);
      if (!shape->isServedBy(promises))
        continue;
      for (const GemmKernel &kernel : sets[{shape->order, promises}]) {
        const Time time = timeOf(*shape, promises, kernel);
        best = std::min(best, time.microseconds);
        if (const double expects = expected(*shape, promises, kernel); expects < least) {
          least = expects;
          chosen = time;
          name = std::string(variantClassNames[i]) + "-" + kernelName(kernel);
        }
      }
    }
    double all = std::min(shape->bestTime(), best);
    for (const VariantTime &time : shape->times)
      if (time.microseconds == shape->bestTime())
        bestName = std::string(variantClassNames[size_t(time.promises)]) + "-" + kernelName(time.kernel);
    std::printf("%-22s %8.2f %-26s %9.2f %8.2f%s | %6.3f %6.3f %6.3f  %s\n", shape->name().c_str(), shape->baseline,
                name.c_str(), least, chosen.microseconds, chosen.isMeasured ? " " : "~",
                shape->baseline / chosen.microseconds, shape->baseline / best, shape->baseline / all, bestName.c_str());
    const bool isSmall = std::min({shape->size.m, shape->size.n, shape->size.k}) < 16;
    ratios[isSmall].values.push_back(shape->baseline / chosen.microseconds);
    setRatios[isSmall].values.push_back(shape->baseline / best);
    allRatios[isSmall].values.push_back(shape->baseline / all);
  }
  for (bool isSmall : {false, true}) {
    std::printf("\n%s\n", isSmall ? "a size below 16" : "all sizes at least 16");
    ratios[isSmall].print("  chosen");
    setRatios[isSmall].print("  fastest of the set");
    allRatios[isSmall].print("  fastest of all");
  }
  return 0;
}

int printErrors(const std::vector<TimedShape> &shapes) {
  std::map<std::string, std::vector<double>> errors;
  for (const TimedShape &shape : shapes)
    for (const VariantTime &time : shape.times)
      if (!time.isQuick) {
        const double error = time.microseconds / expected(shape, time.promises, time.kernel);
        const std::string name = variantClassNames[size_t(time.promises)];
        errors[name].push_back(error);
        errors[name + "-" + kernelName(time.kernel)].push_back(error);
      }
  std::printf("%-34s %6s %7s %7s %7s   measured over expected\n", "variant", "number", "least", "median", "most");
  for (auto &[name, values] : errors) {
    std::sort(values.begin(), values.end());
    std::printf("%-34s %6zu %7.2f %7.2f %7.2f\n", name.c_str(), values.size(), values.front(), medianOf(values),
                values.back());
  }
  return 0;
}

} // namespace

int main(int argc, char **argv) {
  const std::vector<TimedShape> shapes = argc > 2 ? readVariantTimes(argv[1]) : std::vector<TimedShape>();
  if (!shapes.empty() && !std::strcmp(argv[2], "--errors"))
    return printErrors(shapes);
  if (shapes.empty() || argc != 2 + int(numVariantClasses)) {
    std::fprintf(stderr,
                 "usage: variant-loss <variants.tsv> <aligned> <loads> <pieces8> <pieces4> <general>, or --errors\n");
    return 2;
  }
  size_t most[numVariantClasses];
  for (size_t i = 0; i < numVariantClasses; ++i)
    most[i] = size_t(std::atoi(argv[2 + i]));
  return printLoss(shapes, most);
}
