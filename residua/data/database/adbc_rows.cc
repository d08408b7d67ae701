#include "residua/data/database/adbc_rows.h"

#include <dlfcn.h>
#include <fmt/core.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

#include "residua/base/error.h"
#include "residua/base/shown_text.h"
#include "residua/base/stop.h"
#include "residua/data/database/adbc.h"
#include "residua/data/relation.h"

namespace residua {
namespace {

namespace fs = std::filesystem;

std::string KindOfUrl(const std::string& url) {
  return url.starts_with("sqlite:") ? "sqlite" : "postgresql";
}

// The folders of Python packages in an environment.
std::vector<fs::path> PackagesIn(const fs::path& environment) {
  std::vector<fs::path> folders;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(environment / "lib", ignored)) {
    if (!entry.path().filename().string().starts_with("python3")) continue;
    folders.push_back(entry.path() / "site-packages");
    folders.push_back(entry.path() / "dist-packages");
  }
  return folders;
}

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// The places of the driver, in the order in which they are tried.
std::vector<fs::path> DriverPlaces(const std::string& kind) {
  const std::string library = fmt::format("libadbc_driver_{}.so", kind);
  const fs::path in_package = fs::path("adbc_driver_" + kind) / library;
  std::vector<fs::path> places;
  std::istringstream named(Variable("RESIDUA_ADBC_DRIVERS"));
  for (std::string folder; std::getline(named, folder, ':');) {
    if (folder.empty()) continue;
    places.push_back(fs::path(folder) / library);
    places.push_back(fs::path(folder) / in_package);
  }
  Dl_info here = {};
  if (dladdr(reinterpret_cast<void*>(&KindOfUrl), &here) != 0 && here.dli_fname != nullptr) {
    const fs::path own = fs::path(here.dli_fname).parent_path();
    places.push_back(own.parent_path() / in_package);
  }
  for (const char* name : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
    const std::string environment = Variable(name);
    if (environment.empty()) continue;
    for (const fs::path& folder : PackagesIn(environment)) places.push_back(folder / in_package);
  }
  return places;
}

// Drivers stay loaded: what they have started cannot be taken back.
void* LoadDriver(const std::string& kind) {
  std::string fault;
  for (const fs::path& place : DriverPlaces(kind)) {
    if (!fs::exists(place)) continue;
    if (void* library = dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
    fault = dlerror();
  }
  const std::string library = fmt::format("libadbc_driver_{}.so", kind);
  if (void* found = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL)) return found;
  if (!fault.empty()) {
    Fail(ErrorKind::kIo, "the driver for {}: {}; install adbc-driver-{} again", kind,
         WithoutControls(fault), kind);
  }
  Fail(ErrorKind::kIo,
       "no ADBC driver for {}; install it with pip install adbc-driver-{}, and set the environment "
       "variable RESIDUA_ADBC_DRIVERS to the folder of {}",
       kind, kind, library);
}

// A message of several lines as one.
std::string OneLineOf(const char* message) {
  std::istringstream words(message == nullptr ? "" : message);
  std::string line;
  for (std::string word; words >> word;) line += (line.empty() ? "" : " ") + word;
  return line.empty() ? "it failed and does not say why" : line;
}

std::string_view RemedyOf(std::string_view message) {
  const auto says = [&](std::string_view text) { return message.find(text) != message.npos; };
  if (says("password authentication failed") || says("no password supplied")) {
    return "; set the environment variable PGPASSWORD, or write it into ~/.pgpass";
  }
  if (says("statement timeout")) {
    return "; allow its statements more time (statement_timeout), or count fewer attributes";
  }
  if (says("permission denied")) return "; let its user read what the query reads";
  if (says("Connection refused") || says("could not translate host name") || says("timeout")) {
    return "; check the host and the port, and that the server runs";
  }
  return "";
}

// How long a database may take to end what it was told to cancel, and to end by itself where it
// cannot be told.
constexpr std::chrono::milliseconds kCancelling(5000);
constexpr std::chrono::milliseconds kEndingByItself(1000);

}  // namespace

