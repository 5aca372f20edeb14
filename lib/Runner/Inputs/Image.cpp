// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads and writes Netpbm images. The header is untrusted. The formats are described in ppm(5) and pgm(5) of the Netpbm
// package.
#include "Runner/Inputs/Image.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <fmt/ranges.h>

namespace tile::runner {
namespace {

constexpr int64_t largestSide = 1 << 20;

Error malformedImage(std::string_view what) {
  return runtime::makeError(TILE_ERROR_FILE, "malformed image: {}", what);
}

/// Scans decimal integers separated by white space and comments.
class Scanner {
public:
  explicit Scanner(std::string_view text) : text(text) {}

  std::optional<int64_t> number() {
    skipBlanks();
    int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || value < 0)
      return std::nullopt;
    text.remove_prefix(static_cast<size_t>(end - text.data()));
    return value;
  }
  std::string_view remainingText() const { return text; }

private:
  void skipBlanks() {
    while (!text.empty() && (std::isspace(static_cast<unsigned char>(text[0])) || text[0] == '#'))
      text.remove_prefix(text[0] == '#' ? std::min(text.find('\n'), text.size()) : 1);
  }

  std::string_view text;
};

} // namespace

bool isImageFile(std::string_view path) {
  return path.ends_with(".ppm") || path.ends_with(".pgm");
}

Result<Image> parseImage(std::string_view bytes) {
  if (bytes.size() < 2 || bytes[0] != 'P' || std::string_view("2356").find(bytes[1]) == std::string_view::npos)
    return malformedImage("it does not start with P2, P3, P5 or P6");
  const bool isText = bytes[1] == '2' || bytes[1] == '3';
  const int64_t channels = bytes[1] == '3' || bytes[1] == '6' ? 3 : 1;
  Scanner scanner(bytes.substr(2));
  const std::optional<int64_t> width = scanner.number(), height = scanner.number(), largest = scanner.number();
  if (!width || !height || !largest || *width > largestSide || *height > largestSide)
    return malformedImage("no width, height and largest value in the header");
  if (*largest != 255)
    return malformedImage(fmt::format("the largest value is {}; only images of bytes (255) are read", *largest));
  Image image{{*height, *width, channels}, {}};
  const size_t size = static_cast<size_t>(*height * *width * channels);
  if (!isText) {
    const std::string_view remaining = scanner.remainingText();
    if (remaining.size() != size + 1) // one white-space character ends the header
      return malformedImage(fmt::format("{}x{} pixels need {} bytes, the file has {}", *width, *height, size,
                                        remaining.empty() ? 0 : remaining.size() - 1));
    image.pixels = std::string(remaining.substr(1));
    return image;
  }
  if (size > bytes.size()) // each value takes at least one byte
    return malformedImage(fmt::format("{}x{} pixels do not fit the file", *width, *height));
  while (image.pixels.size() < size) {
    const std::optional<int64_t> value = scanner.number();
    if (!value || *value > 255)
      return malformedImage(fmt::format("value {} of {} is not a number up to 255", image.pixels.size() + 1, size));
    image.pixels.push_back(static_cast<char>(*value));
  }
  return image;
}

Result<std::string> formatImage(const std::vector<int64_t> &shape, std::string_view pixels) {
  const bool isColour = shape.size() == 3 && shape[2] == 3;
  const bool isGrey = shape.size() == 2 || (shape.size() == 3 && shape[2] == 1);
  if (!isColour && !isGrey)
    return runtime::makeError(
        TILE_ERROR_INVALID_ARGUMENT,
        "an array of shape [{}] is not an image; expected [height, width, 3] or [height, width, 1]",
        fmt::join(shape, ", "));
  std::string out = fmt::format("{}\n{} {}\n255\n", isColour ? "P6" : "P5", shape[1], shape[0]);
  return out.append(pixels);
}

} // namespace tile::runner
