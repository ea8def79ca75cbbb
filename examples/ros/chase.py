#!/usr/bin/python3
"""An ordinary ROS node: pushes the predator towards the prey. Knows topics and its clock (use_sim_time), nothing else."""
import rospy
from geometry_msgs.msg import PoseStamped, Wrench
from nav_msgs.msg import Odometry

prey = None


def saw_prey(message):
    global prey
    prey = message.pose.position


def saw_self(message):
    if prey is None:
        return
    here, speed = message.pose.pose.position, message.twist.twist.linear
    push = Wrench()
    push.force.x = (prey.x - here.x) - 2 * speed.x
    push.force.y = (prey.y - here.y) - 2 * speed.y
    push.force.z = (prey.z - here.z) - 2 * speed.z
    wrench.publish(push)


rospy.init_node("chase")
wrench = rospy.Publisher("/predator/push", Wrench, queue_size=10)
rospy.Subscriber("/prey/pose", PoseStamped, saw_prey)
rospy.Subscriber("/predator/odom", Odometry, saw_self)
rospy.Timer(rospy.Duration(1), lambda _: rospy.loginfo("it is %.1f s in the simulated world", rospy.get_time()))
rospy.spin()
