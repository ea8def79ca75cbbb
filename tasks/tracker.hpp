#pragma once
// Finds a thing of one colour in pictures and follows it: a histogram of hues, its back projection, and CamShift from
// where the thing was last (Bradski 1998; paper 003, Algorithm 2).
//
// Threads: owner thread. Cost: some milliseconds of computing for each picture; that is what tasks test.

#include <optional>

#include <opencv2/core.hpp>

namespace isochron::tasks {

/// A coloured board of known size.
struct Anchor {
  cv::Scalar rgb{230, 13, 13};
  double width = 0.6;   // m
  double height = 0.4;  // m
};

/// Where it is in the picture, in pixels.
struct Region {
  cv::Point2d centre;
  double width = 0, height = 0;
};

class AnchorTracker {
 public:
  explicit AnchorTracker(const Anchor& anchor);
  /// Follows it into the next picture (rgb8); nothing: it is not to be seen.
  std::optional<Region> follow(const cv::Mat& picture);
  /// By how much the centre moved between the last two pictures, pixels; large before the second.
  [[nodiscard]] double moved() const { return moved_; }
  void forget();

 private:
  cv::Mat histogram_;
  cv::Rect window_;
  cv::Point2d last_;
  double moved_ = 1e9;
  // Kept between pictures, to allocate once.
  cv::Mat hsv_, mask_, hue_, likely_;
};

}  // namespace isochron::tasks
