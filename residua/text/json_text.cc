#include "residua/text/json_text.h"

namespace residua {

Json ParseJson(std::string_view text) { return Json::parse(text); }
Json ParsedOrDiscarded(std::string_view text) { return Json::parse(text, nullptr, false); }
std::string JsonLine(const Json& json) { return json.dump(); }
std::string ForgivingJsonLine(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}
std::string IndentedJson(const Json& json) { return json.dump(2); }

}  // namespace residua
