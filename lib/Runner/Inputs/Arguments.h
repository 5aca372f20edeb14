// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arguments by name: `M=512 stride_am=K alpha=0.5 a=random(seed=3) b=weights.npy c=zeros`.
//
// Binding has two steps. `Bindings` assigns a value to every scalar parameter: the argument on the command line or, if
// it is omitted, the default in the manifest. Both are expressions over the other parameters, and are evaluated in
// dependency order. `bindBuffers` (BufferSource.h) then allocates and fills a host buffer for every pointer.
#pragma once

#include "Runner/Inputs/HostBuffer.h"

#include <map>

namespace tile::runner {

using runtime::Manifest;
using runtime::Parameter;
using runtime::WideInteger;

struct ScalarBinding {
  bool isBound = false;
  WideInteger integer = 0; ///< for integer parameters
  double real = 0;         ///< for float parameters; already rounded to the parameter's type
};

struct NamedText {
  std::string name;
  std::string value;
};

/// Splits `name=value`.
Result<NamedText> splitAssignment(std::string_view text);

class Bindings {
public:
  /// Binds the scalars. Fails if a name is unknown, a value is invalid or missing, or values depend on each other in a
  /// cycle.
  static Result<Bindings> bind(const Manifest &manifest, const std::vector<std::string> &assignments, int numSms);

  const ScalarBinding &scalar(size_t parameter) const { return scalars[parameter]; }
  /// Returns the values of the integer parameters and of num_sms, for the manifest's expressions. u64 values from 2^63
  /// on appear as negative numbers.
  const std::vector<int64_t> &slots() const { return slotValues; }
  /// Returns the string that the user gave for a pointer parameter, or its default; "" if there is neither.
  const std::string &bufferText(size_t parameter) const { return bufferTexts[parameter]; }
  /// Evaluates integer expressions over the parameters.
  Result<std::vector<int64_t>> evaluate(const std::vector<std::string> &texts, const Manifest &manifest) const;
  Result<WideInteger> evaluate(const std::string &text, const Manifest &manifest) const;
  /// Returns "M=512 N=512 K=300", with all integer and float values, for reports.
  std::string summary(const Manifest &manifest) const;
  /// Returns the bits of the kernel argument for a parameter.
  uint64_t argumentBits(const Manifest &manifest, size_t parameter) const;

private:
  friend class ScalarBinder;
  std::vector<ScalarBinding> scalars;
  std::vector<int64_t> slotValues;
  std::vector<WideInteger> wideSlots; ///< like slotValues, but with exact u64 values
  std::vector<std::string> bufferTexts;
};

/// Evaluates the manifest's grid. Omitted dimensions are 1.
Result<std::vector<int64_t>> bindGrid(const Manifest &manifest, const Bindings &bindings);

struct SizeRange {
  int64_t low = 0, high = 0;
};
/// Parses `LOW..HIGH`. Returns nullopt if `text` does not have this form.
std::optional<SizeRange> parseRange(std::string_view text);

/// For each buffer name, the number of elements between an aligned address and the first element of the buffer.
using BufferOffsets = std::map<std::string, int64_t>;

/// Parses NAME=ELEMENTS for buffers of the kernel.
Result<BufferOffsets> parseOffsets(const std::vector<std::string> &texts, const Manifest &manifest);

/// Returns the candidate that is closest to a mistyped `name`, as "; did you mean 'x'?", or "" if none is close.
std::string suggestion(std::string_view name, const std::vector<std::string> &candidates);

} // namespace tile::runner
