// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ReduceKernel.h"

#include <algorithm>
#include <vector>

namespace tile::fuzz {

namespace {

using Lines = std::vector<std::string>;

Lines split(const std::string &text) {
  Lines lines;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

std::string join(const Lines &lines) {
  std::string text;
  for (const std::string &line : lines)
    text += line + "\n";
  return text;
}

size_t indentOf(const std::string &line) {
  const size_t indent = line.find_first_not_of(' ');
  return indent == std::string::npos ? 0 : indent;
}

/// Returns the line after the block that this line opens; the next line if it opens none.
size_t blockEnd(const Lines &lines, size_t first) {
  size_t end = first + 1;
  while (end < lines.size() && !lines[end].empty() && indentOf(lines[end]) > indentOf(lines[first]))
    ++end;
  return end;
}

/// Returns the line after a function, which may begin with its decorator.
size_t unitEnd(const Lines &lines, size_t first) {
  if (lines[first].starts_with("@") && first + 1 < lines.size())
    return blockEnd(lines, first + 1);
  return blockEnd(lines, first);
}

class Reducer {
public:
  Reducer(std::string text, const std::function<bool(const std::string &)> &fails) : lines(split(text)), fails(fails) {}

  std::string run() {
    bool changed = true;
    while (changed) {
      changed = false;
      for (size_t size = std::max<size_t>(lines.size() / 4, 1); size > 0; size /= 2)
        changed |= dropRuns(size);
      changed |= dropUnits();
      changed |= unwrapBlocks();
      changed |= simplifyLines();
      changed |= dropParameters();
    }
    return join(lines);
  }

private:
  bool accept(Lines candidate) {
    if (candidate == lines || !fails(join(candidate)))
      return false;
    lines = std::move(candidate);
    return true;
  }

  bool dropRuns(size_t size) {
    bool changed = false;
    for (size_t end = lines.size(); end >= size; end = end > size ? std::min(end - size, lines.size()) : 0) {
      Lines candidate = lines;
      candidate.erase(candidate.begin() + static_cast<std::ptrdiff_t>(end - size),
                      candidate.begin() + static_cast<std::ptrdiff_t>(end));
      changed |= accept(candidate);
      if (end == size)
        break;
    }
    return changed;
  }

  bool dropUnits() {
    bool changed = false;
    for (size_t first = lines.size(); first-- > 0;) {
      if (first >= lines.size())
        continue;
      Lines candidate = lines;
      candidate.erase(candidate.begin() + static_cast<std::ptrdiff_t>(first),
                      candidate.begin() + static_cast<std::ptrdiff_t>(unitEnd(lines, first)));
      changed |= accept(candidate);
    }
    return changed;
  }

  /// Removes the loop or branch, but keeps its body.
  bool unwrapBlocks() {
    bool changed = false;
    for (size_t first = 0; first < lines.size(); ++first) {
      const size_t end = blockEnd(lines, first);
      if (end == first + 1 || lines[first].starts_with("def"))
        continue;
      Lines candidate = lines;
      for (size_t i = first + 1; i < end; ++i)
        candidate[i] = lines[i].substr(4);
      candidate.erase(candidate.begin() + static_cast<std::ptrdiff_t>(first));
      changed |= accept(candidate);
    }
    return changed;
  }

  bool replace(size_t index, const std::string &line) {
    Lines candidate = lines;
    candidate[index] = line;
    return accept(candidate);
  }

  /// Replaces brackets with their contents by one of the parts.
  bool simplifyLines() {
    bool changed = false;
    for (size_t index = 0; index < lines.size(); ++index) {
      if (lines[index].starts_with("#") || lines[index].starts_with("def") || lines[index].starts_with("@"))
        continue;
      for (size_t open = 0; open < lines[index].size(); ++open)
        while (open < lines[index].size() && lines[index][open] == '(' && simplifyAt(index, open))
          changed = true;
    }
    return changed;
  }

  bool simplifyAt(size_t index, size_t open) {
    const std::string line = lines[index];
    int depth = 0;
    size_t close = open;
    std::vector<size_t> cuts = {open}; // commas and operators of this level
    for (; close < line.size(); ++close) {
      depth += line[close] == '(' || line[close] == '[';
      depth -= line[close] == ')' || line[close] == ']';
      if (depth == 0)
        break;
      if (depth == 1 && line[close] == ' ' && close > open)
        cuts.push_back(close);
    }
    if (close >= line.size())
      return false;
    cuts.push_back(close);
    size_t begin = open; // start of the call, including the function's name
    while (begin > 0 && (std::isalnum(static_cast<unsigned char>(line[begin - 1])) || line[begin - 1] == '_' ||
                         line[begin - 1] == '.'))
      --begin;
    for (size_t i = 0; i + 1 < cuts.size(); ++i)
      for (size_t j = i + 1; j < cuts.size(); ++j) {
        std::string part = line.substr(cuts[i] + 1, cuts[j] - cuts[i] - 1);
        if (part.ends_with(","))
          part.pop_back();
        if (part.empty() || part.find('=') != std::string::npos)
          continue;
        if (part.size() + 2 < close + 1 - begin &&
            replace(index, line.substr(0, begin) + part + line.substr(close + 1)))
          return true;
      }
    // Drop the last argument.
    if (const size_t comma = line.rfind(", ", close); comma != std::string::npos && comma > open)
      if (replace(index, line.substr(0, comma) + line.substr(close)))
        return true;
    return replace(index, line.substr(0, begin) + "0" + line.substr(close + 1));
  }

  /// Removes parameters together with the directives that name them.
  bool dropParameters() {
    bool changed = false;
    for (size_t index = 0; index < lines.size(); ++index) {
      if (!lines[index].starts_with("def kernel("))
        continue;
      size_t begin = lines[index].find('(') + 1;
      while (begin < lines[index].size()) {
        const std::string line = lines[index];
        const size_t colon = line.find(": ", begin);
        if (colon == std::string::npos)
          break;
        const std::string name = line.substr(begin, colon - begin);
        size_t end = line.find(", ", begin);
        const bool isLast = end == std::string::npos;
        end = isLast ? line.rfind("):") : end + 2;
        Lines candidate = lines;
        candidate[index] = line.substr(0, isLast && begin > line.find('(') + 1 ? begin - 2 : begin) + line.substr(end);
        std::erase_if(candidate, [&](const std::string &text) {
          return text.starts_with("#: buffer " + name + "[") || text.starts_with("#: default " + name + " ");
        });
        if (accept(candidate)) {
          changed = true;
          index = static_cast<size_t>(
              std::find_if(lines.begin(), lines.end(),
                           [](const std::string &text) { return text.starts_with("def kernel("); }) -
              lines.begin());
          if (isLast)
            break;
          continue;
        }
        begin = end;
        if (isLast)
          break;
      }
    }
    return changed;
  }

  Lines lines;
  const std::function<bool(const std::string &)> &fails;
};

} // namespace

std::string reduceKernel(std::string text, const std::function<bool(const std::string &)> &fails) {
  return Reducer(std::move(text), fails).run();
}

} // namespace tile::fuzz
