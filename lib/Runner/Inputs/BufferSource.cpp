// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parses the specifications of buffers and fills the buffers. A buffer that depends on another one is filled after it.
#include "Runner/Inputs/BufferSource.h"

#include "Runner/Check/TensorExpr.h"
#include "Runner/Inputs/Element.h"
#include "Runner/Inputs/FillText.h"
#include "Runner/Inputs/Npy.h"
#include "Runner/Inputs/Random.h"
#include "Runtime/Artifact.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fmt/ranges.h>
#include <limits>

namespace tile::runner {
namespace {

using runtime::BufferRole;
using runtime::Expression;
using runtime::makeError;
using runtime::Success;

template <typename... Arguments> Error wrong(fmt::format_string<Arguments...> format, Arguments &&...arguments) {
  return makeError(TILE_ERROR_INVALID_ARGUMENT, "{}", fmt::format(format, std::forward<Arguments>(arguments)...));
}

/// Returns the layout of a pointer parameter that the manifest declares as a buffer.
Result<BufferLayout> declaredLayout(const Parameter &parameter, const Manifest &manifest, const Bindings &bindings) {
  Result<std::vector<int64_t>> shape = bindings.evaluate(parameter.buffer->shape, manifest);
  if (!shape)
    return shape.error();
  Result<std::vector<int64_t>> strides = bindings.evaluate(parameter.buffer->strides, manifest);
  if (!strides)
    return strides.error();
  const bool isWritten = parameter.buffer->role == BufferRole::Output || parameter.buffer->role == BufferRole::Inout;
  return planBuffer(std::move(*shape), std::move(*strides), runtime::dataTypeSize(parameter.type), isWritten);
}

class BufferBinder {
public:
  BufferBinder(const Manifest &manifest, const Bindings &bindings, uint64_t seed, const BufferOffsets &offsets,
               int ranks)
      : manifest(manifest), bindings(bindings), integerNames(expressionNames(manifest)), seed(seed), offsets(offsets),
        ranks(ranks), filled(manifest.parameters.size()), state(manifest.parameters.size(), State::Missing) {}

  Result<std::vector<FilledBuffer>> bindAll() {
    for (size_t i = 0; i < manifest.parameters.size(); ++i)
      if (manifest.parameters[i].isPointer)
        if (Status status = bind(i); !status)
          return status.error();
    return std::move(filled);
  }

private:
  enum class State { Missing, Active, Made };

  Status bind(size_t index) {
    if (state[index] == State::Made)
      return Success{};
    const Parameter &parameter = manifest.parameters[index];
    const std::string context = fmt::format("buffer '{}' ({})", parameter.name, parameter.typeName());
    if (state[index] == State::Active)
      return runtime::withContext(context, wrong("it depends on itself"));
    state[index] = State::Active;
    if (Status status = make(index); !status)
      return hasContext ? status : (hasContext = true, Status(runtime::withContext(context, status.error())));
    state[index] = State::Made;
    return Success{};
  }

  Status make(size_t index) {
    const Parameter &parameter = manifest.parameters[index];
    const std::string &text = bindings.bufferText(index);
    const BufferRole role = parameter.buffer ? parameter.buffer->role : BufferRole::Inout;
    Result<FillText> source = parseFill(text);
    if (!source)
      return source.error();
    if (text.empty())
      source->function = role == BufferRole::Output ? "poison" : role == BufferRole::Zeros ? "zeros" : "random";
    Result<BufferLayout> layout = layoutOf(parameter, *source, text);
    if (!layout)
      return layout.error();
    const auto offset = offsets.find(parameter.name);
    Result<HostBuffer> buffer =
        HostBuffer::create(parameter.type, std::move(*layout), uint8_t(HostBuffer::guardPattern - index % 128),
                           offset == offsets.end() ? 0 : offset->second);
    if (!buffer)
      return buffer.error();
    buffer->poison(); // elements that are not filled below, and gaps, must not look like data
    filled[index].buffer = std::move(*buffer);
    return fill(index, *source, text);
  }

