#pragma once
// Requests and answers of the services that a run offers to nodes of ROS 2, in their layouts: std_srvs,
// simulation_interfaces, rcl_interfaces. A message without fields has the one byte that ROS 2 gives it.

#include "msg/ros_command_messages.hpp"

namespace isochron::std_srvs {

struct EmptyRequest {
  std::uint8_t structure_needs_at_least_one_member = 0;
};
ISOCHRON_MESSAGE(EmptyRequest, "std_srvs/srv/Empty_Request", structure_needs_at_least_one_member)

struct TriggerResponse {
  bool success = true;
  std::string message;
};
ISOCHRON_MESSAGE(TriggerResponse, "std_srvs/srv/Trigger_Response", success, message)

}  // namespace isochron::std_srvs

namespace isochron::rosgraph_msgs {

struct Clock {
  SimTime clock;
};
ISOCHRON_MESSAGE(Clock, "rosgraph_msgs/msg/Clock", clock)

}  // namespace isochron::rosgraph_msgs

namespace isochron::sensor_msgs {

struct RegionOfInterest {
  std::uint32_t x_offset = 0, y_offset = 0, height = 0, width = 0;
  bool do_rectify = false;
};
ISOCHRON_MESSAGE(RegionOfInterest, "sensor_msgs/msg/RegionOfInterest", x_offset, y_offset, height, width, do_rectify)

struct CameraInfo {
  std_msgs::Header header;
  std::uint32_t height = 0, width = 0;
  std::string distortion_model;
  std::vector<double> d;
  std::array<double, 9> k{};
  std::array<double, 9> r{};
  std::array<double, 12> p{};
  std::uint32_t binning_x = 0, binning_y = 0;
  RegionOfInterest roi;
};
ISOCHRON_MESSAGE(CameraInfo, "sensor_msgs/msg/CameraInfo", header, height, width, distortion_model, d, k, r, p,
                 binning_x, binning_y, roi)

}  // namespace isochron::sensor_msgs

namespace isochron::simulation_interfaces {

struct Result {
  enum : std::uint8_t { unsupported = 0, ok = 1, not_found = 2, incorrect_state = 3, failed = 4 };
  std::uint8_t result = ok;
  std::string error_message;
};
ISOCHRON_MESSAGE(Result, "simulation_interfaces/msg/Result", result, error_message)

struct SimulationState {
  enum : std::uint8_t { stopped = 0, playing = 1, paused = 2, quitting = 3 };
  std::uint8_t state = playing;
};
ISOCHRON_MESSAGE(SimulationState, "simulation_interfaces/msg/SimulationState", state)

struct GetSimulationStateResponse {
  SimulationState state;
  Result result;
};
ISOCHRON_MESSAGE(GetSimulationStateResponse, "simulation_interfaces/srv/GetSimulationState_Response", state, result)

struct SetSimulationStateRequest {
  SimulationState state;
};
ISOCHRON_MESSAGE(SetSimulationStateRequest, "simulation_interfaces/srv/SetSimulationState_Request", state)

/// Of all services that only say whether it was done.
struct ResultResponse {
  Result result;
};
ISOCHRON_MESSAGE(ResultResponse, "simulation_interfaces/srv/SetSimulationState_Response", result)

struct StepSimulationRequest {
  std::uint64_t steps = 1;
};
ISOCHRON_MESSAGE(StepSimulationRequest, "simulation_interfaces/srv/StepSimulation_Request", steps)

struct ResetSimulationRequest {
  std::uint8_t scope = 0;
};
ISOCHRON_MESSAGE(ResetSimulationRequest, "simulation_interfaces/srv/ResetSimulation_Request", scope)

struct SimulatorFeatures {
  std::vector<std::uint16_t> features;
  std::vector<std::string> spawn_formats;
  std::string custom_info;
};
ISOCHRON_MESSAGE(SimulatorFeatures, "simulation_interfaces/msg/SimulatorFeatures", features, spawn_formats, custom_info)

struct GetSimulatorFeaturesResponse {
  SimulatorFeatures features;
};
ISOCHRON_MESSAGE(GetSimulatorFeaturesResponse, "simulation_interfaces/srv/GetSimulatorFeatures_Response", features)

struct EntityCategory {
  std::uint8_t category = 0;
};
ISOCHRON_MESSAGE(EntityCategory, "simulation_interfaces/msg/EntityCategory", category)

struct TagsFilter {
  std::vector<std::string> tags;
  std::uint8_t filter_mode = 0;
};
ISOCHRON_MESSAGE(TagsFilter, "simulation_interfaces/msg/TagsFilter", tags, filter_mode)

struct Bounds {
  std::uint8_t type = 0;
  std::vector<geometry_msgs::Vector3> points;
};
ISOCHRON_MESSAGE(Bounds, "simulation_interfaces/msg/Bounds", type, points)

struct GetEntitiesRequest {
  std::string filter;
  std::vector<EntityCategory> categories;
  TagsFilter tags;
  Bounds bounds;
};
ISOCHRON_MESSAGE(GetEntitiesRequest, "simulation_interfaces/srv/GetEntities_Request", filter, categories, tags, bounds)

struct GetEntitiesResponse {
  Result result;
  std::vector<std::string> entities;
};
ISOCHRON_MESSAGE(GetEntitiesResponse, "simulation_interfaces/srv/GetEntities_Response", result, entities)

struct GetEntityStateRequest {
  std::string entity;
};
ISOCHRON_MESSAGE(GetEntityStateRequest, "simulation_interfaces/srv/GetEntityState_Request", entity)

struct EntityState {
  std_msgs::Header header;
  geometry_msgs::Pose pose;
  geometry_msgs::Twist twist;
  geometry_msgs::Twist acceleration;  // an Accel has the same fields
};
ISOCHRON_MESSAGE(EntityState, "simulation_interfaces/msg/EntityState", header, pose, twist, acceleration)

struct GetEntityStateResponse {
  Result result;
  EntityState state;
};
ISOCHRON_MESSAGE(GetEntityStateResponse, "simulation_interfaces/srv/GetEntityState_Response", result, state)

}  // namespace isochron::simulation_interfaces

