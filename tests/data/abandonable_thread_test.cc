#include "residua/data/database/abandonable_thread.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <memory>
#include <stdexcept>
#include <thread>

namespace residua {
namespace {

using std::chrono::milliseconds;

TEST(AbandonableThread, RunsCallsOneAfterAnother) {
  AbandonableThread thread;
  int calls = 0;
  for (int k = 0; k < 1000; ++k) EXPECT_TRUE(thread.Run([&] { ++calls; }));
  EXPECT_EQ(calls, 1000);
  EXPECT_THROW(thread.Run([] { throw std::runtime_error("no"); }), std::runtime_error);
  EXPECT_TRUE(thread.Run([&] { ++calls; }));
}

TEST(AbandonableThread, UrgesACallUntilItReturns) {
  AbandonableThread thread;
  std::promise<void> urged;
  std::promise<void> started;
  std::thread other([&] {
    started.get_future().wait();
    int urges = 0;
    thread.Abandon(
        [&] {
          if (++urges == 2) urged.set_value();
        },
        milliseconds(60'000));
    EXPECT_EQ(urges, 2);
  });
  EXPECT_TRUE(thread.Run([&] {
    started.set_value();
    urged.get_future().wait();
  }));
  other.join();
  EXPECT_FALSE(thread.Run([] { ADD_FAILURE() << "it was to stop"; }));
}

TEST(AbandonableThread, DoesNotWaitForACallThatWasAbandoned) {
  const auto end = std::make_shared<std::promise<void>>();
  const auto has_ended = std::make_shared<std::promise<void>>();
  {
    AbandonableThread thread;
    std::thread other([&] {
      std::this_thread::sleep_for(milliseconds(50));
      thread.Abandon([] {}, milliseconds(100));
    });
    EXPECT_FALSE(thread.Run([end, has_ended] {
      end->get_future().wait();
      has_ended->set_value();
    }));
    other.join();
  }
  end->set_value();
  has_ended->get_future().wait();
}

TEST(AbandonableThread, RunAtMostGivesUp) {
  EXPECT_TRUE(RunAtMost(milliseconds(60'000), [] {}));
  const auto end = std::make_shared<std::promise<void>>();
  EXPECT_FALSE(RunAtMost(milliseconds(10), [end] { end->get_future().wait(); }));
  end->set_value();
}

}  // namespace
}  // namespace residua
