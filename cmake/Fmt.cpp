// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// fmt's own source file, which Debian's package has only inside a shared library: its functions, and the instances of
// its templates for char that headers of version 9 expect elsewhere (cmake/TileLibrary.cmake).
#include <fmt/format-inl.h>

static_assert(FMT_VERSION / 10000 == 9, "other versions expect other instances");

FMT_BEGIN_NAMESPACE
namespace detail {

template FMT_API auto dragonbox::to_decimal(float) noexcept -> dragonbox::decimal_fp<float>;
template FMT_API auto dragonbox::to_decimal(double) noexcept -> dragonbox::decimal_fp<double>;
template FMT_API locale_ref::locale_ref(const std::locale &);
template FMT_API auto locale_ref::get<std::locale>() const -> std::locale;
template FMT_API auto thousands_sep_impl(locale_ref) -> thousands_sep_result<char>;
template FMT_API auto decimal_point_impl(locale_ref) -> char;
template FMT_API void buffer<char>::append(const char *, const char *);
template FMT_API void vformat_to(buffer<char> &, string_view, basic_format_args<FMT_BUFFER_CONTEXT(char)>, locale_ref);

} // namespace detail
FMT_END_NAMESPACE
