// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Evaluates the reference and the output for the same selection (all elements, or a sample) and compares the two
// tensors.
#include "Runner/Check/Check.h"

#include "Runner/Inputs/Random.h"
#include "Runtime/FloatFormat.h"

#include <algorithm>
#include <cmath>
#include <fmt/ranges.h>
#include <limits>
#include <set>

namespace tile::runner {
namespace {

using runtime::makeError;
using runtime::Success;

constexpr double maxFlops = 4e9;        // takes about a second on a few cores
constexpr double maxSampleFlops = 1e11; // a more expensive sample (chained matmuls) is skipped
constexpr double flopsPerElement = 4;   // per element of an intermediate result: computed, written and read
constexpr int64_t sampleSize = 64;
constexpr size_t maxWrongShown = 5;
constexpr double rmsFactor = 10;

/// The values of the reference and the output at the same positions.
struct Piece {
  Tensor reference;
  Tensor actual;
  Selection selection;
};

/// Returns the value of the reference for a linear index of the output. The reference may broadcast.
double referenceAt(const Tensor &reference, const std::vector<int64_t> &shape, int64_t linear) {
  if (reference.values.size() == 1)
    return reference.values[0];
  int64_t offset = 0, stride = 1;
  size_t dim = shape.size();
  for (size_t i = reference.shape.size(); i-- > 0;) {
    --dim;
    if (reference.shape[i] != 1)
      offset += linear % shape[dim] * stride;
    stride *= reference.shape[i];
    linear /= shape[dim];
  }
  return reference.values[static_cast<size_t>(offset)];
}

std::vector<int64_t> globalIndex(const Piece &piece, int64_t linear) {
  const std::vector<int64_t> &shape = piece.actual.shape;
  std::vector<int64_t> index(shape.size());
  for (size_t dim = shape.size(); dim-- > 0; linear /= shape[dim])
    index[dim] = linear % shape[dim];
  const size_t rank = index.size();
  if (piece.selection.rows && shape[rank - 2] == static_cast<int64_t>(piece.selection.rows->size()))
    index[rank - 2] = (*piece.selection.rows)[static_cast<size_t>(index[rank - 2])];
  if (piece.selection.columns && shape[rank - 1] == static_cast<int64_t>(piece.selection.columns->size()))
    index[rank - 1] = (*piece.selection.columns)[static_cast<size_t>(index[rank - 1])];
  return index;
}

/// Returns |actual - expected|. The difference is 0 if both are the same infinity, if `actual` is the infinity to which
/// `expected` overflows in the output's type, and if both are NaN.
double difference(double expected, double actual, DataType type) {
  if (std::isinf(actual) && runtime::isFloatType(type) &&
      (expected == actual || runtime::decodeFloat(type, runtime::encodeFloat(type, expected)) == actual))
    return 0;
  if (std::isnan(expected) && std::isnan(actual))
    return 0;
  const double value = std::fabs(actual - expected);
  return std::isnan(value) ? std::numeric_limits<double>::infinity() : value;
}

/// Compares the pieces. Unless `mayStayUnwritten`, an expected NaN must have been written by the kernel.
void comparePieces(const std::vector<Piece> &pieces, CheckResult &result, const HostBuffer &output,
                   bool mayStayUnwritten) {
  const DataType type = output.type();
  double differences = 0, squares = 0;
  for (const Piece &piece : pieces)
    for (size_t i = 0; i < piece.actual.values.size(); ++i) {
      const double expected = referenceAt(piece.reference, piece.actual.shape, static_cast<int64_t>(i));
      const double delta = difference(expected, piece.actual.values[i], type);
      result.maxAbsError = std::max(result.maxAbsError, delta);
      differences += delta * delta;
      squares += std::isfinite(expected) ? expected * expected : 0;
      ++result.compared;
    }
  const double infinity = std::numeric_limits<double>::infinity();
  result.relativeError = squares > 0 ? std::sqrt(differences / squares) : differences > 0 ? infinity : 0;
  const double rms = result.compared > 0 ? std::sqrt(squares / static_cast<double>(result.compared)) : 0;
  for (const Piece &piece : pieces)
    for (size_t i = 0; i < piece.actual.values.size(); ++i) {
      const double expected = referenceAt(piece.reference, piece.actual.shape, static_cast<int64_t>(i));
      const double actual = piece.actual.values[i];
      const double magnitude = std::isfinite(expected) ? std::fabs(expected) : 0;
      const bool isUnwrittenNan = !mayStayUnwritten && std::isnan(expected) && std::isnan(actual) &&
                                  output.isPoison(globalIndex(piece, static_cast<int64_t>(i)));
      if (!isUnwrittenNan && difference(expected, actual, type) <= result.tolerance * (magnitude + rmsFactor * rms))
        continue;
      if (++result.wrongCount <= static_cast<int64_t>(maxWrongShown))
        result.firstWrong.push_back({globalIndex(piece, static_cast<int64_t>(i)), expected, actual});
    }
  result.passed = result.wrongCount == 0 && result.relativeError <= result.tolerance;
}

/// Returns the first, the last and random other indices, sorted and unique; or no indices if `size` is too small to
/// sample.
std::vector<int64_t> sampleIndices(int64_t size, uint64_t seed) {
  if (size <= sampleSize + 2)
    return {};
  std::set<int64_t> chosen = {0, size - 1};
  for (uint64_t counter = 0; chosen.size() < static_cast<size_t>(sampleSize + 2); ++counter)
    chosen.insert(static_cast<int64_t>(randomBits(seed, counter) % static_cast<uint64_t>(size)));
  return {chosen.begin(), chosen.end()};
}

double flopsFor(const BoundTensorExpression &reference, const Selection &selection) {
  const TensorCost cost = reference.costOf(selection);
  return cost.flops + flopsPerElement * cost.elements;
}

struct Parsed {
  TensorExpression expression;
  TensorExpression outputName;
};

/// Names the directive in an error about its expression.
Error inExpectation(const runtime::Expectation &expectation, const Error &error) {
  return makeError(TILE_ERROR_MANIFEST, "'#: expect {}': {}", expectation.buffer, error.message);
}

Result<Parsed> parseBoth(const runtime::Expectation &expectation) {
  Result<TensorExpression> expression = TensorExpression::parse(expectation.expression);
  if (!expression)
    return inExpectation(expectation, expression.error());
  Result<TensorExpression> output = TensorExpression::parse(expectation.buffer);
  if (!output)
    return output.error();
  return Parsed{std::move(*expression), std::move(*output)};
}

Status checkShape(const std::vector<int64_t> &reference, const std::vector<int64_t> &output,
                  const runtime::Expectation &expectation) {
  bool fits = reference.size() <= output.size();
  for (size_t i = 0; fits && i < reference.size(); ++i) {
    const int64_t size = reference[reference.size() - 1 - i];
    fits = size == 1 || size == output[output.size() - 1 - i];
  }
  if (fits)
    return Success{};
  return makeError(TILE_ERROR_MANIFEST, "'#: expect {} == {}': the expression has shape [{}], but '{}' has shape [{}]",
                   expectation.buffer, expectation.expression, fmt::join(reference, ", "), expectation.buffer,
                   fmt::join(output, ", "));
}

} // namespace

Status validateExpectation(const runtime::Expectation &expectation, const TensorNames &names,
                           const HostBuffer &output) {
  Result<Parsed> parsed = parseBoth(expectation);
  if (!parsed)
    return parsed.error();
  Result<BoundTensorExpression> bound = BoundTensorExpression::bind(parsed->expression, names);
  if (!bound)
    return inExpectation(expectation, bound.error());
  return checkShape(bound->shape(), output.layout().shape, expectation);
}

static Result<CheckResult> check(const runtime::Expectation &expectation, const TensorNames &names,
                                 const HostBuffer &output, bool mayStayUnwritten,
                                 const std::optional<TimeLimit> &limit) {
  Result<Parsed> parsed = parseBoth(expectation);
  if (!parsed)
    return parsed.error();
  Result<BoundTensorExpression> reference = BoundTensorExpression::bind(parsed->expression, names);
  if (!reference)
    return inExpectation(expectation, reference.error());
  if (Status status = checkShape(reference->shape(), output.layout().shape, expectation); !status)
    return status.error();
  TensorNames outputNames;
  outputNames.buffers[expectation.buffer] = &output;
  Result<BoundTensorExpression> actual = BoundTensorExpression::bind(parsed->outputName, outputNames);
  if (!actual)
    return actual.error();

  CheckResult result;
  result.buffer = expectation.buffer;
  result.expression = expectation.expression;
  result.tolerance = expectation.tolerance;
  result.elements = output.layout().elements;
  const std::vector<int64_t> &shape = output.layout().shape;
  std::vector<Selection> selections = {{}};
  std::vector<int64_t> rows, columns;
  if (shape.size() >= 2 && reference->shape() == shape && flopsFor(*reference, {}) > maxFlops) {
    rows = sampleIndices(shape[shape.size() - 2], 1);
    columns = sampleIndices(shape[shape.size() - 1], 2);
    std::vector<Selection> samples;
    for (const Selection &sample : {Selection{&rows, nullptr}, Selection{nullptr, &columns}}) {
      const std::vector<int64_t> &chosen = sample.rows ? rows : columns;
      if (chosen.empty() || flopsFor(*reference, sample) > maxSampleFlops)
        continue;
      samples.push_back(sample);
      result.sampling += fmt::format("{}{} {}", result.sampling.empty() ? "" : " and ", chosen.size(),
                                     sample.rows ? "rows" : "columns");
    }
    if (!samples.empty())
      selections = std::move(samples);
  }
  std::vector<Piece> pieces;
  LongWork work("check of " + expectation.buffer, limit);
  for (const Selection &selection : selections)
    pieces.push_back({reference->evaluate(selection, &work), actual->evaluate(selection), selection});
  if (!work.reach(1, 1))
    return work.error();
  comparePieces(pieces, result, output, mayStayUnwritten);
  return result;
}

Result<CheckResult> checkOutput(const runtime::Expectation &expectation, const TensorNames &names,
                                const HostBuffer &output, const std::optional<TimeLimit> &limit) {
  return check(expectation, names, output, /*mayStayUnwritten=*/false, limit);
}

Result<CheckResult> checkRecorded(const std::string &buffer, const HostBuffer &recorded, const std::string &source,
                                  double tolerance, const HostBuffer &output) {
  // The expression is the name of the buffer, which denotes the recorded buffer when the right-hand side is evaluated.
  TensorNames names;
  names.buffers[buffer] = &recorded;
  Result<CheckResult> result = check({buffer, buffer, tolerance}, names, output, /*mayStayUnwritten=*/true, {});
  if (result)
    result->expression = source;
  return result;
}

} // namespace tile::runner
