#include "expect/sentence.hpp"

#include <algorithm>
#include <array>

#include "core/foreign_text.hpp"
#include "core/limits.hpp"
#include "core/nearest_name.hpp"

namespace isochron::expect {
namespace {

constexpr int depth_max = 64;
constexpr std::array<const char*, 6> comparisons{"<", "<=", ">", ">=", "==", "!="};

/// Recursive descent, a level of precedence each. The first mistake ends it.
class Parser {
 public:
  Parser(std::string_view text, std::vector<Token> tokens) : text_(text), tokens_(std::move(tokens)) {}

  Result<Sentence, TextMistake> run() {
    Sentence sentence;
    sentence.text = std::string(text_);
    form(sentence);
    window(sentence);
    if (!failed_ && token().kind != Token::Kind::end) unexpected();
    if (failed_) return fail(mistake_);
    return sentence;
  }

 private:
  using Kind = Expression::Kind;

  [[nodiscard]] const Token& token() const { return tokens_[at_]; }
  [[nodiscard]] bool is(const char* word) const {
    return token().word == word && (token().kind == Token::Kind::name || token().kind == Token::Kind::sign);
  }
  bool accept(const char* word) {
    if (failed_ || !is(word)) return false;
    ++at_;
    return true;
  }
  void demand(const char* word) {
    if (!failed_ && !accept(word)) wrong(std::string("`") + word + "` is missing here", "");
  }
  void wrong(std::string what, std::string hint) {
    if (failed_) return;
    failed_ = true;
    mistake_ = {token().at, std::move(what), std::move(hint)};
  }
  void unexpected() {
    if (token().kind == Token::Kind::end) return wrong("something is missing at the end", "");
    const bool compares = std::ranges::any_of(comparisons, [&](const char* c) { return is(c); });
    wrong("`" + foreign_name(token().word, 40) + "` is not expected here",
          compares ? "to compare twice, write `a < x and x < b`"
                   : nearest_hint(token().word, {"and", "or", "within", "from", "until"}));
  }

  void form(Sentence& sentence) {
    if (accept("always")) return condition(sentence, Sentence::Form::always);
    if (accept("never")) return condition(sentence, Sentence::Form::never);
    if (accept("eventually")) {
      condition(sentence, Sentence::Form::eventually);
      if (accept("within")) sentence.within = span();
      return;
    }
    if (!accept("after")) return condition(sentence, Sentence::Form::summary);
    condition(sentence, Sentence::Form::after);
    demand(",");
    sentence.then = expression();
    demand("within");
    if (!failed_) sentence.within = span();
  }
  void condition(Sentence& sentence, Sentence::Form form) {
    sentence.form = form;
    sentence.condition = expression();
  }
  void window(Sentence& sentence) {
    if (accept("from")) sentence.from = SimTime::zero() + span();
    if (!accept("until")) return;
    const std::size_t at = at_;
    sentence.until = SimTime::zero() + span();
    if (!failed_ && sentence.until <= sentence.from) {
      at_ = at;
      wrong("`until` must be later than `from`", "");
    }
  }
  SimSpan span() {
    const Token& time = token();
    if (time.kind != Token::Kind::time || !limits::is_span(time.ns)) {
      wrong("a time is expected here", "as in 2s or 500ms");
      return {};
    }
    ++at_;
    return SimSpan::from_ns(time.ns);
  }

  Expression expression() {
    if (++depth_ > depth_max) wrong("is nested too deeply", "");
    Expression left = failed_ ? Expression{} : sides({"or"}, &Parser::conjunction);
    --depth_;
    return left;
  }
  Expression conjunction() { return sides({"and"}, &Parser::negation); }
  Expression negation() {
    if (!is("not")) return comparison();
    return one_sided("not", &Parser::negation);
  }
  Expression comparison() {
    Expression left = sum();
    for (const char* sign : comparisons) {
      if (accept(sign)) return joined(sign, std::move(left), sum());
    }
    return left;
  }
  Expression sum() { return sides({"+", "-"}, &Parser::product); }
  Expression product() { return sides({"*", "/"}, &Parser::factor); }
  Expression factor() {
    if (!is("-")) return primary();
    return one_sided("-", &Parser::factor);
  }

  Expression one_sided(const char* word, Expression (Parser::*inner)()) {
    const std::size_t at = token().at;
    accept(word);
    if (++depth_ > depth_max) wrong("is nested too deeply", "");
    Expression whole{.kind = Kind::operation, .word = word, .at = at};
    if (!failed_) whole.arguments.push_back((this->*inner)());
    --depth_;
    whole.end = whole.arguments.empty() ? at : whole.arguments[0].end;
    return whole;
  }

  Expression sides(std::initializer_list<const char*> signs, Expression (Parser::*inner)()) {
    Expression left = (this->*inner)();
    for (bool again = true; again && !failed_;) {
      again = false;
      for (const char* sign : signs) {
        if (!accept(sign)) continue;
        left = joined(sign, std::move(left), (this->*inner)());
        again = true;
        // A chain leans to the left and is as deep as it is long.
        if (++chain_ > 200) wrong("has too many operations", "make several expectations of it");
      }
    }
    return left;
  }
  static Expression joined(const char* sign, Expression left, Expression right) {
    Expression whole{.kind = Kind::operation, .word = sign, .at = left.at, .end = right.end};
    whole.arguments.push_back(std::move(left));
    whole.arguments.push_back(std::move(right));
    return whole;
  }

  Expression primary() {
    const Token& t = token();
    Expression one{.value = t.value, .word = t.word, .at = t.at, .end = t.end};
    if (accept("(")) {
      one = expression();
      one.end = token().end;
      one.at = t.at;
      demand(")");
      return one;
    }
    switch (t.kind) {
      case Token::Kind::number:
        one.kind = Kind::number;
        break;
      case Token::Kind::time:
        one.kind = Kind::time;
        break;
      case Token::Kind::text:
        one.kind = Kind::text;
        break;
      case Token::Kind::name:
        return named(std::move(one));
      default:
        missing_value();
        return one;
    }
    ++at_;
    return one;
  }

  void missing_value() {
    wrong(token().kind == Token::Kind::end
              ? "something is missing at the end"
              : "`" + foreign_name(token().word, 40) + "` stands where a value is expected",
          "as in always distance(prey, predator) > 1");
  }

  Expression named(Expression one) {
    static constexpr std::array<const char*, 10> words{"always", "never", "eventually", "after", "within",
                                                       "from",   "until", "and",        "or",    "not"};
    if (std::ranges::find(words, one.word) != words.end()) return missing_value(), one;
    ++at_;
    one.kind = Kind::name;
    if (one.word == "true" || one.word == "false") {
      one.kind = Kind::truth;
      one.value = one.word == "true" ? 1 : 0;
    }
    if (!accept("(")) return one;
    one.kind = Kind::call;
    if (!is(")")) one.arguments.push_back(expression());
    while (accept(",")) one.arguments.push_back(expression());
    one.end = token().end;
    demand(")");
    return one;
  }

  std::string_view text_;
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  int depth_ = 0, chain_ = 0;
  bool failed_ = false;
  TextMistake mistake_;
};

}  // namespace

Result<Sentence, TextMistake> parse(std::string_view text) {
  auto tokens = tokens_of(text);
  if (!tokens) return fail(tokens.error());
  return Parser(text, std::move(*tokens)).run();
}

}  // namespace isochron::expect
