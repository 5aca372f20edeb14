// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Table lookups with data of a narrow type that wraps, as in hashes and codes.
#include "KernelBuilder.h"

namespace tile::fuzz {

/// Loads a table with one element for each value of the data's type, at the data plus constants: the sums wrap in that
/// type, so the constant must not be added to an address instead.
void KernelBuilder::tableStatement() {
  const std::vector<Axis> own = ownAxes();
  if (own.empty() || inHelper)
    return loadStatement();
  const Scalar type = random.pick({Scalar::UInt8, Scalar::UInt8, Scalar::UInt8, Scalar::Int8, Scalar::UInt16});
  const Scalar element = random.pick({Scalar::Int32, Scalar::Float32, Scalar::Int16, Scalar::Int8});
  const Value data = load(own, type);
  if (data.type != type)
    return;
  const int64_t count = int64_t(1) << bitsOf(type);
  const std::string table = freshName("table"), convert = ".to(" + languageName(type) + ")";
  pointers.push_back(table + ": \"" + pointerName(element) + "\"");
  directives += "#: buffer " + table + "[" + std::to_string(count) + "] = random\n";
  const std::string middle = isUnsigned(type) ? "" : " + " + std::to_string(count / 2);
  Value sum;
  for (int64_t lookups = random.between(2, 3), i = 0; i < lookups; ++i) {
    // Small data wraps at constants that are close to the largest ones.
    const int64_t distance =
        random.chance(50) ? random.below(9) : count / (isUnsigned(type) ? 1 : 2) - random.between(1, 9);
    const Value found = define(
        "v", {"tl.load(" + table + middle + " + (" + data.text + " + " + std::to_string(distance) + ")" + convert + ")",
              element, data.shape, isFloat(element) ? Range{-8, 8, 1} : Range{-8, 7, 1}});
    const std::optional<Value> next = i == 0 ? std::optional(found) : arithmetic("+", sum, found);
    sum = next ? *next : found;
  }
  define("v", sum);
}

} // namespace tile::fuzz