// Of one connection. Calls are made by one thread at a time, but for Cancel.
struct AdbcRows::State {
  explicit State(std::string shown_url) : name(std::move(shown_url)) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    AdbcError ignored = {};
    if (stream.release != nullptr) stream.release(&stream);
    if (statement.private_data != nullptr) driver.StatementRelease(&statement, &ignored);
    if (connection.private_data != nullptr) driver.ConnectionRelease(&connection, &ignored);
    if (database.private_data != nullptr) driver.DatabaseRelease(&database, &ignored);
    if (driver.release != nullptr) driver.release(&driver, &ignored);
    if (ignored.release != nullptr) ignored.release(&ignored);
  }

  // Calls a function of the driver; a failure is Error{kIo}.
  template <typename Function, typename... Arguments>
  void Call(Function function, Arguments... arguments) {
    AdbcError error = {};
    if (function(arguments..., &error) == 0) return;
    const std::string message = OneLineOf(error.message);
    if (error.release != nullptr) error.release(&error);
    Fail(ErrorKind::kIo, "{}: {}{}", name, WithoutControls(message), RemedyOf(message));
  }

  void Connect(const std::string& kind, const std::string& uri) {
    const auto init =
        reinterpret_cast<AdbcDriverInitFunction>(dlsym(LoadDriver(kind), "AdbcDriverInit"));
    if (init == nullptr) {
      Fail(ErrorKind::kIo, "the driver for {} is no ADBC driver; install adbc-driver-{} again",
           kind, kind);
    }
    AdbcError is_older = {};
    if (init(kAdbcVersion, &driver, &is_older) != 0) {
      if (is_older.release != nullptr) is_older.release(&is_older);
      driver = {};
      Call([&](AdbcError* error) { return init(kFirstAdbcVersion, &driver, error); });
    }
    Call(driver.DatabaseNew, &database);
    Call(driver.DatabaseSetOption, &database, "uri", uri.c_str());
    Call(driver.DatabaseInit, &database);
    Call(driver.ConnectionNew, &connection);
    Call(driver.ConnectionInit, &connection, &database);
    is_connected = true;
  }

  void Open(const std::string& url) {
    const std::string kind = KindOfUrl(url);
    if (kind == "sqlite") {
      const std::string path = url.substr(url.find(':') + 1);
      CheckIsFile(path);
      Connect(kind, path);
      Execute("PRAGMA query_only = 1", nullptr);
    } else {
      Connect(kind, url);
      Call(driver.ConnectionSetOption, &connection, "adbc.connection.autocommit", "false");
      Execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY", nullptr);
    }
  }

  // Runs a statement; its rows go to `rows` unless that is null.
  void Execute(const std::string& sql, ArrowArrayStream* rows) {
    if (statement.private_data != nullptr) {
      Call(driver.StatementRelease, &statement);
      statement = {};
    }
    Call(driver.StatementNew, &connection, &statement);
    Call(driver.StatementSetSqlQuery, &statement, sql.c_str());
    Call(driver.StatementExecuteQuery, &statement, rows, static_cast<int64_t*>(nullptr));
  }

  void Query(const std::string& sql) {
    if (stream.release != nullptr) stream.release(&stream);
    stream = {};
    Execute(sql, &stream);
  }

  // False if the driver cannot.
  bool Cancel() {
    if (!is_connected || driver.ConnectionCancel == nullptr) return false;
    AdbcError ignored = {};
    const AdbcStatusCode status = driver.ConnectionCancel(&connection, &ignored);
    if (ignored.release != nullptr) ignored.release(&ignored);
    return status != kAdbcNotImplemented;
  }

  std::string name;
  AdbcDriver driver = {};
  AdbcDatabase database = {};
  AdbcConnection connection = {};
  AdbcStatement statement = {};
  ArrowArrayStream stream = {};
  std::atomic<bool> is_connected = false;
};

AdbcRows::AdbcRows(const std::string& url, const std::stop_token& stop)
    : state_(std::make_shared<State>(ShownText(url))),
      stop_(stop),
      rows_{&GetSchema, &GetNext,
            [](ArrowArrayStream* stream) {
              return static_cast<AdbcRows*>(stream->private_data)->fault_.c_str();
            },
            [](ArrowArrayStream* stream) { stream->release = nullptr; }, this},
      on_stop_(std::in_place, stop, [this] { GiveUp(); }) {
  Run([state = state_, url] { state->Open(url); });
}

AdbcRows::~AdbcRows() = default;

void AdbcRows::Run(std::function<void()> call) {
  CheckNotStopped(stop_);
  try {
    if (thread_.Run(std::move(call))) return;
  } catch (const Error&) {
    CheckNotStopped(stop_);
    throw;
  }
  CheckNotStopped(stop_);
}

void AdbcRows::GiveUp() {
  const auto tell = [state = state_] {
    auto is_told = std::make_shared<std::atomic<bool>>(false);
    return RunAtMost(kCancelling, [state, is_told] { *is_told = state->Cancel(); }) && *is_told;
  };
  const bool is_told = tell();
  thread_.Abandon(
      [&] {
        if (is_told) tell();
      },
      is_told ? kCancelling : kEndingByItself);
}

ArrowArrayStream* AdbcRows::Query(const std::string& query) {
  Run([state = state_, query] { state->Query(query); });
  return &rows_;
}

template <typename Part>
int AdbcRows::Ask(int (*ArrowArrayStream::*function)(ArrowArrayStream*, Part*), Part* out) {
  // It may come when nobody waits for it any more.
  struct Answer {
    Answer() = default;
    Answer(const Answer&) = delete;
    Answer& operator=(const Answer&) = delete;
    ~Answer() {
      if (part.release != nullptr) part.release(&part);
    }

    int status = 0;
    Part part = {};
    std::string fault;
  };
  const auto answer = std::make_shared<Answer>();
  const auto ask = [function, answer, state = state_] {
    ArrowArrayStream& stream = state->stream;
    answer->status = (stream.*function)(&stream, &answer->part);
    if (answer->status == 0) return;
    const char* fault = stream.get_last_error(&stream);
    answer->fault = fault == nullptr ? "it failed and does not say why" : fault;
  };
  if (!thread_.Run(ask)) {
    fault_ = "stopped before it was done";
    return ECANCELED;
  }
  if (answer->status != 0) {
    fault_ = answer->fault;
    return answer->status;
  }
  *out = std::exchange(answer->part, {});
  return 0;
}

int AdbcRows::GetSchema(ArrowArrayStream* stream, ArrowSchema* out) {
  return static_cast<AdbcRows*>(stream->private_data)->Ask(&ArrowArrayStream::get_schema, out);
}

int AdbcRows::GetNext(ArrowArrayStream* stream, ArrowArray* out) {
  return static_cast<AdbcRows*>(stream->private_data)->Ask(&ArrowArrayStream::get_next, out);
}

}  // namespace residua
