#include "link/dds/raw_topic.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>

// Cyclone's own C headers are not clean C++.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wextra"
#pragma GCC diagnostic ignored "-Wshadow"
#include <dds/ddsi/ddsi_serdata.h>
#include <dds/ddsi/ddsi_sertype.h>
#include <dds/ddsi/q_radmin.h>
#pragma GCC diagnostic pop

#include "link/dds/dds_domain.hpp"

namespace isochron::link {
namespace {

constexpr std::size_t at_a_time = 32;

/// The bytes of one sample, and zeros up to a multiple of four.
struct Sample : ddsi_serdata {
  std::unique_ptr<std::byte[]> bytes;
  std::size_t size = 0;

  Sample(const ddsi_sertype* type_in, ddsi_serdata_kind kind_in, std::size_t size_in) : ddsi_serdata{}, size(size_in) {
    ddsi_serdata_init(this, type_in, kind_in);
    hash = type_in->serdata_basehash;  // there is no key, so all samples are of one instance
    const std::size_t room = (size + 3) / 4 * 4;
    bytes = std::make_unique_for_overwrite<std::byte[]>(std::max<std::size_t>(room, 4));
    std::memset(bytes.get() + room - (room > 0 ? 4 : 0), 0, 4);
  }
};

Sample& sample(ddsi_serdata* d) { return *static_cast<Sample*>(d); }
const Sample& sample(const ddsi_serdata* d) { return *static_cast<const Sample*>(d); }

/// Received in pieces, which may overlap.
ddsi_serdata* from_pieces(const ddsi_sertype* type, ddsi_serdata_kind kind, const nn_rdata* piece, size_t size) {
  auto made = std::make_unique<Sample>(type, kind, size);
  std::size_t have = 0;
  for (; piece != nullptr; piece = piece->nextfrag) {
    const std::size_t end = std::min<std::size_t>(piece->maxp1, size);
    if (piece->min > have || end <= have) continue;
    const unsigned char* payload = NN_RMSG_PAYLOADOFF(piece->rmsg, NN_RDATA_PAYLOAD_OFF(piece));
    std::memcpy(made->bytes.get() + have, payload + (have - piece->min), end - have);
    have = end;
  }
  return have == size ? made.release() : nullptr;
}

ddsi_serdata* from_vector(const ddsi_sertype* type, ddsi_serdata_kind kind, ddsrt_msg_iovlen_t count,
                          const ddsrt_iovec_t* parts, size_t size) {
  auto made = std::make_unique<Sample>(type, kind, size);
  std::size_t have = 0;
  for (ddsrt_msg_iovlen_t i = 0; i < count && have < size; ++i) {
    const std::size_t n = std::min<std::size_t>(parts[i].iov_len, size - have);
    std::memcpy(made->bytes.get() + have, parts[i].iov_base, n);
    have += n;
  }
  return have == size ? made.release() : nullptr;
}

/// An instance without a key.
ddsi_serdata* untyped(const ddsi_serdata* d) {
  auto made = std::make_unique<Sample>(d->type, SDK_KEY, 0);
  made->type = nullptr;
  return made.release();
}

const ddsi_serdata_ops sample_ops = [] {
  ddsi_serdata_ops ops{};
  ops.eqkey = [](const ddsi_serdata*, const ddsi_serdata*) { return true; };
  ops.get_size = [](const ddsi_serdata* d) { return static_cast<std::uint32_t>(sample(d).size); };
  ops.from_ser = from_pieces;
  ops.from_ser_iov = from_vector;
  ops.from_keyhash = [](const ddsi_sertype* type, const ddsi_keyhash*) -> ddsi_serdata* {
    return std::make_unique<Sample>(type, SDK_KEY, 0).release();
  };
  ops.from_sample = [](const ddsi_sertype*, ddsi_serdata_kind, const void*) -> ddsi_serdata* { return nullptr; };
  ops.to_ser = [](const ddsi_serdata* d, size_t offset, size_t size, void* to) {
    std::memcpy(to, sample(d).bytes.get() + offset, size);
  };
  ops.to_ser_ref = [](const ddsi_serdata* d, size_t offset, size_t size, ddsrt_iovec_t* ref) {
    ref->iov_base = sample(d).bytes.get() + offset;
    ref->iov_len = static_cast<ddsrt_iov_len_t>(size);
    return ddsi_serdata_ref(d);
  };
  ops.to_ser_unref = [](ddsi_serdata* d, const ddsrt_iovec_t*) { ddsi_serdata_unref(d); };
  ops.to_sample = [](const ddsi_serdata*, void*, void**, void*) { return false; };
  ops.to_untyped = untyped;
  ops.untyped_to_sample = [](const ddsi_sertype*, const ddsi_serdata*, void*, void**, void*) { return true; };
  ops.free = [](ddsi_serdata* d) { delete &sample(d); };
  ops.print = [](const ddsi_sertype*, const ddsi_serdata* d, char* to, size_t room) {
    return static_cast<size_t>(std::snprintf(to, room, "%zu bytes", sample(d).size));
  };
  ops.get_keyhash = [](const ddsi_serdata*, ddsi_keyhash* to, bool) { std::memset(to, 0, sizeof *to); };
  return ops;
}();

const ddsi_sertype_ops type_ops = [] {
  ddsi_sertype_ops ops{};
  ops.version = ddsi_sertype_v0;
  ops.free = [](ddsi_sertype* type) {
    ddsi_sertype_fini(type);
    delete type;
  };
  ops.zero_samples = [](const ddsi_sertype*, void*, size_t) {};
  ops.realloc_samples = [](void**, const ddsi_sertype*, void*, size_t, size_t) {};
  ops.free_samples = [](const ddsi_sertype*, void**, size_t, dds_free_op_t) {};
  ops.equal = [](const ddsi_sertype*, const ddsi_sertype*) { return true; };
  ops.hash = [](const ddsi_sertype*) { return std::uint32_t{0}; };
  return ops;
}();

}  // namespace

RawTopic make_raw_topic(dds_entity_t participant, const std::string& name, const std::string& type) {
  auto made = std::make_unique<ddsi_sertype>();
  ddsi_sertype_init_flags(made.get(), type.c_str(), &type_ops, &sample_ops, DDSI_SERTYPE_FLAG_TOPICKIND_NO_KEY);
  made->allowed_data_representation = DDS_DATA_REPRESENTATION_FLAG_XCDR1;
  ddsi_sertype* used = made.get();
  const dds_entity_t topic = dds_create_topic_sertype(participant, name.c_str(), &used, nullptr, nullptr, nullptr);
  if (topic < 0) {
    ddsi_sertype_fini(made.get());
    good_entity(topic, "no topic " + name + " of type " + type);
  }
  (void)made.release();  // the topic's, or freed where there was one already
  return {topic, used};
}

bool write_raw(dds_entity_t writer, const RawTopic& topic, std::size_t size,
               const std::function<void(std::span<std::byte>)>& fill) {
  auto made = std::make_unique<Sample>(topic.type, SDK_DATA, size);
  fill({made->bytes.get(), size});
  made->timestamp.v = dds_time();
  made->statusinfo = 0;
  return dds_writecdr(writer, made.release()) == DDS_RETCODE_OK;
}

std::size_t take_raw(dds_entity_t reader, std::size_t most,
                     const std::function<void(std::span<const std::byte>, const dds_sample_info_t&)>& take) {
  std::array<ddsi_serdata*, at_a_time> samples{};
  std::array<dds_sample_info_t, at_a_time> infos;
  std::size_t taken = 0;
  while (taken < most) {
    const auto ask = static_cast<std::uint32_t>(std::min(at_a_time, most - taken));
    const dds_return_t count = dds_takecdr(reader, samples.data(), ask, infos.data(), DDS_ANY_STATE);
    if (count <= 0) break;
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
      if (infos[i].valid_data) take({sample(samples[i]).bytes.get(), sample(samples[i]).size}, infos[i]);
      ddsi_serdata_unref(samples[i]);
    }
    taken += static_cast<std::size_t>(count);
    if (static_cast<std::uint32_t>(count) < ask) break;
  }
  return taken;
}

}  // namespace isochron::link