  /// Returns the shape and strides that the manifest declares. Without a declaration, returns those that the user's
  /// specification implies.
  Result<BufferLayout> layoutOf(const Parameter &parameter, const FillText &source, const std::string &text) {
    const unsigned size = runtime::dataTypeSize(parameter.type);
    if (!parameter.buffer && source.function == "list")
      return planBuffer({static_cast<int64_t>(source.arguments.size())}, {}, size, true);
    if (!parameter.buffer) {
      if (!text.ends_with(".npy"))
        return wrong("the kernel does not declare the size of this buffer; give a .npy file or a list, or declare '#: "
                     "buffer {}[...]' in the source",
                     parameter.name);
      Result<std::string> contents = runtime::readFile(text, uint64_t(1) << 40);
      if (!contents)
        return contents.error();
      Result<NpyArray> array = parseNpy(*contents);
      return array ? planBuffer(array->shape, {}, size, true) : Result<BufferLayout>(array.error());
    }
    return declaredLayout(parameter, manifest, bindings);
  }

  Status fill(size_t index, const FillText &source, const std::string &text) {
    HostBuffer &buffer = filled[index].buffer;
    const std::string &function = source.function;
    const uint64_t ownSeed = source.seed ? *source.seed : seedFor(seed, manifest.parameters[index].name);
    if (function == "random")
      buffer.fillRandom(ownSeed);
    else if (function == "uniform")
      return fillUniform(buffer, source, ownSeed);
    else if (function == "special" || function == "denormals")
      return fillUnusual(buffer, function == "special" ? specialElement : denormalElement, function, ownSeed);
    else if (function == "zeros" || function == "ones")
      buffer.fill(function == "ones");
    else if (function == "file")
      return loadBufferFile(buffer, text);
    else if (function == "full")
      return fillFull(buffer, source);
    else if (function == "arange")
      return fillRange(buffer, source);
    else if (function == "list")
      return fillList(buffer, source);
    else if (function == "randint")
      return fillIntegers(buffer, source, ownSeed);
    else if (function == "permutation")
      return fillPermutation(buffer, source, ownSeed);
    else if (function == "offsets")
      return fillOffsets(buffer, source, ownSeed);
    else if (function == "addresses")
      return fillAddresses(index, source);
    else if (function == "peers")
      return fillPeers(index, source);
    return Success{};
  }

  /// Evaluates a 64-bit integer, signed or unsigned.
  Result<WideInteger> wideInteger(const std::string &text) const {
    Result<WideInteger> value = bindings.evaluate(text, manifest);
    if (!value)
      return makeError(TILE_ERROR_INVALID_ARGUMENT, "{}", value.error().message);
    return *value;
  }
  Result<int64_t> integer(const std::string &text) const {
    Result<std::vector<int64_t>> values = bindings.evaluate(std::vector{text}, manifest);
    if (!values)
      return makeError(TILE_ERROR_INVALID_ARGUMENT, "{}", values.error().message);
    return values->front();
  }

  /// Evaluates the value of a float element: 0.5, 1 / N, inf, nan.
  Result<double> number(const std::string &text) const {
    double plain = 0;
    if (const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), plain);
        error == std::errc() && end == text.data() + text.size())
      return plain;
    Result<TensorExpression> expression = TensorExpression::parse(text);
    if (!expression)
      return makeError(TILE_ERROR_INVALID_ARGUMENT, "{}", expression.error().message);
    TensorNames names;
    for (size_t i = 0; i < manifest.parameters.size(); ++i)
      if (const Parameter &parameter = manifest.parameters[i]; !parameter.isPointer)
        names.scalars[parameter.name] =
            parameter.isInteger() ? static_cast<double>(bindings.scalar(i).integer) : bindings.scalar(i).real;
    for (const auto &[name, value] : integerNames.constants)
      names.scalars[name] = static_cast<double>(value);
    names.scalars.try_emplace("inf", std::numeric_limits<double>::infinity());
    names.scalars.try_emplace("nan", std::numeric_limits<double>::quiet_NaN());
    Result<BoundTensorExpression> bound = BoundTensorExpression::bind(*expression, names);
    return bound ? Result<double>(bound->evaluate({}).values[0]) : bound.error();
  }

