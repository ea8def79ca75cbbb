#include "journal/variables.hpp"

#include <set>

#include "journal/stream_copy.hpp"

namespace isochron {
namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string field_name(const std::string& name) {
  std::string field;
  for (const char c : name) {
    if (is_letter(c) || is_digit(c)) {
      field += c;
    } else if (!field.empty() && field.back() != '_') {
      field += '_';
    }
  }
  while (!field.empty() && field.back() == '_') field.pop_back();
  if (field.empty() || !is_letter(field.front())) field = "v_" + field;
  if (field.back() == '_') field.pop_back();
  return field;
}

std::string schema_text(const std::vector<std::string>& names) {
  const std::vector<std::string> fields = field_names(names);
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    text += "float64 " + fields[i];
    if (fields[i] != names[i] && names[i].find('\n') == std::string::npos) text += "  # " + names[i];
    text += '\n';
  }
  return text;
}

/// One name for each set of fields, as tools take schemas of equal names for the same.
std::string schema_name(const std::string& topic) {
  std::string name = "isochron_msgs/msg/Variables";
  const std::string suffix = field_name(topic);
  return suffix.empty() ? name : name + "_" + suffix;
}

}  // namespace

std::vector<std::string> field_names(const std::vector<std::string>& names) {
  std::set<std::string> taken;
  std::vector<std::string> fields;
  for (const std::string& name : names) {
    const std::string wish = field_name(name);
    std::string field = wish;
    for (int n = 2; !taken.insert(field).second; ++n) field = wish + "_" + std::to_string(n);
    fields.push_back(field);
  }
  return fields;
}

VariableLog::VariableLog(Journal& journal, Producer& producer, const std::string& topic,
                         const std::vector<std::string>& names, ChannelOptions options)
    : producer_(&producer), size_(names.size()) {
  ENSURE(!names.empty(), "a log of no variables");
  channel_ = journal.channel(topic, SchemaText{schema_name(topic), schema_text(names)}, std::move(options));
}

std::span<double> VariableLog::begin(SimTime time) {
  const std::span<std::byte> room = producer_->reserve(channel_, time, cdr_header_size + size_ * sizeof(double));
  if (room.data() == nullptr) return {};
  constexpr std::uint32_t little_endian_cdr = 0x0100;
  std::memcpy(room.data(), &little_endian_cdr, cdr_header_size);
  // The ring places payloads so that what follows the header of four bytes is aligned (see RecordRing).
  return {reinterpret_cast<double*>(room.data() + cdr_header_size), size_};
}

bool VariableLog::tick(SimTime time, std::span<const double> values) {
  ENSURE(values.size() == size_, "a tick needs a value for each variable");
  const std::span<double> room = begin(time);
  if (room.empty()) return false;
  stream_copy(std::as_writable_bytes(room).data(), std::as_bytes(values).data(), values.size_bytes());
  end();
  return true;
}

}  // namespace isochron
