#include "core/rate.hpp"

#include <charconv>
#include <numeric>

namespace isochron {
namespace {

bool all_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

/// The integer, or 0 when it is none that fits.
std::int64_t integer(std::string_view text) {
  std::int64_t value = 0;
  if (!all_digits(text)) return 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  return code == std::errc{} ? value : 0;
}

}  // namespace

Result<Fraction, std::string> parse_fraction(std::string_view text) {
  const std::string wrong =
      "`" + std::string(text.substr(0, 40)) + "` is not a positive factor; write `0.25`, `4` or `1/3`";
  std::string_view body = text;
  if (!body.empty() && body.back() == 'x') body.remove_suffix(1);
  std::int64_t numerator = 0;
  std::int64_t denominator = 1;
  if (const auto slash = body.find('/'); slash != std::string_view::npos) {
    numerator = integer(body.substr(0, slash));
    denominator = integer(body.substr(slash + 1));
  } else if (const auto point = body.find('.'); point != std::string_view::npos) {
    const auto decimals = body.substr(point + 1);
    if (!all_digits(decimals) || decimals.size() > 9) return fail(wrong);
    if (point != 0 && !all_digits(body.substr(0, point))) return fail(wrong);
    numerator = integer(std::string(body.substr(0, point)) + std::string(decimals));
    for (std::size_t i = 0; i < decimals.size(); ++i) denominator *= 10;
  } else {
    numerator = integer(body);
  }
  if (numerator <= 0 || denominator <= 0) return fail(wrong);
  const auto common = std::gcd(numerator, denominator);
  return Fraction{numerator / common, denominator / common};
}

std::string to_string(Fraction fraction) {
  std::int64_t rest = fraction.denominator;
  int twos = 0, fives = 0;
  while (rest % 2 == 0) rest /= 2, ++twos;
  while (rest % 5 == 0) rest /= 5, ++fives;
  const int places = twos > fives ? twos : fives;
  if (rest != 1 || places > 9) return std::to_string(fraction.numerator) + "/" + std::to_string(fraction.denominator);
  if (places == 0) return std::to_string(fraction.numerator);
  std::int64_t power = 1;
  for (int i = 0; i < places; ++i) power *= 10;
  const __int128 scaled = static_cast<__int128>(fraction.numerator) * (power / fraction.denominator);
  std::string digits = std::to_string(static_cast<std::int64_t>(scaled % power) + power).substr(1);
  return std::to_string(static_cast<std::int64_t>(scaled / power)) + "." + digits;
}

}  // namespace isochron
