#include "residua/release/page.h"

#include <zlib.h>

#include <algorithm>
#include <map>
#include <utility>

#include "residua/base/counted.h"
#include "residua/base/error.h"
#include "residua/base/version.h"
#include "residua/basis/basis_inverse.h"
#include "residua/files/file.h"
#include "residua/files/measurement_file.h"
#include "residua/release/attribute_words.h"
#include "residua/release/page_template.h"
#include "residua/release/page_text.h"
#include "residua/release/privacy_facts.h"
#include "residua/release/published_errors.h"
#include "residua/select/combined_plan.h"
#include "residua/text/choice_text.h"
#include "residua/text/json_text.h"

namespace residua {
namespace {

// Of the tables that were left out, at most this many are named in the page.
constexpr std::ptrdiff_t kMaxNamed = 100;

// A residual as the page holds it: integers of `width` bytes, plane by plane, the least significant
// first. The high planes are nearly all zeros and compress well.
struct PackedResidual {
  AttributeSet attributes;
  std::string noise_variance;
  int scale_bits = 0;
  int width = 0;
  std::string planes;
};

// With the sign in the lowest bit, so that small negative numbers have few bytes too.
template <typename Value>
UInt128 Folded(Value value) {
  const auto bits = static_cast<UInt128>(static_cast<Int128>(value)) << 1;
  return value < 0 ? ~bits : bits;
}

PackedResidual Pack(const NoisyResidual& residual) {
  PackedResidual packed;
  packed.attributes = residual.attributes;
  packed.noise_variance = ToString(residual.noise_variance);
  packed.scale_bits = residual.scale_bits;
  std::visit(
      [&](const auto& values) {
        UInt128 all_bits = 0;
        for (const auto value : values) all_bits |= Folded(value);
        packed.width = 1;
        while (packed.width < 16 && all_bits >> (8 * packed.width) != 0) ++packed.width;
        packed.planes.reserve(values.size() * static_cast<size_t>(packed.width));
        for (int plane = 0; plane < packed.width; ++plane) {
          for (const auto value : values) {
            packed.planes += static_cast<char>(static_cast<uint8_t>(Folded(value) >> (8 * plane)));
          }
        }
      },
      residual.values);
  return packed;
}

// gzip, without a time or a name: the same text gives the same bytes.
std::string Compressed(std::string_view text) {
  z_stream stream = {};
  constexpr int kGzip = 15 + 16;
  RESIDUA_CHECK(deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzip, 8,
                             Z_DEFAULT_STRATEGY) == Z_OK);
  std::string compressed;
  std::vector<char> buffer(size_t{1} << 18);
  int status = Z_OK;
  while (status != Z_STREAM_END) {
    // zlib counts what it is given in 32 bits.
    if (stream.avail_in == 0) {
      const size_t count = std::min(text.size(), size_t{1} << 30);
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
      stream.avail_in = static_cast<uInt>(count);
      text.remove_prefix(count);
    }
    stream.next_out = reinterpret_cast<Bytef*>(buffer.data());
    stream.avail_out = static_cast<uInt>(buffer.size());
    status = deflate(&stream, text.empty() ? Z_FINISH : Z_NO_FLUSH);
    RESIDUA_CHECK(status == Z_OK || status == Z_STREAM_END || status == Z_BUF_ERROR);
    compressed.append(buffer.data(), buffer.size() - stream.avail_out);
  }
  deflateEnd(&stream);
  return compressed;
}

std::string InBase64(std::string_view bytes) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  const auto byte = [&](size_t k) {
    return k < bytes.size() ? uint32_t{static_cast<uint8_t>(bytes[k])} : 0;
  };
  for (size_t k = 0; k < bytes.size(); k += 3) {
    const uint32_t bits = byte(k) << 16 | byte(k + 1) << 8 | byte(k + 2);
    text += kDigits[bits >> 18];
    text += kDigits[bits >> 12 & 63];
    text += k + 1 < bytes.size() ? kDigits[bits >> 6 & 63] : '=';
    text += k + 2 < bytes.size() ? kDigits[bits & 63] : '=';
  }
  return text;
}

// The inverses of the plan's bases, so that the page's answers are this library's to the last
// digit. They are left to the page where they are many: then its answers may differ in the last
// digits.
std::string InversesOf(const Plan& plan) {
  constexpr size_t kMaxBytes = 4'000'000;
  std::string bytes;
  const auto append = [&](const auto& values) {
    bytes.append(reinterpret_cast<const char*>(values.data()),
                 static_cast<size_t>(values.size()) * sizeof(double));
  };
  for (const ResidualBasis& basis : plan.bases) {
    // Those of trees are kept node by node, and the page makes them itself.
    if (!std::holds_alternative<IntegerMatrix>(basis.matrix)) continue;
    append(basis.inverse->constant);
    append(basis.inverse->residual);
    if (bytes.size() > kMaxBytes) return "";
  }
  return bytes;
}

