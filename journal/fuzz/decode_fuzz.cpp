// Any text as a schema and any bytes as a record: the text up to the first zero byte, the record after it. What is read
// by name must be what going through all of it finds.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <set>

#include "journal/decode.hpp"
#include "journal/journal_file.hpp"
#include "journal/names.hpp"

namespace {

using namespace isochron;

void read_by_name(const std::string& text, std::span<const std::byte> record) {
  Names names;
  names.add(0, ChannelDefinition{"/t", {"p/msg/T", text}, {}});
  names.learn(0, record);
  std::size_t left = 64;
  for (const std::string& name : names.all()) {
    if (left-- == 0) break;
    NumberReader reader = names.reader(*names.find(name));
    (void)reader.number(record);
    (void)reader.text(record);
  }
}

/// Two fields of one name are no message that anybody means.
bool is_ambiguous(const MessageSchema& schema) {
  for (const MessageSchema::Definition& definition : schema.messages) {
    std::set<std::string> names;
    for (const SchemaField& field : definition.fields) {
      if (!names.insert(field.name).second) return true;
    }
  }
  return false;
}

/// As both find it.
void compare(const Decoder& decoder, const std::string& text, std::span<const std::byte> record) {
  Names names;
  names.add(0, ChannelDefinition{"/t", {"p/msg/T", text}, {}});
  std::size_t left = 64;
  for (const NamedValue& value : decoder.values(record)) {
    if (left-- == 0) break;
    const auto number = names.find("/t:" + value.path);
    if (!number || number->quantity == Quantity::text) continue;
    const auto read = names.reader(*number).number(record);
    const auto wanted = decoder.number(record, value.path);
    const bool same = read == wanted || (read && wanted && std::isnan(*read) && std::isnan(*wanted));
    if (same) continue;
    std::fprintf(stderr, "%s is read in two ways\n", value.path.c_str());
    std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span<const std::uint8_t> all(data, size);
  const auto zero = static_cast<std::size_t>(std::find(all.begin(), all.end(), 0) - all.begin());
  const std::string text(reinterpret_cast<const char*>(data), zero);
  auto schema = parse_ros2msg("p/msg/T", text);
  if (!schema) return 0;
  const bool ambiguous = is_ambiguous(*schema);
  const Decoder decoder(std::move(*schema));
  const auto record = std::as_bytes(all.subspan(std::min(zero, size)));
  (void)decoder.print(record);
  (void)decoder.number(record, "x");
  read_by_name(text, record);
  if (!ambiguous) compare(decoder, text, record);
  return 0;
}
