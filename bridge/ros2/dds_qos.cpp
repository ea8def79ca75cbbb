#include "bridge/ros2/dds_qos.hpp"

namespace isochron::ros2 {
namespace {

constexpr dds_duration_t may_block = DDS_MSECS(100);  // a reliable writer whose reader is slow
constexpr std::int32_t most_kept = 10'000;            // where all are kept

}  // namespace

link::DdsQos dds_qos(const Qos& qos) {
  link::DdsQos out(dds_create_qos());
  dds_qset_reliability(out.get(), qos.reliable ? DDS_RELIABILITY_RELIABLE : DDS_RELIABILITY_BEST_EFFORT, may_block);
  dds_qset_durability(out.get(), qos.transient_local ? DDS_DURABILITY_TRANSIENT_LOCAL : DDS_DURABILITY_VOLATILE);
  const auto depth = static_cast<std::int32_t>(qos.depth);
  const dds_history_kind_t kept = depth == 0 ? DDS_HISTORY_KEEP_ALL : DDS_HISTORY_KEEP_LAST;
  dds_qset_history(out.get(), kept, depth == 0 ? 1 : depth);
  if (depth == 0) dds_qset_resource_limits(out.get(), most_kept, DDS_LENGTH_UNLIMITED, DDS_LENGTH_UNLIMITED);
  if (qos.transient_local) {
    dds_qset_durability_service(out.get(), 0, kept, depth == 0 ? DDS_LENGTH_UNLIMITED : depth, DDS_LENGTH_UNLIMITED,
                                DDS_LENGTH_UNLIMITED, DDS_LENGTH_UNLIMITED);
  }
  if (qos.deadline > WallSpan::zero()) dds_qset_deadline(out.get(), qos.deadline.ns());
  dds_qset_writer_data_lifecycle(out.get(), false);
  return out;
}

Qos qos_of(const dds_qos_t* qos) {
  Qos out;
  dds_reliability_kind_t reliable = DDS_RELIABILITY_BEST_EFFORT;
  dds_durability_kind_t durable = DDS_DURABILITY_VOLATILE;
  dds_history_kind_t kept = DDS_HISTORY_KEEP_LAST;
  dds_duration_t block = 0, deadline = DDS_INFINITY;
  std::int32_t depth = 0;
  if (dds_qget_reliability(qos, &reliable, &block)) out.reliable = reliable == DDS_RELIABILITY_RELIABLE;
  if (dds_qget_durability(qos, &durable)) out.transient_local = durable != DDS_DURABILITY_VOLATILE;
  if (dds_qget_history(qos, &kept, &depth))
    out.depth = kept == DDS_HISTORY_KEEP_ALL ? 0 : static_cast<std::uint32_t>(depth);
  if (dds_qget_deadline(qos, &deadline) && deadline != DDS_INFINITY) out.deadline = WallSpan::from_ns(deadline);
  return out;
}

}  // namespace isochron::ros2
