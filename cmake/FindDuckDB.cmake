# DuckDB::duckdb: the system's DuckDB, or else the one scripts/fetch_duckdb.sh put into build/duckdb.
# Header and library are taken from the same place. pip builds the sources in a folder of its own, in which nobody has
# fetched it; then it is fetched there.
set(DuckDB_FETCHED_DIR ${CMAKE_CURRENT_LIST_DIR}/../build/duckdb)
get_filename_component(DuckDB_FETCHED_DIR ${DuckDB_FETCHED_DIR} ABSOLUTE)

find_path(DuckDB_SYSTEM_INCLUDE_DIR duckdb.h)
find_library(DuckDB_SYSTEM_LIBRARY duckdb)
if(DuckDB_SYSTEM_INCLUDE_DIR AND DuckDB_SYSTEM_LIBRARY)
  set(DuckDB_INCLUDE_DIR ${DuckDB_SYSTEM_INCLUDE_DIR})
  set(DuckDB_LIBRARY ${DuckDB_SYSTEM_LIBRARY})
else()
  if(SKBUILD AND NOT EXISTS ${DuckDB_FETCHED_DIR}/duckdb.h)
    execute_process(COMMAND ${CMAKE_CURRENT_LIST_DIR}/../scripts/fetch_duckdb.sh --no-install)
  endif()
  find_path(DuckDB_INCLUDE_DIR duckdb.h PATHS ${DuckDB_FETCHED_DIR} NO_DEFAULT_PATH)
  find_library(DuckDB_LIBRARY duckdb PATHS ${DuckDB_FETCHED_DIR} NO_DEFAULT_PATH)
endif()
mark_as_advanced(DuckDB_SYSTEM_INCLUDE_DIR DuckDB_SYSTEM_LIBRARY DuckDB_INCLUDE_DIR DuckDB_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(DuckDB REQUIRED_VARS DuckDB_LIBRARY DuckDB_INCLUDE_DIR
  REASON_FAILURE_MESSAGE "run scripts/fetch_duckdb.sh, or install DuckDB on the system")

# A shared library known by its full path: CMake puts its folder into the run path of what links it.
if(DuckDB_FOUND AND NOT TARGET DuckDB::duckdb)
  add_library(DuckDB::duckdb SHARED IMPORTED)
  set_target_properties(DuckDB::duckdb PROPERTIES
    IMPORTED_LOCATION ${DuckDB_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${DuckDB_INCLUDE_DIR})
endif()
