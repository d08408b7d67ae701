#include "web/core/door.h"

#include <cstdlib>
#include <exception>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "residua/base/error.h"

// A page's door to residua's core: a call takes JSON and returns JSON.
extern "C" {

__attribute__((export_name("residua_alloc"))) void* residua_alloc(size_t size) {
  return std::malloc(size);
}

__attribute__((export_name("residua_free"))) void residua_free(void* memory) { std::free(memory); }

// The answer is {"ok": ...} or {"error": "..."}; it lives until the next call.
__attribute__((export_name("residua_call"))) const char* residua_call(const char* request,
                                                                      size_t length,
                                                                      const uint8_t* bytes,
                                                                      size_t num_bytes) {
  using residua::Json;
  static std::string answer;
  Json result;
  try {
    result["ok"] = residua::Call(Json::parse(std::string_view(request, length)), bytes, num_bytes);
  } catch (const std::exception& error) {
    result = {{"error", residua::MessageOf(error)}};
  }
  answer = result.dump(-1, ' ', false, Json::error_handler_t::replace);
  return answer.c_str();
}
}
