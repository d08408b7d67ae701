#include "residua/reconstruct/closest_sets.h"

#include <algorithm>
#include <utility>

#include "residua/model/closure.h"

namespace residua {
namespace {

class ClosestSearch {
 public:
  ClosestSearch(const AttributeClasses& classes, const AttributeSet& set, int limit)
      : limit_(static_cast<size_t>(std::max(limit, 0))),
        in_class_(static_cast<size_t>(classes.size())) {
    for (const int i : set) {
      in_class_[static_cast<size_t>(classes.class_of[static_cast<size_t>(i)])].push_back(i);
    }
  }

  std::vector<AttributeSet> Search(const MultisetTable& orbits) {
    std::vector<int64_t> within;
    for (int64_t k = 0; k < orbits.size(); ++k) {
      if (FitsWithin(orbits[k])) within.push_back(k);
    }
    std::stable_sort(within.begin(), within.end(),
                     [&](int64_t a, int64_t b) { return orbits[a].size() > orbits[b].size(); });
    for (const int64_t k : within) {
      runs_ = ClassRuns(orbits[k]);
      if (!Extend(0, 0)) break;
    }
    return std::move(found_);
  }

 private:
  bool FitsWithin(std::span<const int> orbit) const {
    for (size_t begin = 0; begin < orbit.size();) {
      size_t end = begin;
      while (end < orbit.size() && orbit[end] == orbit[begin]) ++end;
      if (end - begin > in_class_[static_cast<size_t>(orbit[begin])].size()) return false;
      begin = end;
    }
    return true;
  }

  // Chooses the attributes of runs_[run], from place `next` among the set's attributes of that
  // class on. False once the limit is reached.
  bool Extend(size_t run, size_t next) {
    if (found_.size() >= limit_) return false;
    if (run == runs_.size()) {
      AttributeSet set = chosen_;
      std::sort(set.begin(), set.end());
      const bool is_maximal =
          std::none_of(found_.begin(), found_.end(),
                       [&](const AttributeSet& larger) { return IsSubset(set, larger); });
      if (is_maximal) found_.push_back(std::move(set));
      return true;
    }
    const auto& places = in_class_[static_cast<size_t>(runs_[run].attribute_class)];
    int& left = runs_[run].count;
    if (left == 0) return Extend(run + 1, 0);
    for (size_t place = next; place + static_cast<size_t>(left) <= places.size(); ++place) {
      chosen_.push_back(places[place]);
      --left;
      const bool go_on = Extend(run, place + 1);
      ++left;
      chosen_.pop_back();
      if (!go_on) return false;
    }
    return true;
  }

  size_t limit_;
  std::vector<std::vector<int>> in_class_;  // the set's attributes of each class
  std::vector<ClassRun> runs_;
  AttributeSet chosen_;
  std::vector<AttributeSet> found_;
};

}  // namespace

std::vector<AttributeSet> ClosestMeasured(const Plan& plan, const AttributeSet& set, int limit) {
  return ClosestSearch(plan.classes, set, limit).Search(plan.mechanisms);
}

std::vector<AttributeSet> ClosestMeasured(const ResidualIndex& index, const AttributeSet& set,
                                          int limit) {
  return ClosestSearch(TrivialClasses(index.domain()), set, limit).Search(index.sets());
}

}  // namespace residua
