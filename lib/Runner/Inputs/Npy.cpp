// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads and writes .npy files. The header is untrusted.
#include "Runner/Inputs/Npy.h"

#include "Runner/Inputs/Element.h"
#include "Runner/Inputs/Image.h"
#include "Runtime/Artifact.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fmt/ranges.h>
#include <numeric>
#include <unistd.h>

namespace tile::runner {
namespace {

using runtime::makeError;
using runtime::Success;

constexpr std::string_view magic = "\x93NUMPY";
constexpr uint64_t largestFile = uint64_t(1) << 40;
constexpr uint64_t spareBytes = uint64_t(1) << 24; // 16 MiB, for headers and for files of another type

std::string_view descrOf(DataType type) {
  switch (type) {
  case DataType::I1:
    return "|b1";
  case DataType::I8:
    return "|i1";
  case DataType::I16:
    return "<i2";
  case DataType::I32:
    return "<i4";
  case DataType::I64:
    return "<i8";
  case DataType::U8:
    return "|u1";
  case DataType::U16:
    return "<u2";
  case DataType::U32:
    return "<u4";
  case DataType::U64:
    return "<u8";
  case DataType::F16:
    return "<f2";
  case DataType::F32:
    return "<f4";
  case DataType::F64:
    return "<f8";
  case DataType::BF16:
    return "<V2";
  case DataType::F8E4M3:
  case DataType::F8E5M2:
    return "|V1";
  }
  return "";
}

Error malformedNpy(std::string_view what) {
  return makeError(TILE_ERROR_FILE, "malformed .npy file: {}", what);
}

/// Returns the header dictionary's text after `'key':`.
std::string_view valueOf(std::string_view header, std::string_view key) {
  const size_t at = header.find(key);
  if (at == std::string_view::npos)
    return {};
  const size_t colon = header.find(':', at + key.size());
  if (colon == std::string_view::npos)
    return {};
  header.remove_prefix(colon + 1);
  header.remove_prefix(std::min(header.find_first_not_of(' '), header.size()));
  return header;
}

Result<std::vector<int64_t>> parseShape(std::string_view text) {
  const size_t close = text.find(')');
  if (text.empty() || text[0] != '(' || close == std::string_view::npos)
    return malformedNpy("no shape in the header");
  text = text.substr(1, close - 1);
  std::vector<int64_t> shape;
  while (true) {
    text.remove_prefix(std::min(text.find_first_not_of(" ,"), text.size()));
    if (text.empty())
      return shape;
    int64_t size = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size);
    if (error != std::errc() || size < 0 || shape.size() == 32)
      return malformedNpy("the shape is not a list of sizes");
    shape.push_back(size);
    text.remove_prefix(static_cast<size_t>(end - text.data()));
  }
}

/// Converts column-major data to row-major data.
std::string toRowMajor(std::string_view data, const std::vector<int64_t> &shape, size_t elementSize) {
  std::string result(data.size(), '\0');
  std::vector<int64_t> index(shape.size(), 0);
  for (size_t linear = 0; linear * elementSize < data.size(); ++linear) {
    size_t source = 0;
    for (size_t dim = shape.size(); dim-- > 0;)
      source = source * static_cast<size_t>(shape[dim]) + static_cast<size_t>(index[dim]);
    std::memcpy(result.data() + linear * elementSize, data.data() + source * elementSize, elementSize);
    for (size_t dim = shape.size(); dim-- > 0;) {
      if (++index[dim] < shape[dim])
        break;
      index[dim] = 0;
    }
  }
  return result;
}

} // namespace