namespace isochron::rcl_interfaces {

struct ParameterValue {
  enum : std::uint8_t { not_set = 0, boolean = 1 };
  std::uint8_t type = not_set;
  bool bool_value = false;
  std::int64_t integer_value = 0;
  double double_value = 0;
  std::string string_value;
  std::vector<std::uint8_t> byte_array_value;
  std::vector<std::uint8_t> bool_array_value;  // a byte for each
  std::vector<std::int64_t> integer_array_value;
  std::vector<double> double_array_value;
  std::vector<std::string> string_array_value;
};
ISOCHRON_MESSAGE(ParameterValue, "rcl_interfaces/msg/ParameterValue", type, bool_value, integer_value, double_value,
                 string_value, byte_array_value, bool_array_value, integer_array_value, double_array_value,
                 string_array_value)

struct Parameter {
  std::string name;
  ParameterValue value;
};
ISOCHRON_MESSAGE(Parameter, "rcl_interfaces/msg/Parameter", name, value)

struct SetParametersRequest {
  std::vector<Parameter> parameters;
};
ISOCHRON_MESSAGE(SetParametersRequest, "rcl_interfaces/srv/SetParameters_Request", parameters)

struct SetParametersResult {
  bool successful = false;
  std::string reason;
};
ISOCHRON_MESSAGE(SetParametersResult, "rcl_interfaces/msg/SetParametersResult", successful, reason)

struct SetParametersResponse {
  std::vector<SetParametersResult> results;
};
ISOCHRON_MESSAGE(SetParametersResponse, "rcl_interfaces/srv/SetParameters_Response", results)

/// Of all services that are asked about parameters by their names.
struct NamesRequest {
  std::vector<std::string> names;
};
ISOCHRON_MESSAGE(NamesRequest, "rcl_interfaces/srv/GetParameters_Request", names)

struct GetParametersResponse {
  std::vector<ParameterValue> values;
};
ISOCHRON_MESSAGE(GetParametersResponse, "rcl_interfaces/srv/GetParameters_Response", values)

struct GetParameterTypesResponse {
  std::vector<std::uint8_t> types;
};
ISOCHRON_MESSAGE(GetParameterTypesResponse, "rcl_interfaces/srv/GetParameterTypes_Response", types)

struct ListParametersRequest {
  std::vector<std::string> prefixes;
  std::uint64_t depth = 0;
};
ISOCHRON_MESSAGE(ListParametersRequest, "rcl_interfaces/srv/ListParameters_Request", prefixes, depth)

struct ListParametersResponse {
  std::vector<std::string> names, prefixes;
};
ISOCHRON_MESSAGE(ListParametersResponse, "rcl_interfaces/srv/ListParameters_Response", names, prefixes)

struct ParameterDescriptor {
  std::string name;
  std::uint8_t type = 0;
  std::string description, additional_constraints;
  bool read_only = false, dynamic_typing = false;
  std::vector<double> floating_point_range;  // three numbers for each; ours are empty
  std::vector<std::int64_t> integer_range;
};
ISOCHRON_MESSAGE(ParameterDescriptor, "rcl_interfaces/msg/ParameterDescriptor", name, type, description,
                 additional_constraints, read_only, dynamic_typing, floating_point_range, integer_range)

struct DescribeParametersResponse {
  std::vector<ParameterDescriptor> descriptors;
};
ISOCHRON_MESSAGE(DescribeParametersResponse, "rcl_interfaces/srv/DescribeParameters_Response", descriptors)

}  // namespace isochron::rcl_interfaces
