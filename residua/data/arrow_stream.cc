#include "residua/data/arrow_stream.h"

#include <memory>
#include <string_view>
#include <utility>

#include "residua/base/error.h"

namespace residua {
namespace {

ArrowSchema SchemaOf(ArrowArrayStream* stream) {
  ArrowSchema schema = {};
  if (stream->get_schema(stream, &schema) != 0) {
    const char* message = stream->get_last_error(stream);
    Fail(ErrorKind::kIo, "the data: {}", message == nullptr ? "it cannot be read" : message);
  }
  return schema;
}

// What a projected batch keeps alive: the whole batch, and the pointers to the chosen columns.
// Whoever takes a column out of it marks that column as released, and releasing the whole batch
// respects this.
struct WholeBatch {
  ArrowArray whole;
  std::vector<ArrowArray*> columns;
};

void ReleaseWholeBatch(ArrowArray* projected) {
  const std::unique_ptr<WholeBatch> kept(static_cast<WholeBatch*>(projected->private_data));
  kept->whole.release(&kept->whole);
  projected->release = nullptr;
}

}  // namespace

std::vector<std::string> ColumnNamesOf(ArrowArrayStream* stream) {
  ArrowSchema schema = SchemaOf(stream);
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
      schema_(SchemaOf(source)),
      stream_{&GetSchema, &GetNext,
              [](ArrowArrayStream* stream) {
                auto* self = static_cast<ArrowProjection*>(stream->private_data);
                return self->source_->get_last_error(self->source_);
              },
              [](ArrowArrayStream* stream) { stream->release = nullptr; }, this} {
  for (const size_t column : columns_) schema_columns_.push_back(schema_.children[column]);
}

ArrowProjection::~ArrowProjection() { schema_.release(&schema_); }

int ArrowProjection::GetSchema(ArrowArrayStream* stream, ArrowSchema* out) {
  auto* self = static_cast<ArrowProjection*>(stream->private_data);
  *out = self->schema_;
  out->n_children = static_cast<int64_t>(self->schema_columns_.size());
  out->children = self->schema_columns_.data();
  out->release = [](ArrowSchema* view) { view->release = nullptr; };
  out->private_data = nullptr;
  return 0;
}

int ArrowProjection::GetNext(ArrowArrayStream* stream, ArrowArray* out) {
  auto* self = static_cast<ArrowProjection*>(stream->private_data);
  const std::lock_guard<std::mutex> lock(self->asking_);
  ArrowArray whole = {};
  const int failed = self->source_->get_next(self->source_, &whole);
  if (failed != 0) return failed;
  *out = whole;
  if (whole.release == nullptr) return 0;  // the end
  auto kept = std::make_unique<WholeBatch>(WholeBatch{whole, {}});
  for (const size_t column : self->columns_) kept->columns.push_back(whole.children[column]);
  out->n_children = static_cast<int64_t>(kept->columns.size());
  out->children = kept->columns.data();
  out->release = &ReleaseWholeBatch;
  out->private_data = kept.release();
  return 0;
}

}  // namespace residua