// The plan, the seal of the measurement file, which noise each residual has, and the values: four
// bytes with the length of a JSON text, the text, the inverses, and the planes of each residual.
std::string Payload(const std::string& plan_json, const std::string& seal,
                    const std::string& inverses, const std::vector<PackedResidual>& residuals,
                    size_t num_held) {
  Json header = {{"plan", plan_json},
                 {"seal", seal},
                 {"inverses", !inverses.empty()},
                 {"variances", Json::array()},
                 {"sets", Json::array()}};
  std::map<std::string, size_t> variance_ids;
  size_t num_bytes = 0;
  for (size_t k = 0; k < num_held; ++k) {
    const PackedResidual& residual = residuals[k];
    const auto [id, is_new] =
        variance_ids.try_emplace(residual.noise_variance, variance_ids.size());
    if (is_new) header["variances"].push_back(residual.noise_variance);
    header["sets"].push_back(
        {residual.attributes, id->second, residual.scale_bits, residual.width});
    num_bytes += residual.planes.size();
  }
  const std::string text = ForgivingJsonLine(header);
  std::string payload;
  payload.reserve(4 + text.size() + inverses.size() + num_bytes);
  for (int shift = 0; shift < 32; shift += 8) {
    payload += static_cast<char>(static_cast<uint8_t>(text.size() >> shift));
  }
  payload += text;
  payload += inverses;
  for (size_t k = 0; k < num_held; ++k) payload += residuals[k].planes;
  return payload;
}

std::string_view EncodingName(const Encoding& encoding) {
  struct Name {
    std::string_view operator()(std::monostate) const { return "size"; }
    std::string_view operator()(const IntegerEncoding&) const { return "integers"; }
    std::string_view operator()(const CutEncoding&) const { return "cuts"; }
    std::string_view operator()(const ValueEncoding&) const { return "values"; }
    std::string_view operator()(const DateEncoding&) const { return "dates"; }
    std::string_view operator()(const PartEncoding&) const { return "part"; }
    std::string_view operator()(const MeanEncoding&) const { return "mean"; }
  };
  return std::visit(Name(), encoding.cells);
}

// What the page says of an attribute: in English the summary's words, in other languages what
// follows from the rest.
Json AttributeFacts(const Attribute& attribute) {
  const Encoding& encoding = attribute.encoding;
  Json facts = {{"name", attribute.name},
                {"size", attribute.size},
                {"values", NumValueCells(attribute)},
                {"encoding", EncodingName(encoding)},
                {"nullCell", encoding.null_cell},
                {"outside", TextOf(kOutsidePolicies, encoding.outside)},
                {"queries", QueriesText(attribute)},
                {"combinations", attribute.custom.num_rows},
                {"words", DescribeValues(attribute)}};
  if (const auto* dates = std::get_if<DateEncoding>(&encoding.cells)) {
    facts["firstDay"] = DayText(dates->first_day);
    facts["lastDay"] = DayText(dates->last_day);
  }
  if (const MeanEncoding* mean = MeanOf(attribute)) {
    facts["low"] = DecimalText(mean->low, mean->decimals);
    facts["high"] = DecimalText(mean->high, mean->decimals);
    if (!mean->is_integers) facts["step"] = DecimalText(mean->step, mean->decimals);
  }
  return facts;
}

// The measurement file as a release has it. Readers who give it to the page have the tables that
// were left out.
Json FileFacts(const PageRequest& request, const MeasurementFile& file) {
  return {{"name", file.plan().parts.empty() ? "measurements.parquet" : "combined.parquet"},
          {"bytes", std::filesystem::file_size(request.measurements)},
          {"isReadable", !file.seal().empty()}};
}

// Of all releases that the plan combines.
Json PromiseFacts(const Plan& plan) {
  Json facts = PrivacyFacts(plan);
  facts["numEarlier"] = std::max<std::ptrdiff_t>(std::ssize(plan.parts) - 1, 0);
  return facts;
}