Result<NpyArray> parseNpy(std::string_view bytes) {
  if (bytes.size() < 12 || bytes.substr(0, magic.size()) != magic)
    return malformedNpy("it does not start with \\x93NUMPY");
  const auto byteAt = [&](size_t i) { return static_cast<size_t>(static_cast<uint8_t>(bytes[i])); };
  const size_t major = byteAt(6);
  if (major < 1 || major > 3)
    return malformedNpy(fmt::format("unknown version {}", major));
  const size_t start = major == 1 ? 10 : 12;
  const size_t length =
      major == 1 ? byteAt(8) | byteAt(9) << 8 : byteAt(8) | byteAt(9) << 8 | byteAt(10) << 16 | byteAt(11) << 24;
  if (length > bytes.size() - start)
    return malformedNpy(fmt::format("a header of {} bytes in a file of {}", length, bytes.size()));
  const std::string_view header = bytes.substr(start, length);
  std::string_view data = bytes.substr(start + length);

  NpyArray array;
  const std::string_view descr = valueOf(header, "'descr'");
  const size_t quote = descr.empty() ? std::string_view::npos : descr.find('\'', 1);
  if (descr.empty() || descr[0] != '\'' || quote == std::string_view::npos)
    return malformedNpy("no simple 'descr' in the header");
  array.descr = std::string(descr.substr(1, quote - 1));
  Result<std::vector<int64_t>> shape = parseShape(valueOf(header, "'shape'"));
  if (!shape)
    return shape.error();
  array.shape = std::move(*shape);

  size_t elementSize = 0;
  if (array.descr.size() > 2)
    std::from_chars(array.descr.data() + 2, array.descr.data() + array.descr.size(), elementSize);
  if (elementSize == 0 || elementSize > 16)
    return malformedNpy(fmt::format("unknown element type '{}'", array.descr));
  size_t expected = elementSize;
  for (int64_t size : array.shape)
    if (__builtin_mul_overflow(expected, static_cast<size_t>(size), &expected))
      return malformedNpy("the shape overflows 64 bits");
  if (data.size() != expected)
    return malformedNpy(fmt::format("shape ({}) of '{}' needs {} bytes, the file has {}", fmt::join(array.shape, ", "),
                                    array.descr, expected, data.size()));
  const bool isFortran = valueOf(header, "'fortran_order'").starts_with("True");
  array.data = isFortran ? toRowMajor(data, array.shape, elementSize) : std::string(data);
  return array;
}

std::string formatNpy(DataType type, const std::vector<int64_t> &shape, const std::vector<uint8_t> &dense) {
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}", descrOf(type),
                                   fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
  // The data start at a multiple of 64 bytes (see the format description, NumPy Enhancement Proposal 1).
  header.resize((10 + header.size() + 1 + 63) / 64 * 64 - 10 - 1, ' ');
  header += '\n';
  std::string out(magic);
  out += {'\x01', '\x00', static_cast<char>(header.size() & 0xff), static_cast<char>(header.size() >> 8)};
  out += header;
  out.append(reinterpret_cast<const char *>(dense.data()), dense.size());
  return out;
}

/// Returns the type that NumPy's type string denotes. Opaque bytes are assumed to be `wanted`.
static std::optional<DataType> typeOf(std::string_view descr, DataType wanted) {
  if (descr.size() != 3 || (descr[0] != '<' && descr[0] != '|' && descr[0] != '='))
    return std::nullopt;
  const std::string_view name = descrOf(wanted);
  if (name[2] == descr[2] && (name[1] == descr[1] || (name[1] == 'V' && descr[1] == 'u')))
    return wanted;
  using enum DataType;
  for (DataType type : {I1, I8, I16, I32, I64, U8, U16, U32, U64, F16, F32, F64})
    if (descrOf(type).substr(1) == descr.substr(1))
      return type;
  return std::nullopt;
}

