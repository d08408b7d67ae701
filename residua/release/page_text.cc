#include "residua/release/page_text.h"

#include "residua/base/error.h"

namespace residua {
namespace {

std::string HtmlText(std::string_view text) {
  std::string html;
  for (const char c : text) {
    switch (c) {
      case '<':
        html += "&lt;";
        break;
      case '>':
        html += "&gt;";
        break;
      case '&':
        html += "&amp;";
        break;
      case '"':
        html += "&quot;";
        break;
      default:
        html += c;
    }
  }
  return html;
}

}  // namespace

std::string InPage(const Json& json) {
  std::string text;
  for (const char c : ForgivingJsonLine(json)) {
    if (c == '<') {
      text += "\\u003c";
    } else {
      text += c;
    }
  }
  return text;
}

std::string FilledTemplate(std::string_view html, std::string_view title,
                           std::string_view content) {
  constexpr std::string_view kTitleMark = "<!-- residua:title -->";
  constexpr std::string_view kContentMark = "<!-- residua:release -->";
  const size_t title_at = html.find(kTitleMark);
  const size_t content_at = html.find(kContentMark);
  RESIDUA_CHECK(title_at < content_at && content_at < html.size());
  std::string page(html.substr(0, title_at));
  page += HtmlText(title);
  page += html.substr(title_at + kTitleMark.size(), content_at - title_at - kTitleMark.size());
  page += content;
  page += html.substr(content_at + kContentMark.size());
  return page;
}

}  // namespace residua
