// The message types that are known without a file: name, and fields as a .msg file has them, with ; for a new line.
// Their layout is ROS 2's of Humble and later.

#include "bridge/ros2/types.hpp"

namespace isochron::ros2 {

const std::vector<Definition>& catalogue() {
  static const std::vector<Definition> all{
      {"builtin_interfaces/msg/Time", "int32 sec; uint32 nanosec"},
      {"builtin_interfaces/msg/Duration", "int32 sec; uint32 nanosec"},
      {"rosgraph_msgs/msg/Clock", "builtin_interfaces/Time clock"},

      {"std_msgs/msg/Header", "builtin_interfaces/Time stamp; string frame_id"},
      {"std_msgs/msg/Empty", ""},
      {"std_msgs/msg/Bool", "bool data"},
      {"std_msgs/msg/Byte", "byte data"},
      {"std_msgs/msg/Char", "char data"},
      {"std_msgs/msg/Int8", "int8 data"},
      {"std_msgs/msg/Int16", "int16 data"},
      {"std_msgs/msg/Int32", "int32 data"},
      {"std_msgs/msg/Int64", "int64 data"},
      {"std_msgs/msg/UInt8", "uint8 data"},
      {"std_msgs/msg/UInt16", "uint16 data"},
      {"std_msgs/msg/UInt32", "uint32 data"},
      {"std_msgs/msg/UInt64", "uint64 data"},
      {"std_msgs/msg/Float32", "float32 data"},
      {"std_msgs/msg/Float64", "float64 data"},
      {"std_msgs/msg/String", "string data"},
      {"std_msgs/msg/ColorRGBA", "float32 r; float32 g; float32 b; float32 a"},
      {"std_msgs/msg/MultiArrayDimension", "string label; uint32 size; uint32 stride"},
      {"std_msgs/msg/MultiArrayLayout", "std_msgs/MultiArrayDimension[] dim; uint32 data_offset"},
      {"std_msgs/msg/Int8MultiArray", "std_msgs/MultiArrayLayout layout; int8[] data"},
      {"std_msgs/msg/Int16MultiArray", "std_msgs/MultiArrayLayout layout; int16[] data"},
      {"std_msgs/msg/Int32MultiArray", "std_msgs/MultiArrayLayout layout; int32[] data"},
      {"std_msgs/msg/Int64MultiArray", "std_msgs/MultiArrayLayout layout; int64[] data"},
      {"std_msgs/msg/UInt8MultiArray", "std_msgs/MultiArrayLayout layout; uint8[] data"},
      {"std_msgs/msg/UInt16MultiArray", "std_msgs/MultiArrayLayout layout; uint16[] data"},
      {"std_msgs/msg/UInt32MultiArray", "std_msgs/MultiArrayLayout layout; uint32[] data"},
      {"std_msgs/msg/UInt64MultiArray", "std_msgs/MultiArrayLayout layout; uint64[] data"},
      {"std_msgs/msg/Float32MultiArray", "std_msgs/MultiArrayLayout layout; float32[] data"},
      {"std_msgs/msg/Float64MultiArray", "std_msgs/MultiArrayLayout layout; float64[] data"},

      {"geometry_msgs/msg/Vector3", "float64 x; float64 y; float64 z"},
      {"geometry_msgs/msg/Point", "float64 x; float64 y; float64 z"},
      {"geometry_msgs/msg/Point32", "float32 x; float32 y; float32 z"},
      {"geometry_msgs/msg/Quaternion", "float64 x; float64 y; float64 z; float64 w"},
      {"geometry_msgs/msg/Pose", "geometry_msgs/Point position; geometry_msgs/Quaternion orientation"},
      {"geometry_msgs/msg/Pose2D", "float64 x; float64 y; float64 theta"},
      {"geometry_msgs/msg/Twist", "geometry_msgs/Vector3 linear; geometry_msgs/Vector3 angular"},
      {"geometry_msgs/msg/Accel", "geometry_msgs/Vector3 linear; geometry_msgs/Vector3 angular"},
      {"geometry_msgs/msg/Wrench", "geometry_msgs/Vector3 force; geometry_msgs/Vector3 torque"},
      {"geometry_msgs/msg/Transform", "geometry_msgs/Vector3 translation; geometry_msgs/Quaternion rotation"},
      {"geometry_msgs/msg/PoseWithCovariance", "geometry_msgs/Pose pose; float64[36] covariance"},
      {"geometry_msgs/msg/TwistWithCovariance", "geometry_msgs/Twist twist; float64[36] covariance"},
      {"geometry_msgs/msg/AccelWithCovariance", "geometry_msgs/Accel accel; float64[36] covariance"},
      {"geometry_msgs/msg/PointStamped", "std_msgs/Header header; geometry_msgs/Point point"},
      {"geometry_msgs/msg/Vector3Stamped", "std_msgs/Header header; geometry_msgs/Vector3 vector"},
      {"geometry_msgs/msg/QuaternionStamped", "std_msgs/Header header; geometry_msgs/Quaternion quaternion"},
      {"geometry_msgs/msg/PoseStamped", "std_msgs/Header header; geometry_msgs/Pose pose"},
      {"geometry_msgs/msg/TwistStamped", "std_msgs/Header header; geometry_msgs/Twist twist"},
      {"geometry_msgs/msg/AccelStamped", "std_msgs/Header header; geometry_msgs/Accel accel"},
      {"geometry_msgs/msg/WrenchStamped", "std_msgs/Header header; geometry_msgs/Wrench wrench"},
      {"geometry_msgs/msg/TransformStamped",
       "std_msgs/Header header; string child_frame_id; geometry_msgs/Transform transform"},
      {"geometry_msgs/msg/PoseWithCovarianceStamped", "std_msgs/Header header; geometry_msgs/PoseWithCovariance pose"},
      {"geometry_msgs/msg/TwistWithCovarianceStamped",
       "std_msgs/Header header; geometry_msgs/TwistWithCovariance twist"},
      {"geometry_msgs/msg/PoseArray", "std_msgs/Header header; geometry_msgs/Pose[] poses"},
      {"geometry_msgs/msg/Polygon", "geometry_msgs/Point32[] points"},
      {"geometry_msgs/msg/PolygonStamped", "std_msgs/Header header; geometry_msgs/Polygon polygon"},

      {"sensor_msgs/msg/Imu",
       "std_msgs/Header header; geometry_msgs/Quaternion orientation; float64[9] orientation_covariance; "
       "geometry_msgs/Vector3 angular_velocity; float64[9] angular_velocity_covariance; "
       "geometry_msgs/Vector3 linear_acceleration; float64[9] linear_acceleration_covariance"},
      {"sensor_msgs/msg/MagneticField",
       "std_msgs/Header header; geometry_msgs/Vector3 magnetic_field; float64[9] magnetic_field_covariance"},
      {"sensor_msgs/msg/NavSatStatus", "int8 status; uint16 service"},
      {"sensor_msgs/msg/NavSatFix",
       "std_msgs/Header header; sensor_msgs/NavSatStatus status; float64 latitude; float64 longitude; "
       "float64 altitude; float64[9] position_covariance; uint8 position_covariance_type"},
      {"sensor_msgs/msg/Range",
       "std_msgs/Header header; uint8 radiation_type; float32 field_of_view; float32 min_range; float32 max_range; "
       "float32 range"},
      {"sensor_msgs/msg/LaserScan",
       "std_msgs/Header header; float32 angle_min; float32 angle_max; float32 angle_increment; "
       "float32 time_increment; float32 scan_time; float32 range_min; float32 range_max; float32[] ranges; "
       "float32[] intensities"},
      {"sensor_msgs/msg/PointField", "string name; uint32 offset; uint8 datatype; uint32 count"},
      {"sensor_msgs/msg/PointCloud2",
       "std_msgs/Header header; uint32 height; uint32 width; sensor_msgs/PointField[] fields; bool is_bigendian; "
       "uint32 point_step; uint32 row_step; uint8[] data; bool is_dense"},
      {"sensor_msgs/msg/Image",
       "std_msgs/Header header; uint32 height; uint32 width; string encoding; uint8 is_bigendian; uint32 step; "
       "uint8[] data"},
      {"sensor_msgs/msg/CompressedImage", "std_msgs/Header header; string format; uint8[] data"},
      {"sensor_msgs/msg/RegionOfInterest",
       "uint32 x_offset; uint32 y_offset; uint32 height; uint32 width; bool do_rectify"},
      {"sensor_msgs/msg/CameraInfo",
       "std_msgs/Header header; uint32 height; uint32 width; string distortion_model; float64[] d; float64[9] k; "
       "float64[9] r; float64[12] p; uint32 binning_x; uint32 binning_y; sensor_msgs/RegionOfInterest roi"},
      {"sensor_msgs/msg/JointState",
       "std_msgs/Header header; string[] name; float64[] position; float64[] velocity; float64[] effort"},
      {"sensor_msgs/msg/Joy", "std_msgs/Header header; float32[] axes; int32[] buttons"},
      {"sensor_msgs/msg/Temperature", "std_msgs/Header header; float64 temperature; float64 variance"},
      {"sensor_msgs/msg/FluidPressure", "std_msgs/Header header; float64 fluid_pressure; float64 variance"},
      {"sensor_msgs/msg/BatteryState",
       "std_msgs/Header header; float32 voltage; float32 temperature; float32 current; float32 charge; "
       "float32 capacity; float32 design_capacity; float32 percentage; uint8 power_supply_status; "
       "uint8 power_supply_health; uint8 power_supply_technology; bool present; float32[] cell_voltage; "
       "float32[] cell_temperature; string location; string serial_number"},

      {"nav_msgs/msg/Odometry",
       "std_msgs/Header header; string child_frame_id; geometry_msgs/PoseWithCovariance pose; "
       "geometry_msgs/TwistWithCovariance twist"},
      {"nav_msgs/msg/Path", "std_msgs/Header header; geometry_msgs/PoseStamped[] poses"},
      {"nav_msgs/msg/MapMetaData",
       "builtin_interfaces/Time map_load_time; float32 resolution; uint32 width; uint32 height; "
       "geometry_msgs/Pose origin"},
      {"nav_msgs/msg/OccupancyGrid", "std_msgs/Header header; nav_msgs/MapMetaData info; int8[] data"},
      {"tf2_msgs/msg/TFMessage", "geometry_msgs/TransformStamped[] transforms"},
      {"trajectory_msgs/msg/JointTrajectoryPoint",
       "float64[] positions; float64[] velocities; float64[] accelerations; float64[] effort; "
       "builtin_interfaces/Duration time_from_start"},
      {"trajectory_msgs/msg/JointTrajectory",
       "std_msgs/Header header; string[] joint_names; trajectory_msgs/JointTrajectoryPoint[] points"},

      {"rcl_interfaces/msg/Log",
       "builtin_interfaces/Time stamp; uint8 level; string name; string msg; string file; string function; "
       "uint32 line"},
  };
  return all;
}

}  // namespace isochron::ros2