/// Converts elements to another type. Floats are rounded to the buffer's type; integers must fit it.
static Status convertElements(NpyArray &array, DataType from, DataType to) {
  const bool areIntegers = !isFloatType(from) && !isFloatType(to) && from != DataType::I1 && to != DataType::I1;
  if (!areIntegers && !(isFloatType(from) && isFloatType(to)))
    return makeError(TILE_ERROR_FILE, "cannot convert element type '{}' to {} ('{}')", array.descr,
                     runtime::dataTypeName(to), descrOf(to));
  const size_t fromSize = runtime::dataTypeSize(from), toSize = runtime::dataTypeSize(to);
  const LoadElement load = elementLoader(from), loadBack = elementLoader(to);
  const StoreElement store = elementStorer(to);
  std::string converted(array.data.size() / fromSize * toSize, '\0');
  for (size_t i = 0; i * fromSize < array.data.size(); ++i) {
    const double value = load(array.data.data() + i * fromSize);
    char *element = converted.data() + i * toSize;
    store(element, value);
    if (areIntegers && loadBack(element) != value)
      return makeError(TILE_ERROR_FILE, "element {} is {:.0f}, which {} cannot hold", i, value,
                       runtime::dataTypeName(to));
  }
  // Otherwise the bits are the same, and a conversion through double would lose bits of 64-bit integers.
  if (!areIntegers || fromSize != toSize)
    array.data = std::move(converted);
  return Success{};
}

/// Returns true if an array of shape `from` may be read as shape `to`. Ignoring sizes of 1, the shapes must be equal,
/// or have equally many elements without being permutations of each other, which suggests a transposed array.
static bool isReshaped(std::vector<int64_t> from, std::vector<int64_t> to) {
  const auto count = [](const std::vector<int64_t> &shape) {
    return std::accumulate(shape.begin(), shape.end(), int64_t(1), std::multiplies<>());
  };
  const auto withoutOnes = [](std::vector<int64_t> &shape) { std::erase(shape, 1); };
  withoutOnes(from);
  withoutOnes(to);
  if (from == to)
    return true;
  if (count(from) != count(to)) // cannot overflow, because an array of this size has been read
    return false;
  std::sort(from.begin(), from.end());
  std::sort(to.begin(), to.end());
  return from != to;
}

namespace {

Status checkImageType(const HostBuffer &buffer, const std::string &path) {
  if (buffer.type() == DataType::U8)
    return Success{};
  return makeError(TILE_ERROR_FILE, "'{}' is an image of unsigned bytes (u8), but the buffer's element type is {}",
                   path, runtime::dataTypeName(buffer.type()));
}

Status loadImage(HostBuffer &buffer, const std::string &path, std::string_view contents) {
  if (Status status = checkImageType(buffer, path); !status)
    return status;
  Result<Image> image = parseImage(contents);
  if (!image)
    return runtime::withContext("'" + path + "'", image.error());
  std::vector<int64_t> shape = buffer.layout().shape;
  if (shape.size() == 2)
    shape.push_back(1);
  if (image->shape != shape)
    return makeError(TILE_ERROR_FILE, "'{}' has shape [{}] (height, width, channels); expected [{}]", path,
                     fmt::join(image->shape, ", "), fmt::join(shape, ", "));
  buffer.importDense(reinterpret_cast<const uint8_t *>(image->pixels.data()));
  return Success{};
}

} // namespace

Status loadBufferFile(HostBuffer &buffer, const std::string &path) {
  const BufferLayout &layout = buffer.layout();
  const std::string_view typeName = runtime::dataTypeName(buffer.type());
  const size_t expected = static_cast<size_t>(layout.elements) * runtime::dataTypeSize(buffer.type());
  // Limits reads from endless devices. The limit is large enough to report the size of a file with a wrong size, and to
  // read images with decimal numbers.
  Result<std::string> contents = runtime::readFile(path, std::min(4 * expected + spareBytes, largestFile));
  if (!contents)
    return contents.error();
  if (isImageFile(path))
    return loadImage(buffer, path, *contents);
  if (!path.ends_with(".npy")) {
    if (contents->size() != expected)
      return makeError(TILE_ERROR_FILE, "'{}' has {} bytes; [{}] elements of {} need {}", path, contents->size(),
                       fmt::join(layout.shape, ", "), typeName, expected);
    buffer.importDense(reinterpret_cast<const uint8_t *>(contents->data()));
    return Success{};
  }
  Result<NpyArray> array = parseNpy(*contents);
  if (!array)
    return runtime::withContext("'" + path + "'", array.error());
  const std::optional<DataType> type = typeOf(array->descr, buffer.type());
  if (!type)
    return makeError(TILE_ERROR_FILE, "'{}' has element type '{}'; expected {} ('{}')", path, array->descr, typeName,
                     descrOf(buffer.type()));
  if (*type != buffer.type())
    if (Status status = convertElements(*array, *type, buffer.type()); !status)
      return runtime::withContext("'" + path + "'", status.error());
  if (!isReshaped(array->shape, layout.shape))
    return makeError(TILE_ERROR_FILE, "'{}' has shape [{}]; expected [{}]", path, fmt::join(array->shape, ", "),
                     fmt::join(layout.shape, ", "));
  buffer.importDense(reinterpret_cast<const uint8_t *>(array->data.data()));
  return Success{};
}

