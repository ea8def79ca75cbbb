#include "tasks/tracker.hpp"

#include <cmath>
#include <opencv2/imgproc.hpp>
#include <opencv2/video/tracking.hpp>

namespace isochron::tasks {
namespace {

constexpr int bins = 30;
constexpr double least_pixels = 12;

/// The histogram of a thing of one colour: its hue, and a little of those beside it.
cv::Mat histogram_of(const cv::Scalar& rgb) {
  cv::Mat pixel(1, 1, CV_8UC3, rgb), hsv;
  cv::cvtColor(pixel, hsv, cv::COLOR_RGB2HSV);
  const int hue = hsv.at<cv::Vec3b>(0, 0)[0];
  cv::Mat histogram = cv::Mat::zeros(bins, 1, CV_32F);
  const int bin = hue * bins / 180;
  histogram.at<float>(bin) = 255;
  histogram.at<float>((bin + 1) % bins) = 100;
  histogram.at<float>((bin + bins - 1) % bins) = 100;
  return histogram;
}

}  // namespace

AnchorTracker::AnchorTracker(const Anchor& anchor) : histogram_(histogram_of(anchor.rgb)) {}

void AnchorTracker::forget() {
  window_ = {};
  moved_ = 1e9;
}

std::optional<Region> AnchorTracker::follow(const cv::Mat& picture) {
  cv::cvtColor(picture, hsv_, cv::COLOR_RGB2HSV);
  // Grey walls have no hue worth the name.
  cv::inRange(hsv_, cv::Scalar(0, 110, 50), cv::Scalar(180, 255, 255), mask_);
  hue_.create(hsv_.size(), CV_8UC1);
  const int channels[] = {0, 0};
  cv::mixChannels(&hsv_, 1, &hue_, 1, channels, 1);
  const float range[] = {0, 180};
  const float* ranges = range;
  const int channel = 0;
  cv::calcBackProject(&hue_, 1, &channel, histogram_, likely_, &ranges);
  likely_ &= mask_;
  if (cv::countNonZero(likely_) < least_pixels) {
    forget();
    return std::nullopt;
  }
  // A small thing that moved out of the window since is looked for everywhere.
  if (window_.area() <= 1 || cv::countNonZero(likely_(window_)) < least_pixels) window_ = cv::Rect({}, picture.size());
  const cv::RotatedRect box =
      cv::CamShift(likely_, window_, cv::TermCriteria(cv::TermCriteria::EPS | cv::TermCriteria::COUNT, 20, 0.5));
  if (window_.area() <= 1 || box.size.width < 1 || box.size.height < 1) {
    forget();
    return std::nullopt;
  }
  const cv::Point2d centre = box.center;
  moved_ = moved_ > 1e8 ? 1e8 : std::hypot(centre.x - last_.x, centre.y - last_.y);
  last_ = centre;
  // CamShift's box comes from moments: its long side is that of the board, which lies across.
  return Region{centre, std::max<double>(box.size.width, box.size.height),
                std::min<double>(box.size.width, box.size.height)};
}

}  // namespace isochron::tasks
