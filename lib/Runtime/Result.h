// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A value or an error, for code that must not throw: `Result<T> r = f(); if (!r) return r.error(); use(*r);`.
//
// An error has a status code (the C API returns it) and one line of text for the user.
#pragma once

#include "tile/tilert.h"

#include <cassert>
#include <fmt/core.h>
#include <string>
#include <utility>
#include <variant>

namespace tile::runtime {

struct Error {
  tile_status code = TILE_ERROR_INVALID_ARGUMENT;
  std::string message;
};

template <typename... Args> Error makeError(tile_status code, fmt::format_string<Args...> format, Args &&...args) {
  return Error{code, fmt::format(format, std::forward<Args>(args)...)};
}

template <typename T> class [[nodiscard]] Result {
public:
  Result(T value) : state(std::move(value)) {}
  Result(Error error) : state(std::move(error)) {}

  explicit operator bool() const { return state.index() == 0; }
  T &operator*() {
    assert(state.index() == 0 && "dereferencing an error");
    return *std::get_if<0>(&state);
  }
  const T &operator*() const {
    assert(state.index() == 0 && "dereferencing an error");
    return *std::get_if<0>(&state);
  }
  T *operator->() { return &**this; }
  const T *operator->() const { return &**this; }
  const Error &error() const {
    assert(state.index() == 1 && "no error here");
    return *std::get_if<1>(&state);
  }

private:
  std::variant<T, Error> state;
};

struct Success {};
using Status = Result<Success>;

/// Returns the same error with a location prefix: `parameters[2]: unknown type`.
inline Error withContext(const std::string &place, const Error &error) {
  return Error{error.code, place + ": " + error.message};
}

} // namespace tile::runtime
