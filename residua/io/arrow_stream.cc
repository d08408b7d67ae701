#include "residua/io/arrow_stream.h"

#include <memory>
#include <string_view>
#include <utility>

#include "residua/base/error.h"

namespace residua {
namespace {

// What a projected schema or array keeps alive: the whole one, and the pointers to chosen children.
// Whoever takes a child out of it marks it as released, which the whole one's release respects.
template <typename Whole>
struct Kept {
  Whole whole;
  std::vector<Whole*> children;
};

template <typename Whole>
void Release(Whole* projected) {
  const std::unique_ptr<Kept<Whole>> kept(static_cast<Kept<Whole>*>(projected->private_data));
  kept->whole.release(&kept->whole);
  projected->release = nullptr;
}

template <typename Whole>
void Project(const Whole& whole, const std::vector<size_t>& columns, Whole* out) {
  auto kept = std::make_unique<Kept<Whole>>(Kept<Whole>{whole, {}});
  for (const size_t column : columns) kept->children.push_back(whole.children[column]);
  *out = whole;
  out->n_children = static_cast<int64_t>(kept->children.size());
  out->children = kept->children.data();
  out->release = &Release<Whole>;
  out->private_data = kept.release();
}

}  // namespace

std::vector<std::string> ColumnNamesOf(ArrowArrayStream* stream) {
  ArrowSchema schema = {};
  if (stream->get_schema(stream, &schema) != 0) {
    const char* message = stream->get_last_error(stream);
    Fail(ErrorKind::kIo, "the data: {}", message == nullptr ? "it cannot be read" : message);
  }
  const std::unique_ptr<ArrowSchema, void (*)(ArrowSchema*)> release(
      &schema, [](ArrowSchema* used) { used->release(used); });
  if (std::string_view(schema.format) != "+s") {
    Fail(ErrorKind::kBadInput, "the data: its Arrow stream has no columns; pass a table");
  }
  std::vector<std::string> names;
  for (int64_t k = 0; k < schema.n_children; ++k) {
    const char* name = schema.children[k]->name;
    names.emplace_back(name == nullptr ? "" : name);
  }
  return names;
}

ArrowProjection::ArrowProjection(ArrowArrayStream* source, std::vector<size_t> columns)
    : source_(source),
      columns_(std::move(columns)),
      stream_{&GetSchema, &GetNext,
              [](ArrowArrayStream* stream) {
                auto* self = static_cast<ArrowProjection*>(stream->private_data);
                return self->source_->get_last_error(self->source_);
              },
              [](ArrowArrayStream* stream) { stream->release = nullptr; }, this} {}

int ArrowProjection::GetSchema(ArrowArrayStream* stream, ArrowSchema* out) {
  auto* self = static_cast<ArrowProjection*>(stream->private_data);
  ArrowSchema whole = {};
  const int failed = self->source_->get_schema(self->source_, &whole);
  if (failed == 0) Project(whole, self->columns_, out);
  return failed;
}

int ArrowProjection::GetNext(ArrowArrayStream* stream, ArrowArray* out) {
  auto* self = static_cast<ArrowProjection*>(stream->private_data);
  ArrowArray whole = {};
  const int failed = self->source_->get_next(self->source_, &whole);
  if (failed != 0) return failed;
  if (whole.release == nullptr) {
    *out = {};  // the end
  } else {
    Project(whole, self->columns_, out);
  }
  return 0;
}

}  // namespace residua