Status writeFileAtomically(const std::string &path, std::string_view contents) {
  // Devices and pipes are written to and not replaced.
  std::error_code code;
  const std::filesystem::file_status status = std::filesystem::status(path, code);
  const bool exists = std::filesystem::exists(status);
  const bool inPlace = exists && !std::filesystem::is_regular_file(status);
  const std::string place = exists && !inPlace ? std::filesystem::canonical(path, code).string() : path;
  const std::string written = inPlace ? path : fmt::format("{}.{}.tmp", place, getpid());
  FILE *file = std::fopen(written.c_str(), "wb");
  if (!file)
    return makeError(TILE_ERROR_FILE, "cannot write '{}': {}", path, std::strerror(errno));
  bool ok = std::fwrite(contents.data(), 1, contents.size(), file) == contents.size();
  ok = std::fclose(file) == 0 && ok;
  if (exists && !inPlace)
    std::filesystem::permissions(written, status.permissions(), code);
  ok = ok && (inPlace || std::rename(written.c_str(), place.c_str()) == 0);
  if (ok)
    return Success{};
  const int reason = errno;
  if (!inPlace)
    std::remove(written.c_str());
  return makeError(TILE_ERROR_FILE, "cannot write '{}': {}", path, std::strerror(reason));
}

Status checkAppendable(const std::string &path) {
  std::error_code code;
  if (path.empty())
    return Success{};
  const bool isNew = !std::filesystem::exists(path, code);
  Status status = appendToFile(path, "");
  if (isNew && status)
    std::filesystem::remove(path, code);
  return status;
}

Status appendToFile(const std::string &path, std::string_view text) {
  std::error_code code;
  const bool isNew = !std::filesystem::exists(path, code);
  const bool isFile = isNew || std::filesystem::is_regular_file(path, code);
  const uintmax_t before = isNew || !isFile ? 0 : std::filesystem::file_size(path, code);
  FILE *file = std::fopen(path.c_str(), "ab");
  bool ok = file && std::fwrite(text.data(), 1, text.size(), file) == text.size();
  ok = file && std::fclose(file) == 0 && ok;
  if (ok)
    return Success{};
  const int reason = errno;
  if (file && isNew)
    std::remove(path.c_str());
  else if (file && isFile)
    std::filesystem::resize_file(path, before, code);
  return makeError(TILE_ERROR_FILE, "cannot write '{}': {}", path, std::strerror(reason));
}

Status saveBufferFile(const HostBuffer &buffer, const std::string &path) {
  const std::vector<uint8_t> dense = buffer.exportDense();
  if (path.ends_with(".npy"))
    return writeFileAtomically(path, formatNpy(buffer.type(), buffer.layout().shape, dense));
  if (isImageFile(path)) {
    if (Status status = checkImageType(buffer, path); !status)
      return status;
    const std::string_view pixels(reinterpret_cast<const char *>(dense.data()), dense.size());
    Result<std::string> image = formatImage(buffer.layout().shape, pixels);
    return image ? writeFileAtomically(path, *image)
                 : Status(runtime::withContext("cannot write '" + path + "'", image.error()));
  }
  return writeFileAtomically(path, {reinterpret_cast<const char *>(dense.data()), dense.size()});
}

} // namespace tile::runner
