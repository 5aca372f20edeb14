// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arguments by name: `M=512 stride_am=K alpha=0.5 a=random(seed=3) b=weights.npy c=zeros`.
//
// Binding happens in two steps. `Bindings` gives every scalar parameter a value: from the command line, else from
// the manifest's default; both are expressions over the other parameters and are evaluated in dependency order.
// `bindBuffers` (BufferSource.h) then sizes and fills a host buffer for every pointer.
#pragma once

#include "Runner/Inputs/HostBuffer.h"

#include <map>

namespace tile::runner {

using runtime::Manifest;
using runtime::Parameter;
using runtime::WideInteger;

struct ScalarBinding {
  bool isBound = false;
  WideInteger integer = 0; ///< integer parameters
  double real = 0;         ///< float parameters, already rounded to their type
};

struct NamedText {
  std::string name;
  std::string value;
};

/// Splits `name=value`.
Result<NamedText> splitAssignment(std::string_view text);

class Bindings {
public:
  /// Names that are not parameters, wrong values, missing values and cycles are errors.
  static Result<Bindings> bind(const Manifest &manifest, const std::vector<std::string> &assignments, int numSms);

  const ScalarBinding &scalar(size_t parameter) const { return scalars[parameter]; }
  /// Values of the integer parameters and num_sms, for expressions of the manifest; u64 from 2^63 on is negative.
  const std::vector<int64_t> &slots() const { return slotValues; }
  /// What the user wrote for a pointer parameter, or its default; "" if there is neither.
  const std::string &bufferText(size_t parameter) const { return bufferTexts[parameter]; }
  /// Values of integer expressions over the parameters.
  Result<std::vector<int64_t>> evaluate(const std::vector<std::string> &texts, const Manifest &manifest) const;
  Result<WideInteger> evaluate(const std::string &text, const Manifest &manifest) const;
  /// `M=512 N=512 K=300`: all integer and float values, for reports.
  std::string summary(const Manifest &manifest) const;
  /// The bits of the kernel argument.
  uint64_t argumentBits(const Manifest &manifest, size_t parameter) const;

private:
  friend class ScalarBinder;
  std::vector<ScalarBinding> scalars;
  std::vector<int64_t> slotValues;
  std::vector<WideInteger> wideSlots; ///< the same, u64 as it is
  std::vector<std::string> bufferTexts;
};

/// Evaluates the manifest's grid; missing dimensions are 1.
Result<std::vector<int64_t>> bindGrid(const Manifest &manifest, const Bindings &bindings);

struct SizeRange {
  int64_t low = 0, high = 0;
};
/// `LOW..HIGH`; nothing if the text is something else.
std::optional<SizeRange> parseRange(std::string_view text);

/// Elements between an aligned address and a buffer's first one, by name.
using BufferOffsets = std::map<std::string, int64_t>;

/// NAME=ELEMENTS, of buffers of the kernel.
Result<BufferOffsets> parseOffsets(const std::vector<std::string> &texts, const Manifest &manifest);

/// The closest of `candidates` to a mistyped `name`, as "; did you mean 'x'?", or "".
std::string suggestion(std::string_view name, const std::vector<std::string> &candidates);

} // namespace tile::runner
