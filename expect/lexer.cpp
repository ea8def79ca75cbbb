#include "expect/lexer.hpp"

#include <charconv>
#include <cmath>

#include "core/foreign_text.hpp"
#include "core/time_text.hpp"

namespace isochron::expect {
namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word(char c) { return is_letter(c) || is_digit(c); }
bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  Result<std::vector<Token>, TextMistake> run() {
    if (text_.size() > longest_expectation) {
      return fail(TextMistake{0, "is longer than 4000 characters", "make several expectations of it"});
    }
    while (!mistake_.what.size()) {
      while (at_ < text_.size() && is_space(text_[at_])) ++at_;
      if (at_ == text_.size()) break;
      take();
    }
    if (!mistake_.what.empty()) return fail(mistake_);
    add(Token::Kind::end, text_.size());
    return std::move(tokens_);
  }

 private:
  [[nodiscard]] char peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  /// Whether a value stands before this, so that a sign is a sign between two.
  [[nodiscard]] bool after_value() const {
    if (tokens_.empty()) return false;
    const Token& last = tokens_.back();
    return last.kind == Token::Kind::sign ? last.word == ")" : !is_operator_word(last);
  }
  static bool is_operator_word(const Token& token) {
    if (token.kind != Token::Kind::name) return false;
    for (const char* word : {"always", "never", "eventually", "after", "and", "or", "not"}) {
      if (token.word == word) return true;
    }
    return false;
  }

  Token& add(Token::Kind kind, std::size_t end) {
    Token token;
    token.kind = kind;
    token.at = at_;
    token.end = end;
    token.word = std::string(text_.substr(at_, end - at_));
    at_ = end;
    return tokens_.emplace_back(std::move(token));
  }

  void take() {
    const char c = peek();
    if (is_digit(c) || (c == '.' && is_digit(peek(1)))) return number();
    if (is_letter(c) || (c == '/' && is_letter(peek(1)) && !after_value())) return name();
    if (c == '"' || c == '\'') return quoted(c, Token::Kind::text);
    if (c == '`') return quoted(c, Token::Kind::name);
    sign();
  }

  void number() {
    double value = 0;
    const char* begin = text_.data() + at_;
    const auto [stop, error] = std::from_chars(begin, text_.data() + text_.size(), value);
    if (error != std::errc() || !std::isfinite(value)) {
      mistake_ = {at_, "this number is too large", ""};
      return;
    }
    std::size_t end = at_ + static_cast<std::size_t>(stop - begin);
    const std::size_t unit_at = end;
    while (end < text_.size() && (is_word(text_[end]) || static_cast<unsigned char>(text_[end]) >= 0x80)) ++end;
    const std::string_view unit = text_.substr(unit_at, end - unit_at);
    if (unit.empty()) {
      const bool percent = end < text_.size() && text_[end] == '%';
      add(Token::Kind::number, end + (percent ? 1 : 0)).value = percent ? value / 100 : value;
      return;
    }
    const auto ns = parse_ns(text_.substr(at_, end - at_));
    if (!ns) {
      mistake_ = {unit_at, "`" + foreign_name(unit, 40) + "` is no unit of time",
                  "times have one of ns us ms s min h; all other numbers are plain, in SI units"};
      return;
    }
    Token& token = add(Token::Kind::time, end);
    token.ns = *ns;
    token.value = static_cast<double>(*ns) * 1e-9;
  }

  void name() {
    std::size_t end = at_ + 1;
    while (end < text_.size()) {
      const char c = text_[end];
      const bool goes_on = end + 1 < text_.size() && is_word(text_[end + 1]);
      if (is_word(c)) {
        ++end;
      } else if ((c == '.' || c == '/' || c == '-' || c == ':') && goes_on) {
        end += 2;
      } else if (const std::size_t after = index_end(end); after != end) {
        end = after;
      } else {
        break;
      }
    }
    add(Token::Kind::name, end);
  }

  /// Behind `[3]`, or where it was.
  [[nodiscard]] std::size_t index_end(std::size_t at) const {
    if (text_[at] != '[') return at;
    std::size_t end = at + 1;
    while (end < text_.size() && is_digit(text_[end])) ++end;
    return end > at + 1 && end < text_.size() && text_[end] == ']' ? end + 1 : at;
  }

  void quoted(char mark, Token::Kind kind) {
    const std::size_t close = text_.find(mark, at_ + 1);
    if (close == std::string_view::npos) {
      mistake_ = {at_, kind == Token::Kind::text ? "this text has no end" : "this name has no end",
                  std::string("close it with another ") + mark};
      return;
    }
    const std::string inside(text_.substr(at_ + 1, close - at_ - 1));
    add(kind, close + 1).word = inside;
  }

  void sign() {
    static constexpr std::string_view two[] = {"<=", ">=", "==", "!="};
    for (const std::string_view sign : two) {
      if (text_.substr(at_, 2) == sign) return void(add(Token::Kind::sign, at_ + 2));
    }
    if (std::string_view("<>+-*/(),").find(peek()) != std::string_view::npos) {
      return void(add(Token::Kind::sign, at_ + 1));
    }
    const bool equals = peek() == '=';
    mistake_ = {at_, "`" + foreign_name(text_.substr(at_, 1), 8) + "` means nothing here",
                equals ? "to compare, write ==" : ""};
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::vector<Token> tokens_;
  TextMistake mistake_;
};

}  // namespace

Result<std::vector<Token>, TextMistake> tokens_of(std::string_view text) { return Lexer(text).run(); }

}  // namespace isochron::expect
