#pragma once
// The bodies of a world as Foxglove's 3D panel draws them: a SceneUpdate with one entity for each body, fixed to the
// frame that /tf moves. Written once at the start of a journal, it makes the file show its own world, without the
// model: in Foxglove, in Lichtblick and in `isochron view`. Fields and their order are those of foxglove_msgs.

#include <cstdint>
#include <string>
#include <vector>

#include "core/message.hpp"
#include "msg/ros_messages.hpp"
#include "world/engine.hpp"

namespace isochron::scene {

struct Duration {
  std::int32_t sec = 0;
  std::uint32_t nanosec = 0;
};
ISOCHRON_MESSAGE(Duration, "builtin_interfaces/msg/Duration", sec, nanosec)

using geometry_msgs::Point;
using geometry_msgs::Pose;
using geometry_msgs::Quaternion;
using geometry_msgs::Vector3;

struct Color {
  double r = 0, g = 0, b = 0, a = 1;
};
ISOCHRON_MESSAGE(Color, "foxglove_msgs/msg/Color", r, g, b, a)

struct KeyValuePair {
  std::string key, value;
};
ISOCHRON_MESSAGE(KeyValuePair, "foxglove_msgs/msg/KeyValuePair", key, value)

struct ArrowPrimitive {
  Pose pose;
  double shaft_length = 0, shaft_diameter = 0, head_length = 0, head_diameter = 0;
  Color color;
};
ISOCHRON_MESSAGE(ArrowPrimitive, "foxglove_msgs/msg/ArrowPrimitive", pose, shaft_length, shaft_diameter, head_length,
                 head_diameter, color)

struct CubePrimitive {
  Pose pose;
  Vector3 size;
  Color color;
};
ISOCHRON_MESSAGE(CubePrimitive, "foxglove_msgs/msg/CubePrimitive", pose, size, color)

struct SpherePrimitive {
  Pose pose;
  Vector3 size;
  Color color;
};
ISOCHRON_MESSAGE(SpherePrimitive, "foxglove_msgs/msg/SpherePrimitive", pose, size, color)

struct CylinderPrimitive {
  Pose pose;
  Vector3 size;
  double bottom_scale = 1, top_scale = 1;
  Color color;
};
ISOCHRON_MESSAGE(CylinderPrimitive, "foxglove_msgs/msg/CylinderPrimitive", pose, size, bottom_scale, top_scale, color)

struct LinePrimitive {
  std::uint8_t type = 0;
  Pose pose;
  double thickness = 0;
  bool scale_invariant = false;
  std::vector<Point> points;
  Color color;
  std::vector<Color> colors;
  std::vector<std::uint32_t> indices;
};
ISOCHRON_MESSAGE(LinePrimitive, "foxglove_msgs/msg/LinePrimitive", type, pose, thickness, scale_invariant, points,
                 color, colors, indices)

struct TriangleListPrimitive {
  Pose pose;
  std::vector<Point> points;
  Color color;
  std::vector<Color> colors;
  std::vector<std::uint32_t> indices;
};
ISOCHRON_MESSAGE(TriangleListPrimitive, "foxglove_msgs/msg/TriangleListPrimitive", pose, points, color, colors, indices)

struct TextPrimitive {
  Pose pose;
  bool billboard = true;
  double font_size = 0;
  bool scale_invariant = false;
  Color color;
  std::string text;
};
ISOCHRON_MESSAGE(TextPrimitive, "foxglove_msgs/msg/TextPrimitive", pose, billboard, font_size, scale_invariant, color,
                 text)

struct ModelPrimitive {
  Pose pose;
  Vector3 scale;
  Color color;
  bool override_color = false;
  std::string url, media_type;
  std::vector<std::uint8_t> data;
};
ISOCHRON_MESSAGE(ModelPrimitive, "foxglove_msgs/msg/ModelPrimitive", pose, scale, color, override_color, url,
                 media_type, data)

struct SceneEntityDeletion {
  SimTime timestamp;
  std::uint8_t type = 0;
  std::string id;
};
ISOCHRON_MESSAGE(SceneEntityDeletion, "foxglove_msgs/msg/SceneEntityDeletion", timestamp, type, id)

struct SceneEntity {
  SimTime timestamp;
  std::string frame_id, id;
  Duration lifetime;
  bool frame_locked = true;
  std::vector<KeyValuePair> metadata;
  std::vector<ArrowPrimitive> arrows;
  std::vector<CubePrimitive> cubes;
  std::vector<SpherePrimitive> spheres;
  std::vector<CylinderPrimitive> cylinders;
  std::vector<LinePrimitive> lines;
  std::vector<TriangleListPrimitive> triangles;
  std::vector<TextPrimitive> texts;
  std::vector<ModelPrimitive> models;
};
ISOCHRON_MESSAGE(SceneEntity, "foxglove_msgs/msg/SceneEntity", timestamp, frame_id, id, lifetime, frame_locked,
                 metadata, arrows, cubes, spheres, cylinders, lines, triangles, texts, models)

struct SceneUpdate {
  std::vector<SceneEntityDeletion> deletions;
  std::vector<SceneEntity> entities;
};
ISOCHRON_MESSAGE(SceneUpdate, "foxglove_msgs/msg/SceneUpdate", deletions, entities)

/// Everything there is to see, one entity for each body that has a shape. Capsules are a cylinder and two spheres;
/// planes without an edge are drawn 100 m wide.
SceneUpdate describe_scene(const world::Engine& engine);
/// The same as it is recorded: without the meshes of a model that has very large ones.
SceneUpdate scene_for_journal(const world::Engine& engine);

}  // namespace isochron::scene
