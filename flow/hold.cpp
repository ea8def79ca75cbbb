#include "flow/hold.hpp"

#include <algorithm>
#include <stdexcept>

namespace isochron::flow {
namespace {

std::size_t words(const PayloadType& type) { return (type.size + 7) / 8; }

}  // namespace

Hold::Hold(const PayloadType& type, std::string flow_name, std::uint32_t limit, unsigned char poison)
    : type_(type), flow_name_(std::move(flow_name)), limit_(limit), poison_(poison) {}

Hold::~Hold() {
  for (const Held& held : held_) delete_payload(type_, held.payload);
  for (std::size_t i = outbox_head_; i < outbox_.size(); ++i) delete_payload(type_, outbox_[i].payload);
  for (void* block : spare_) delete_payload(type_, block);
}

bool Hold::later(const Held& a, const Held& b) { return a.time != b.time ? a.time > b.time : a.order > b.order; }

void* Hold::spare() {
  if (spare_.empty()) return new_payload(type_);
  void* block = spare_.back();
  spare_.pop_back();
  return block;
}

void* Hold::add(SimTime t) {
  if (held_.size() + (outbox_.size() - outbox_head_) >= limit_) {
    throw std::runtime_error("flow " + flow_name_ + ": " + std::to_string(limit_) +
                             " events wait to be sent; a sink does not keep up");
  }
  held_.push_back({t, order_++, spare()});
  void* payload = held_.back().payload;
  if (poison_ != 0) type_.poison(payload, poison_);
  std::push_heap(held_.begin(), held_.end(), &Hold::later);
  return payload;
}

void Hold::turn() {
  std::pop_heap(held_.begin(), held_.end(), &Hold::later);
  outbox_.push_back(held_.back());
  held_.pop_back();
}

void Hold::gone(std::uint64_t number) {
  for (; gone_ < number; ++gone_) spare_.push_back(outbox_[outbox_head_++].payload);
  if (outbox_head_ == outbox_.size()) {
    outbox_.clear();
    outbox_head_ = 0;
  } else if (outbox_head_ >= 1024 && 2 * outbox_head_ >= outbox_.size()) {
    outbox_.erase(outbox_.begin(), outbox_.begin() + static_cast<std::ptrdiff_t>(outbox_head_));
    outbox_head_ = 0;
  }
}

void Hold::save(const std::vector<Held>& list, std::size_t from, std::vector<std::int64_t>& to) const {
  to.push_back(static_cast<std::int64_t>(list.size() - from));
  for (; from < list.size(); ++from) {
    to.push_back(list[from].time.ns());
    const std::size_t at = to.size();
    to.resize(at + words(type_), 0);
    std::memcpy(to.data() + at, list[from].payload, type_.size);
  }
}

void Hold::save(std::vector<std::int64_t>& to) const {
  std::vector<Held> sorted = held_;
  std::sort(sorted.begin(), sorted.end(), [](const Held& a, const Held& b) { return later(b, a); });
  to.push_back(static_cast<std::int64_t>(gone_));
  save(outbox_, outbox_head_, to);
  save(sorted, 0, to);
}

void Hold::restore(const std::int64_t*& from) {
  while (!held_.empty()) turn();
  gone(outbox_end());
  gone_ = static_cast<std::uint64_t>(*from++);
  for (const bool outbox : {true, false}) {
    for (std::int64_t left = *from++; left > 0; --left) {
      void* payload = add(SimTime::from_ns(*from++));
      std::memcpy(payload, from, type_.size);
      from += words(type_);
      if (outbox) turn();
    }
  }
}

}  // namespace isochron::flow