  /// Fills element i, in row-major order, with the integer valueOf(i). Float elements get the rounded value.
  template <typename ValueOf> static Status fillEach(HostBuffer &buffer, ValueOf valueOf) {
    const DataType type = buffer.type();
    const unsigned size = runtime::dataTypeSize(type);
    const StoreElement store = elementStorer(type);
    const bool isFloat = runtime::isFloatType(type);
    const runtime::IntegerRange range =
        isFloat ? runtime::IntegerRange{INT64_MIN, UINT64_MAX} : runtime::integerRange(type);
    std::vector<uint8_t> dense(static_cast<size_t>(buffer.layout().elements) * size);
    for (int64_t i = 0; i < buffer.layout().elements; ++i) {
      const WideInteger value = valueOf(i);
      if (value < range.lowest || value > range.highest)
        return wrong("{} does not fit {} ({} to {})", value, runtime::dataTypeName(type), range.lowest, range.highest);
      uint8_t *element = dense.data() + static_cast<size_t>(i) * size;
      if (isFloat)
        store(element, static_cast<double>(value));
      else
        std::memcpy(element, &value, size); // little-endian; a double would lose bits
    }
    buffer.importDense(dense.data());
    return Success{};
  }

  Status fillFull(HostBuffer &buffer, const FillText &source) const {
    if (!runtime::isFloatType(buffer.type())) {
      Result<WideInteger> value = wideInteger(source.arguments[0]);
      return value ? fillEach(buffer, [&](int64_t) { return *value; }) : Status(value.error());
    }
    Result<double> value = number(source.arguments[0]);
    if (!value)
      return value.error();
    buffer.fill(*value);
    return Success{};
  }

  Status fillUniform(HostBuffer &buffer, const FillText &source, uint64_t ownSeed) const {
    if (!runtime::isFloatType(buffer.type()))
      return wrong("uniform fills floats only; the buffer has {}", runtime::dataTypeName(buffer.type()));
    Result<double> low = source.arguments.empty() ? -1.0 : number(source.arguments[0]);
    Result<double> high = source.arguments.empty() ? 1.0 : number(source.arguments[1]);
    if (!low || !high)
      return low ? high.error() : low.error();
    if (!(*low <= *high) || !std::isfinite(*low) || !std::isfinite(*high))
      return wrong("uniform({}, {}) is empty; expected a lower and an upper bound", *low, *high);
    buffer.fillEach([&](uint64_t i) { return *low + (*high - *low) * randomUniform(ownSeed, i); });
    return Success{};
  }

  static Status fillUnusual(HostBuffer &buffer, double (*element)(DataType, uint64_t, uint64_t),
                            const std::string &function, uint64_t ownSeed) {
    if (!runtime::isFloatType(buffer.type()))
      return wrong("{} fills floats only; the buffer has {}", function, runtime::dataTypeName(buffer.type()));
    buffer.fillEach([&](uint64_t i) { return element(buffer.type(), ownSeed, i); });
    return Success{};
  }

  Status fillRange(HostBuffer &buffer, const FillText &source) const {
    Result<WideInteger> first = source.arguments.empty() ? WideInteger(0) : wideInteger(source.arguments[0]);
    if (!first)
      return first.error();
    Result<WideInteger> step = source.arguments.size() < 2 ? WideInteger(1) : wideInteger(source.arguments[1]);
    if (!step)
      return step.error();
    WideInteger last = 0;
    if (__builtin_mul_overflow(buffer.layout().elements, *step, &last) || __builtin_add_overflow(last, *first, &last))
      return wrong("{} elements in steps of {} overflow 64 bits", buffer.layout().elements, *step);
    return fillEach(buffer, [&](int64_t i) { return *first + *step * i; });
  }

  Status fillList(HostBuffer &buffer, const FillText &source) const {
    if (static_cast<int64_t>(source.arguments.size()) != buffer.layout().elements)
      return wrong("the list has {} elements, but the buffer has {}", source.arguments.size(),
                   buffer.layout().elements);
    const bool isFloat = runtime::isFloatType(buffer.type());
    std::vector<WideInteger> integers;
    std::vector<double> values;
    for (const std::string &text : source.arguments) {
      if (isFloat) {
        Result<double> value = number(text);
        if (!value)
          return value.error();
        values.push_back(*value);
      } else {
        Result<WideInteger> value = wideInteger(text);
        if (!value)
          return value.error();
        integers.push_back(*value);
      }
    }
    if (!isFloat)
      return fillEach(buffer, [&](int64_t i) { return integers[static_cast<size_t>(i)]; });
    const StoreElement store = elementStorer(buffer.type());
    const unsigned size = runtime::dataTypeSize(buffer.type());
    std::vector<uint8_t> dense(values.size() * size);
    for (size_t i = 0; i < values.size(); ++i)
      store(dense.data() + i * size, values[i]);
    buffer.importDense(dense.data());
    return Success{};
  }