Json Facts(const PageRequest& request, const MeasurementFile& file, const std::string& plan_digest,
           const PageWritten& written) {
  const Plan& plan = file.plan();
  const ReleaseText& about = request.text;
  Json attributes = Json::array();
  for (const Attribute& attribute : plan.domain.attributes()) {
    attributes.push_back(AttributeFacts(attribute));
  }
  return {{"title", about.title},
          {"description", about.description},
          {"publisher", about.publisher},
          {"date", about.date},
          {"contact", about.contact},
          {"licence", about.licence},
          {"confidence", request.confidence},
          {"isQuery", request.is_query},
          {"version", Version()},
          {"planDigest", request.plan_digest.empty() ? plan_digest : request.plan_digest},
          {"typicalError", fmt::format("{:.3g}", SummarizePublished(plan).rms_std_dev)},
          {"privacy", PromiseFacts(plan)},
          {"attributes", std::move(attributes)},
          {"file", FileFacts(request, file)},
          {"numTables", written.num_tables},
          {"numLeftOut", written.left_out.size()},
          {"leftOut", std::vector(written.left_out.begin(),
                                  written.left_out.begin() +
                                      std::min(std::ssize(written.left_out), kMaxNamed))}};
}

// Small tables first: of two, the one with fewer values, then the one listed first. As a table has
// more values than its parts, all parts of every table come before it.
std::vector<PackedResidual> ReadPacked(const MeasurementFile& file) {
  std::vector<PackedResidual> residuals;
  file.ForEach([&](NoisyResidual&& residual) { residuals.push_back(Pack(residual)); });
  const Plan& plan = file.plan();
  std::vector<std::pair<int64_t, size_t>> order;
  for (size_t k = 0; k < residuals.size(); ++k) {
    const AttributeSet& set = residuals[k].attributes;
    order.emplace_back(NumCellsInMemory(plan.domain, set), k);
  }
  std::sort(order.begin(), order.end(), [&](const auto& a, const auto& b) {
    if (a.first != b.first) return a.first < b.first;
    return ListedBefore(residuals[a.second].attributes, residuals[b.second].attributes);
  });
  std::vector<PackedResidual> sorted;
  sorted.reserve(order.size());
  for (const auto& [size, k] : order) sorted.push_back(std::move(residuals[k]));
  return sorted;
}

// How many residuals fit into `max_bytes` of base64 in all, by the compressed size of each. A
// table's values are alike, so that compressing them together saves little.
size_t NumThatFit(const std::vector<PackedResidual>& residuals, int64_t max_bytes) {
  int64_t raw = 0;
  for (const PackedResidual& residual : residuals) {
    raw += static_cast<int64_t>(residual.planes.size());
  }
  if (raw / 3 * 4 <= max_bytes) return residuals.size();
  int64_t total = 0;
  for (size_t k = 0; k < residuals.size(); ++k) {
    total += static_cast<int64_t>(Compressed(residuals[k].planes).size()) / 3 * 4;
    if (total > max_bytes) return k;
  }
  return residuals.size();
}

}  // namespace

PageWritten WritePage(const PageRequest& request) {
  CheckReplaceable(request.output, FileKind::kPage);
  const MeasurementFile file(request.measurements);
  const Plan& plan = file.plan();
  CheckStandsAlone(plan);
  // Without the data: pages say no more than a release does.
  const std::string plan_json = PlanToJson({plan, file.plan_file().data.WithoutPlaces()});
  const auto plan_digest = ParseJson(plan_json).at("digest").get<std::string>();
  const std::string inverses = InversesOf(plan);
  const std::vector<PackedResidual> residuals = ReadPacked(file);

  const std::string name =
      request.text.title.empty() ? "A differentially private release" : request.text.title;
  const int64_t fixed = static_cast<int64_t>(ReaderPageTemplate().size()) +
                        static_cast<int64_t>(Compressed(plan_json + inverses).size()) * 4 / 3;
  size_t num_held = std::max<size_t>(1, NumThatFit(residuals, request.max_bytes - fixed));
  int64_t num_bytes = 0;  // of the page that was tried last
  for (;; num_held -= (num_held + 49) / 50) {
    if (num_held == 0) {
      Fail(ErrorKind::kTooLarge, "{}: a page of {} cannot hold it; allow at least {}",
           request.output.string(), Counted(request.max_bytes, "byte"), num_bytes);
    }
    PageWritten written{request.output, 0, static_cast<int64_t>(num_held), {}};
    for (size_t k = residuals.size(); k > num_held; --k) {
      written.left_out.push_back(SetName(plan.domain, residuals[k - 1].attributes));
    }
    const std::string data =
        InBase64(Compressed(Payload(plan_json, file.seal(), inverses, residuals, num_held)));
    const std::string html = FilledTemplate(
        ReaderPageTemplate(), name,
        "<script type=\"application/json\" id=\"facts\">" +
            InPage(Facts(request, file, plan_digest, written)) +
            "</script>\n<script type=\"text/plain\" id=\"release\">" + data + "</script>");
    num_bytes = static_cast<int64_t>(html.size());
    if (num_bytes > request.max_bytes) continue;
    WriteFileAtomically(request.output, html, FileKind::kPage);
    written.num_bytes = num_bytes;
    return written;
  }
}

}  // namespace residua
