#include "tasks/tracker.hpp"

#include <gtest/gtest.h>

#include <opencv2/imgproc.hpp>

namespace isochron::tasks {
namespace {

cv::Mat picture_with_board(cv::Point centre, cv::Size size, cv::Scalar rgb) {
  cv::Mat picture(240, 320, CV_8UC3, cv::Scalar(200, 195, 180));
  const cv::Rect board(centre.x - size.width / 2, centre.y - size.height / 2, size.width, size.height);
  cv::rectangle(picture, board, rgb, cv::FILLED);
  return picture;
}

TEST(AnchorTracker, FindsABoardOfItsColourWhereverItIs) {
  for (const int x : {20, 160, 299}) {
    AnchorTracker tracker(Anchor{});
    const auto found = tracker.follow(picture_with_board({x, 130}, {30, 20}, {230, 13, 13}));
    ASSERT_TRUE(found) << x;
    EXPECT_NEAR(found->centre.x, x, 3);
    EXPECT_NEAR(found->centre.y, 130, 3);
    EXPECT_NEAR(found->width / 1.1547, 30, 5);
    EXPECT_NEAR(found->height / 1.1547, 20, 5);
  }
}

TEST(AnchorTracker, FollowsItAndSaysByHowMuchItMoved) {
  AnchorTracker tracker(Anchor{});
  tracker.follow(picture_with_board({100, 120}, {30, 20}, {230, 13, 13}));
  EXPECT_GT(tracker.moved(), 1e6) << "one picture says nothing";
  tracker.follow(picture_with_board({110, 120}, {30, 20}, {230, 13, 13}));
  EXPECT_NEAR(tracker.moved(), 10, 2);
}

TEST(AnchorTracker, SeesNothingWhereThereIsNothingOfItsColour) {
  AnchorTracker tracker(Anchor{});
  EXPECT_FALSE(tracker.follow(picture_with_board({100, 120}, {30, 20}, {20, 30, 230})));
  EXPECT_FALSE(tracker.follow(cv::Mat(240, 320, CV_8UC3, cv::Scalar(128, 128, 128))));
}

}  // namespace
}  // namespace isochron::tasks