  Status fillIntegers(HostBuffer &buffer, const FillText &source, uint64_t ownSeed) const {
    Result<WideInteger> low = wideInteger(source.arguments[0]);
    if (!low)
      return low.error();
    Result<WideInteger> high = wideInteger(source.arguments[1]);
    if (!high)
      return high.error();
    if (*low >= *high)
      return wrong("randint({}, {}) is empty; the upper bound is exclusive", *low, *high);
    const WideInteger count = *high - *low;
    return fillEach(
        buffer, [&](int64_t i) { return *low + WideInteger(randomBits(ownSeed, static_cast<uint64_t>(i))) % count; });
  }

  Status fillPermutation(HostBuffer &buffer, const FillText &source, uint64_t ownSeed) const {
    constexpr int64_t maxNumbers = int64_t(1) << 30; // 8 GiB of memory during construction
    const int64_t elements = buffer.layout().elements;
    Result<int64_t> count = source.arguments.empty() ? elements : integer(source.arguments[0]);
    if (!count)
      return count.error();
    if (*count < elements || *count > maxNumbers)
      return wrong("{} distinct integers below {}; expected a limit of at least {} and at most {}", elements, *count,
                   elements, maxNumbers);
    std::vector<int64_t> values(static_cast<size_t>(*count));
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<int64_t>(i);
    for (size_t i = 0; i < static_cast<size_t>(elements); ++i)
      std::swap(values[i], values[i + randomBits(ownSeed, i) % (values.size() - i)]);
    return fillEach(buffer, [&](int64_t i) { return values[static_cast<size_t>(i)]; });
  }

  Status fillOffsets(HostBuffer &buffer, const FillText &source, uint64_t ownSeed) {
    const int64_t elements = buffer.layout().elements;
    if (std::optional<size_t> lengths = findBuffer(source.arguments[0])) {
      Result<std::vector<int64_t>> values = valuesOf(*lengths);
      if (!values)
        return values.error();
      if (elements != static_cast<int64_t>(values->size()) + 1)
        return wrong("offsets of {} lengths have {} elements, but the buffer has {}", values->size(),
                     values->size() + 1, elements);
      std::vector<int64_t> sums{0};
      for (int64_t value : *values)
        sums.push_back(sums.back() + value);
      return fillEach(buffer, [&](int64_t i) { return sums[static_cast<size_t>(i)]; });
    }
    Result<int64_t> total = integer(source.arguments[0]);
    if (!total)
      return total.error();
    if (*total < 0 || elements < 2)
      return wrong("{} offsets up to {}; expected at least two, and a total of at least 0", elements, *total);
    std::vector<int64_t> cuts(static_cast<size_t>(elements), 0);
    for (size_t i = 1; i + 1 < cuts.size(); ++i)
      cuts[i] = static_cast<int64_t>(randomBits(ownSeed, i) % (static_cast<uint64_t>(*total) + 1));
    cuts.back() = *total;
    std::sort(cuts.begin(), cuts.end());
    return fillEach(buffer, [&](int64_t i) { return cuts[static_cast<size_t>(i)]; });
  }

  /// Returns the buffer to which the elements of a table of addresses point.
  Result<size_t> targetOf(const HostBuffer &table, const FillText &source) {
    if (table.type() != DataType::I64 && table.type() != DataType::U64)
      return wrong("addresses have 64 bits; expected elements of type i64 or u64");
    std::optional<size_t> target = findBuffer(source.arguments[0]);
    if (!target)
      return wrong("{}: '{}' is not a buffer of the kernel", source.function, source.arguments[0]);
    if (Status status = bind(*target); !status)
      return status.error();
    return *target;
  }

