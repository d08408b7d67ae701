#pragma once

// What Debian's emscripten lacks of the C++20 standard library, as far as residua's core uses it.
// Included before every source of the page's build.

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <string>
#include <system_error>

#if defined(_LIBCPP_VERSION) && _LIBCPP_VERSION < 15000

namespace std {
namespace ranges {

template <typename A, typename B>
bool equal(const A& a, const B& b) {
  return std::equal(std::begin(a), std::end(a), std::begin(b), std::end(b));
}

template <typename From, typename To>
void copy(const From& from, To to) {
  std::copy(std::begin(from), std::end(from), to);
}

template <typename Range, typename Predicate>
bool all_of(const Range& range, Predicate predicate) {
  return std::all_of(std::begin(range), std::end(range), predicate);
}

template <typename Range, typename Predicate>
bool any_of(const Range& range, Predicate predicate) {
  return std::any_of(std::begin(range), std::end(range), predicate);
}

template <typename Range, typename Predicate>
auto count_if(const Range& range, Predicate predicate) {
  return std::count_if(std::begin(range), std::end(range), predicate);
}

template <typename Range, typename Value>
auto find(const Range& range, const Value& value) {
  return std::find(std::begin(range), std::end(range), value);
}

}  // namespace ranges

template <typename To, typename From>
To bit_cast(const From& from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  memcpy(&to, &from, sizeof(To));
  return to;
}

// With a stated number of decimals, which is the only way it is called.
inline to_chars_result to_chars(char* first, char* last, double value, chars_format, int decimals) {
  const int count = snprintf(first, static_cast<size_t>(last - first), "%.*f", decimals, value);
  return {first + count, errc()};
}

// For text that is nothing but a number, as all callers ask for; strtod rounds to the nearest.
inline from_chars_result from_chars(const char* first, const char* last, double& value) {
  const bool is_number =
      first != last && (*first == '-' || *first == '.' || (*first >= '0' && *first <= '9') ||
                        *first == 'i' || *first == 'I' || *first == 'n' || *first == 'N');
  const string text(first, last);
  char* end = nullptr;
  errno = 0;
  const double parsed = is_number ? strtod(text.c_str(), &end) : 0;
  if (!is_number || end == text.c_str() || text.find_first_of("xX") != string::npos) {
    return {first, errc::invalid_argument};
  }
  const char* const stop = first + (end - text.c_str());
  if (errno == ERANGE) return {stop, errc::result_out_of_range};
  value = parsed;
  return {stop, errc()};
}

}  // namespace std

#endif
