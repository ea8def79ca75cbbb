#!/usr/bin/env python3
"""The same node as driver.c for where ROS 2 is installed: drives ahead and turns away from what the LiDAR sees near.
It knows topics and its clock (use_sim_time), nothing of Isochron."""
import math

import rclpy
from geometry_msgs.msg import Twist
from rclpy.node import Node
from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import LaserScan


class Driver(Node):
    def __init__(self):
        super().__init__("driver")
        self.command = self.create_publisher(Twist, "/cmd_vel", 10)
        self.create_subscription(LaserScan, "/scan", self.saw, qos_profile_sensor_data)

    def saw(self, scan):
        nearest, side = math.inf, 1.0
        for i, distance in enumerate(scan.ranges):
            angle = scan.angle_min + i * scan.angle_increment
            if abs(angle) <= 0.6 and distance < nearest:
                nearest, side = distance, angle
        twist = Twist()
        twist.linear.x = 0.4 if nearest >= 1.2 else 0.1
        twist.angular.z = 0.0 if nearest >= 1.2 else math.copysign(0.8, -side)
        self.command.publish(twist)


rclpy.init()
rclpy.spin(Driver())