  Status fillPeers(size_t index, const FillText &source) {
    HostBuffer &table = filled[index].buffer;
    Result<size_t> target = targetOf(table, source);
    if (!target)
      return target.error();
    if (table.layout().elements != ranks)
      return wrong("peers: the table has {} elements; expected one for each rank, {}; declare it with num_ranks",
                   table.layout().elements, ranks);
    filled[index].pointsInto = TableTarget{*target, /*isOfPeers=*/true};
    table.fill(0);
    return Success{};
  }

  Status fillAddresses(size_t index, const FillText &source) {
    HostBuffer &table = filled[index].buffer;
    Result<size_t> target = targetOf(table, source);
    if (!target)
      return target.error();
    const BufferLayout &layout = filled[*target].buffer.layout();
    const int64_t size = runtime::dataTypeSize(filled[*target].buffer.type());
    std::vector<int64_t> offsets;
    const std::optional<size_t> given = source.arguments.size() > 1 ? findBuffer(source.arguments[1]) : std::nullopt;
    if (given) {
      Result<std::vector<int64_t>> values = valuesOf(*given);
      if (!values)
        return values.error();
      offsets = std::move(*values);
    } else {
      Result<int64_t> step = source.arguments.size() > 1 ? integer(source.arguments[1])
                             : layout.strides.empty()    ? 0
                                                         : layout.strides[0];
      if (!step)
        return step.error();
      for (int64_t i = 0; i < table.layout().elements; ++i)
        offsets.push_back(i * *step);
    }
    if (static_cast<int64_t>(offsets.size()) < table.layout().elements)
      return wrong("addresses: '{}' has {} elements, but the table {}", source.arguments[1], offsets.size(),
                   table.layout().elements);
    // The end of a buffer is a valid address: it is the address of a group without elements.
    for (int64_t i = 0; i < table.layout().elements; ++i)
      if (const int64_t offset = offsets[static_cast<size_t>(i)]; offset < 0 || offset > layout.physicalElements)
        return wrong("address {} is of element {} of buffer '{}', which has {}", i, offset, source.arguments[0],
                     layout.physicalElements);
    filled[index].pointsInto = TableTarget{*target};
    return fillEach(table, [&](int64_t i) { return offsets[static_cast<size_t>(i)] * size; });
  }

  std::optional<size_t> findBuffer(const std::string &name) const {
    const Parameter *parameter = manifest.findParameter(name);
    if (!parameter || !parameter->isPointer)
      return std::nullopt;
    return static_cast<size_t>(parameter - manifest.parameters.data());
  }

  /// Returns the elements of another buffer, which must be integers.
  Result<std::vector<int64_t>> valuesOf(size_t index) {
    if (Status status = bind(index); !status)
      return status.error();
    const HostBuffer &buffer = filled[index].buffer;
    if (runtime::isFloatType(buffer.type()))
      return wrong("buffer '{}' has elements of type {}; expected integers", manifest.parameters[index].name,
                   runtime::dataTypeName(buffer.type()));
    const std::vector<uint8_t> dense = buffer.exportDense();
    const unsigned size = runtime::dataTypeSize(buffer.type());
    const LoadElement load = elementLoader(buffer.type());
    std::vector<int64_t> values;
    for (size_t at = 0; at < dense.size(); at += size)
      values.push_back(static_cast<int64_t>(load(dense.data() + at)));
    return values;
  }

  const Manifest &manifest;
  const Bindings &bindings;
  const runtime::ExpressionNames integerNames;
  const uint64_t seed;
  const BufferOffsets &offsets;
  const int ranks;
  std::vector<FilledBuffer> filled;
  std::vector<State> state;
  bool hasContext = false; ///< the message already names the buffer
};

} // namespace

Status checkDeclaredBuffers(const Manifest &manifest, const Bindings &bindings) {
  for (const Parameter &parameter : manifest.parameters)
    if (parameter.buffer)
      if (Result<BufferLayout> layout = declaredLayout(parameter, manifest, bindings); !layout)
        return layout.error();
  return runtime::Success{};
}

Result<std::vector<FilledBuffer>> bindBuffers(const Manifest &manifest, const Bindings &bindings, uint64_t seed,
                                              const BufferOffsets &offsets, int ranks) {
  return BufferBinder(manifest, bindings, seed, offsets, ranks).bindAll();
}

} // namespace tile::runner
