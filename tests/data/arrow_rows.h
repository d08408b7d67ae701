#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "residua/data/arrow_stream.h"

namespace residua {

// Columns of whole numbers as an Arrow stream of one batch, which counts what is not yet released.
// The last column may say that it is of another Arrow type; then it cannot be read.
class ArrowRows {
 public:
  using Column = std::pair<std::string, std::vector<int64_t>>;

  explicit ArrowRows(std::vector<Column> columns, const char* last_format = "l")
      : columns_(std::move(columns)), last_format_(last_format) {
    stream_ = {[](ArrowArrayStream* stream, ArrowSchema* out) {
                 static_cast<ArrowRows*>(stream->private_data)->PutSchema(out);
                 return 0;
               },
               [](ArrowArrayStream* stream, ArrowArray* out) {
                 static_cast<ArrowRows*>(stream->private_data)->PutNext(out);
                 return 0;
               },
               [](ArrowArrayStream*) { return "nothing failed"; }, [](ArrowArrayStream*) {}, this};
  }
  ArrowRows(const ArrowRows&) = delete;
  ArrowRows& operator=(const ArrowRows&) = delete;

  ArrowArrayStream* stream() { return &stream_; }
  // Batches and schemas handed out and not released, their columns included.
  int num_held() const { return num_held_; }

 private:
  template <typename Item>
  struct Held {
    ArrowRows* rows;
    std::vector<Item> children;
    std::vector<Item*> pointers;
    std::vector<std::vector<const void*>> buffers;
    const void* no_buffer = nullptr;
  };

  template <typename Item>
  static void ReleaseChild(Item* item) {
    --*static_cast<int*>(item->private_data);
    item->release = nullptr;
  }

  template <typename Item>
  static void ReleaseAll(Item* item) {
    const std::unique_ptr<Held<Item>> held(static_cast<Held<Item>*>(item->private_data));
    for (Item& child : held->children) {
      if (child.release != nullptr) child.release(&child);
    }
    --held->rows->num_held_;
    item->release = nullptr;
  }

  template <typename Item>
  Held<Item>* Hold() {
    num_held_ += static_cast<int>(columns_.size()) + 1;
    auto* held = new Held<Item>{this, std::vector<Item>(columns_.size()), {}, {}, nullptr};
    for (Item& child : held->children) {
      child = {};
      child.release = &ReleaseChild<Item>;
      child.private_data = &num_held_;
      held->pointers.push_back(&child);
    }
    return held;
  }

  void PutSchema(ArrowSchema* out) {
    auto* held = Hold<ArrowSchema>();
    for (size_t k = 0; k < columns_.size(); ++k) {
      held->children[k].format = k + 1 < columns_.size() ? "l" : last_format_;
      held->children[k].name = columns_[k].first.c_str();
      held->children[k].flags = 2;  // nullable
    }
    *out = {};
    out->format = "+s";
    out->name = "";
    out->n_children = static_cast<int64_t>(columns_.size());
    out->children = held->pointers.data();
    out->release = &ReleaseAll<ArrowSchema>;
    out->private_data = held;
  }

  void PutNext(ArrowArray* out) {
    *out = {};
    if (std::exchange(is_read_, true)) return;
    auto* held = Hold<ArrowArray>();
    for (const Column& column : columns_) held->buffers.push_back({nullptr, column.second.data()});
    const auto length = static_cast<int64_t>(columns_.front().second.size());
    for (size_t k = 0; k < columns_.size(); ++k) {
      held->children[k].length = length;
      held->children[k].n_buffers = 2;
      held->children[k].buffers = held->buffers[k].data();
    }
    out->length = length;
    out->n_buffers = 1;
    out->buffers = &held->no_buffer;
    out->n_children = static_cast<int64_t>(columns_.size());
    out->children = held->pointers.data();
    out->release = &ReleaseAll<ArrowArray>;
    out->private_data = held;
  }

  std::vector<Column> columns_;
  const char* last_format_;
  ArrowArrayStream stream_ = {};
  int num_held_ = 0;
  bool is_read_ = false;
};

}  // namespace residua
