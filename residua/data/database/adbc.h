#pragma once

#include <cstddef>
#include <cstdint>

#include "residua/data/arrow_stream.h"

// The part of ADBC, version 1.1.0, that reading rows needs. It is an ABI: a driver is a shared
// library whose AdbcDriverInit fills in this table of functions. Names and order are those of the
// specification (Apache Arrow, https://arrow.apache.org/adbc); what is not called is a pointer
// without a type.
extern "C" {

using AdbcStatusCode = uint8_t;  // 0 is success

struct AdbcError {
  char* message;
  int32_t vendor_code;
  char sqlstate[5];
  void (*release)(AdbcError* error);
  // Of version 1.1.0.
  void* private_data;
  void* private_driver;
};

struct AdbcDatabase {
  void* private_data;
  void* private_driver;
};

struct AdbcConnection {
  void* private_data;
  void* private_driver;
};

struct AdbcStatement {
  void* private_data;
  void* private_driver;
};

struct AdbcDriver {
  void* private_data;
  void* private_manager;
  AdbcStatusCode (*release)(AdbcDriver*, AdbcError*);

  AdbcStatusCode (*DatabaseInit)(AdbcDatabase*, AdbcError*);
  AdbcStatusCode (*DatabaseNew)(AdbcDatabase*, AdbcError*);
  AdbcStatusCode (*DatabaseSetOption)(AdbcDatabase*, const char*, const char*, AdbcError*);
  AdbcStatusCode (*DatabaseRelease)(AdbcDatabase*, AdbcError*);

  void (*ConnectionCommit)();
  void (*ConnectionGetInfo)();
  void (*ConnectionGetObjects)();
  void (*ConnectionGetTableSchema)();
  void (*ConnectionGetTableTypes)();
  AdbcStatusCode (*ConnectionInit)(AdbcConnection*, AdbcDatabase*, AdbcError*);
  AdbcStatusCode (*ConnectionNew)(AdbcConnection*, AdbcError*);
  AdbcStatusCode (*ConnectionSetOption)(AdbcConnection*, const char*, const char*, AdbcError*);
  void (*ConnectionReadPartition)();
  AdbcStatusCode (*ConnectionRelease)(AdbcConnection*, AdbcError*);
  void (*ConnectionRollback)();

  void (*StatementBind)();
  void (*StatementBindStream)();
  AdbcStatusCode (*StatementExecuteQuery)(AdbcStatement*, ArrowArrayStream*, int64_t*, AdbcError*);
  void (*StatementExecutePartitions)();
  void (*StatementGetParameterSchema)();
  AdbcStatusCode (*StatementNew)(AdbcConnection*, AdbcStatement*, AdbcError*);
  void (*StatementPrepare)();
  AdbcStatusCode (*StatementRelease)(AdbcStatement*, AdbcError*);
  void (*StatementSetOption)();
  AdbcStatusCode (*StatementSetSqlQuery)(AdbcStatement*, const char*, AdbcError*);
  void (*StatementSetSubstraitPlan)();

  // Of version 1.1.0: null in drivers of version 1.0.0.
  void (*ErrorGetDetailCount)();
  void (*ErrorGetDetail)();
  void (*ErrorFromArrayStream)();
  void (*DatabaseGetOption)();
  void (*DatabaseGetOptionBytes)();
  void (*DatabaseGetOptionDouble)();
  void (*DatabaseGetOptionInt)();
  void (*DatabaseSetOptionBytes)();
  void (*DatabaseSetOptionDouble)();
  void (*DatabaseSetOptionInt)();
  // May be called while another thread waits for a statement of the connection.
  AdbcStatusCode (*ConnectionCancel)(AdbcConnection*, AdbcError*);
  void (*ConnectionGetOption)();
  void (*ConnectionGetOptionBytes)();
  void (*ConnectionGetOptionDouble)();
  void (*ConnectionGetOptionInt)();
  void (*ConnectionGetStatistics)();
  void (*ConnectionGetStatisticNames)();
  void (*ConnectionSetOptionBytes)();
  void (*ConnectionSetOptionDouble)();
  void (*ConnectionSetOptionInt)();
  void (*StatementCancel)();
  void (*StatementExecuteSchema)();
  void (*StatementGetOption)();
  void (*StatementGetOptionBytes)();
  void (*StatementGetOptionDouble)();
  void (*StatementGetOptionInt)();
  void (*StatementSetOptionBytes)();
  void (*StatementSetOptionDouble)();
  void (*StatementSetOptionInt)();
};

using AdbcDriverInitFunction = AdbcStatusCode (*)(int version, void* driver, AdbcError* error);
}

namespace residua {

inline constexpr int kAdbcVersion = 1'001'000;       // 1.1.0
inline constexpr int kFirstAdbcVersion = 1'000'000;  // 1.0.0

inline constexpr AdbcStatusCode kAdbcNotImplemented = 2;

}  // namespace residua
