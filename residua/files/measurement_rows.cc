#include "residua/files/measurement_rows.h"

#include <algorithm>
#include <array>
#include <sstream>

#include "residua/base/error.h"
#include "residua/files/digest.h"
#include "residua/files/parquet/packed_integers.h"
#include "residua/files/parquet/parquet_columns.h"
#include "residua/files/parquet/parquet_reader.h"
#include "residua/measure/measurements.h"
#include "residua/select/plan_errors.h"

namespace residua {
namespace {

constexpr size_t kNumColumns = std::size(kMeasurementColumns);
constexpr auto kValueColumn = static_cast<size_t>(MeasurementColumn::kValue);
constexpr auto kWideColumn = static_cast<size_t>(MeasurementColumn::kWideValue);

// A set takes as much in the dictionary of its numbers.
constexpr int64_t kLeastSetBytes = sizeof(int64_t);

Int128 FromBigEndian(const char* bytes) {
  UInt128 value = 0;
  for (size_t k = 0; k < sizeof value; ++k) {
    value = value << 8 | static_cast<unsigned char>(bytes[k]);
  }
  return static_cast<Int128>(value);
}

bool Fits64Bits(Int128 value) { return value == static_cast<int64_t>(value); }

}  // namespace

MeasurementRows::MeasurementRows(ReadableBytes file, const ParquetFooter& footer, const Plan& plan)
    : file_(std::move(file)) {
  if (!HasRightDigest(footer)) FailChanged(file_.path, "its footer does not fit its digest");
  const auto fail_too_much = [&] {
    FailChanged(file_.path, "it claims to hold more than its plan measures");
  };
  Integer rows_left = NumValuesOf(plan);
  int64_t offset = 4;
  for (const ParquetRowGroupPlace& group : footer.row_groups) {
    Place place;
    place.offset = offset;
    if (group.chunks.size() != kNumColumns || group.num_rows < 0) {
      FailChanged(file_.path, "its columns are not those of a measurement file");
    }
    rows_left -= group.num_rows;
    if (rows_left < 0) fail_too_much();
    for (size_t k = 0; k < kNumColumns; ++k) {
      const ParquetChunkPlace& chunk = group.chunks[k];
      if (chunk.column != kMeasurementColumns[k]) {
        FailChanged(file_.path, "its columns are not those of a measurement file");
      }
      if (chunk.offset != offset || chunk.num_bytes < 0 ||
          chunk.num_bytes > footer.offset - offset || chunk.num_values != group.num_rows) {
        FailChanged(file_.path, "its row groups are not where they should be");
      }
      offset += chunk.num_bytes;
      place.chunk_bytes.push_back(chunk.num_bytes);
    }
    place.num_bytes = offset - place.offset;
    // Of the two columns of values one has all of them and the other none.
    const int64_t no_value = group.chunks[kValueColumn].num_nulls;
    place.is_wide = no_value != 0;
    if (no_value != (place.is_wide ? group.num_rows : 0) ||
        group.chunks[kWideColumn].num_nulls != group.num_rows - no_value) {
      FailChanged(file_.path, "its columns are not those of a measurement file");
    }
    const int64_t most_values = place.is_wide ? place.chunk_bytes[kWideColumn] / sizeof(Int128)
                                              : MostPacked(place.chunk_bytes[kValueColumn]);
    if (group.num_rows > most_values) fail_too_much();
    places_.push_back(std::move(place));
  }
  if (offset != footer.offset)
    FailChanged(file_.path, "its row groups are not where they should be");
  if (rows_left != 0) FailChanged(file_.path, "values are missing");
  if (NumSetsOf(plan) > footer.offset / kLeastSetBytes) fail_too_much();
  layout_.emplace(plan);
  const auto& planned = layout_->row_groups();
  bool is_planned = planned.size() == places_.size();
  for (size_t g = 0; g < places_.size() && is_planned; ++g) {
    is_planned = footer.row_groups[g].num_rows == planned[g].num_rows;
  }
  if (!is_planned) FailChanged(file_.path, "its row groups are not those of its plan");
  const auto digests = footer.metadata.find(kRowGroupDigestsKey);
  std::istringstream text(digests == footer.metadata.end() ? "" : digests->second);
  for (Place& place : places_) text >> place.digest;
  if (!text) FailChanged(file_.path, "digests are missing");
}

void MeasurementRows::Read(size_t group) {
  const Place& place = places_[group];
  const auto size = static_cast<size_t>(place.num_bytes);
  bytes_.resize(size + kPackedPadding);
  if (!file_.read(place.offset, std::span(bytes_).first(size))) {
    Fail(ErrorKind::kIo, "{}: cannot be read; get the file again", file_.path.string());
  }
  std::string_view rest(bytes_.data(), size);
  if (Sha256(rest) != place.digest) FailChanged(file_.path, "rows do not fit their digest");
  std::array<std::string_view, kNumColumns> chunks;
  for (size_t k = 0; k < kNumColumns; ++k) {
    chunks[k] = rest.substr(0, static_cast<size_t>(place.chunk_bytes[k]));
    rest.remove_prefix(chunks[k].size());
  }
  CheckWords(group, chunks);
  ReadValues(place.is_wide, layout_->row_groups()[group].num_rows, chunks[kValueColumn],
             chunks[kWideColumn]);
}

void MeasurementRows::CheckWords(size_t group, std::span<const std::string_view> chunks) const {
  const std::vector<MeasurementLayout::Words> words =
      layout_->WordsOf(layout_->row_groups()[group]);
  for (const auto column : {MeasurementColumn::kSet, MeasurementColumn::kAttributes,
                            MeasurementColumn::kVariance, MeasurementColumn::kScale}) {
    CheckColumn(column, chunks[static_cast<size_t>(column)], words);
  }
}

// A dictionary, and for each set a run of one of its entries.
void MeasurementRows::CheckColumn(MeasurementColumn column, std::string_view bytes,
                                  const std::vector<MeasurementLayout::Words>& words) const {
  int64_t num_rows = 0;
  for (const MeasurementLayout::Words& of_set : words) num_rows += of_set.num_rows;
  const auto dictionary = TakePage(&bytes);
  const auto page = TakePage(&bytes);
  const bool is_form_known =
      dictionary && page && bytes.empty() && dictionary->type == PageType::kDictionary &&
      dictionary->encoding == PageEncoding::kPlain && page->type == PageType::kData &&
      page->encoding == PageEncoding::kRleDictionary && page->num_values == num_rows &&
      !page->body.empty();
  if (!is_form_known) FailChanged(file_.path, "its rows are not those of a measurement file");
  const bool is_text =
      column == MeasurementColumn::kAttributes || column == MeasurementColumn::kVariance;
  std::vector<std::string_view> entries;
  if (is_text) {
    entries = ReadTexts(dictionary->body, dictionary->num_values).value_or(entries);
  } else {
    for (size_t at = 0; at + sizeof(int64_t) <= dictionary->body.size(); at += sizeof(int64_t)) {
      entries.push_back(dictionary->body.substr(at, sizeof(int64_t)));
    }
  }
  const int bit_width = static_cast<unsigned char>(page->body.front());
  const auto runs = bit_width <= 32 ? ReadRuns(page->body.substr(1), bit_width) : std::nullopt;
  if (!runs || runs->size() != words.size() || std::ssize(entries) != dictionary->num_values) {
    FailChanged(file_.path, "its rows are not those of a measurement file");
  }
  for (size_t k = 0; k < words.size(); ++k) {
    const MeasurementLayout::Words& expected = words[k];
    const int64_t number = column == MeasurementColumn::kSet ? expected.set : expected.scale;
    const std::string_view text =
        is_text ? std::string_view(column == MeasurementColumn::kAttributes ? expected.attributes
                                                                            : expected.variance)
                : std::string_view(reinterpret_cast<const char*>(&number), sizeof number);
    const ParquetRun& run = (*runs)[k];
    if (run.count != expected.num_rows || run.value >= entries.size() ||
        entries[run.value] != text) {
      FailChanged(file_.path, fmt::format("its column {} does not say what its plan says",
                                          kMeasurementColumns[static_cast<size_t>(column)]));
    }
  }
}

void MeasurementRows::ReadValues(bool is_wide, int64_t num_rows, std::string_view value,
                                 std::string_view wide) {
  const auto fail = [&] { FailChanged(file_.path, "its values cannot be read"); };
  const auto take = [&](std::string_view* bytes, bool has_values) {
    const auto page = TakePage(bytes);
    if (!page || !bytes->empty() || page->type != PageType::kData || page->num_values != num_rows) {
      fail();
    }
    std::string_view body = page->body;
    const auto validity = TakeValidity(&body, num_rows);
    if (!validity || *validity != has_values || (!has_values && !body.empty())) fail();
    *bytes = body;
    return page->encoding;
  };
  const PageEncoding encoding = take(&value, !is_wide);
  const PageEncoding wide_encoding = take(&wide, is_wide);
  is_wide_ = is_wide;
  if (!is_wide) {
    narrow_.resize(static_cast<size_t>(num_rows));
    if (encoding != PageEncoding::kDeltaBinaryPacked || !Unpack(value, narrow_)) fail();
    return;
  }
  if (wide_encoding != PageEncoding::kPlain || wide.size() % sizeof(Int128) != 0 ||
      wide.size() / sizeof(Int128) != static_cast<size_t>(num_rows)) {
    fail();
  }
  wide_.resize(static_cast<size_t>(num_rows));
  for (size_t k = 0; k < wide_.size(); ++k) {
    wide_[k] = FromBigEndian(wide.data() + k * sizeof(Int128));
  }
  if (std::all_of(wide_.begin(), wide_.end(), Fits64Bits)) fail();
}

void MeasurementRows::ForEach(const std::vector<size_t>* sets,
                              const std::function<void(NoisyResidual&&)>& visit) {
  std::vector<size_t> all;
  if (sets == nullptr) {
    for (size_t k = 0; k < layout_->sets().size(); ++k) all.push_back(k);
    sets = &all;
  }
  const Plan& plan = layout_->plan();
  const auto pass_on = [&](size_t set, NoisyValues&& values) {
    const AttributeSet& attributes = layout_->sets()[set];
    visit({attributes, std::move(values), IntegerNoiseVariance(plan, attributes),
           ScaleBits(plan, attributes)});
  };
  for (auto next = sets->begin(); next != sets->end();) {
    const size_t group = layout_->FirstRowGroup(*next);
    const MeasurementLayout::RowGroup& rows = layout_->row_groups()[group];
    if (layout_->HasOwnRowGroups(*next)) {
      const size_t set = *next++;
      if (IsWide(set)) {
        pass_on(set, Gather<Int128>(set));
      } else {
        pass_on(set, Gather<int64_t>(set));
      }
      continue;
    }
    Read(group);
    int64_t row = 0;
    for (size_t set = rows.first_set; set < rows.first_set + rows.num_sets; ++set) {
      const int64_t end = row + layout_->num_values(set);
      if (next != sets->end() && *next == set) {
        if (is_wide_) {
          pass_on(set, InLeastWidth({wide_.begin() + row, wide_.begin() + end}));
        } else {
          pass_on(set, std::vector<int64_t>(narrow_.begin() + row, narrow_.begin() + end));
        }
        ++next;
      }
      row = end;
    }
  }
}

template <typename Value>
std::vector<Value> MeasurementRows::Gather(size_t set) {
  std::vector<Value> all;
  all.reserve(static_cast<size_t>(layout_->num_values(set)));
  ForEachPiece(set, [&](ResidualValues piece) {
    std::visit([&](const auto& values) { all.insert(all.end(), values.begin(), values.end()); },
               piece);
  });
  return all;
}

void MeasurementRows::CheckAll() {
  for (size_t g = 0; g < places_.size(); ++g) Read(g);
}

MeasurementRows::Stretch MeasurementRows::StretchOf(size_t set) const {
  const size_t first = layout_->FirstRowGroup(set);
  Stretch stretch{places_[first].offset, places_[first].num_bytes};
  for (size_t g = first + 1; g < places_.size() && layout_->row_groups()[g].first_set == set; ++g) {
    stretch.num_bytes += places_[g].num_bytes;
  }
  return stretch;
}

bool MeasurementRows::IsWide(size_t set) const {
  RESIDUA_CHECK(layout_->HasOwnRowGroups(set));
  const size_t first = layout_->FirstRowGroup(set);
  for (size_t g = first; g < places_.size() && layout_->row_groups()[g].first_set == set; ++g) {
    if (places_[g].is_wide) return true;
  }
  return false;
}

void MeasurementRows::ForEachPiece(size_t set, const std::function<void(ResidualValues)>& visit) {
  RESIDUA_CHECK(layout_->HasOwnRowGroups(set));
  const size_t first = layout_->FirstRowGroup(set);
  for (size_t g = first; g < places_.size() && layout_->row_groups()[g].first_set == set; ++g) {
    Read(g);
    visit(is_wide_ ? ResidualValues(wide_) : ResidualValues(narrow_));
  }
}

}  // namespace residua
