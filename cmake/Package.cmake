# `cmake --install`: the program, the library, its headers and the CMake package residua, all movable together.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/residua)

set_target_properties(residua_cli PROPERTIES INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
install(TARGETS residua_cli)
install(TARGETS residua EXPORT residuaTargets)
install(EXPORT residuaTargets NAMESPACE residua:: DESTINATION ${package_dir})

# Without the headers that show DuckDB, SQLite, JSON or TOML, which no other header includes.
install(DIRECTORY residua DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h"
  PATTERN column_reader.h EXCLUDE
  PATTERN duckdb_connection.h EXCLUDE
  PATTERN json_numbers.h EXCLUDE
  PATTERN relation.h EXCLUDE
  PATTERN sqlite_statement.h EXCLUDE
  PATTERN toml_reader.h EXCLUDE)

# The fetched DuckDB is nowhere else; the system's stays where it is.
if(DuckDB_LIBRARY MATCHES "^${DuckDB_FETCHED_DIR}/")
  install(FILES ${DuckDB_LIBRARY} DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()

configure_package_config_file(cmake/residuaConfig.cmake.in residuaConfig.cmake INSTALL_DESTINATION ${package_dir})
# Before 1.0.0, a new minor version may change the API.
write_basic_package_version_file(residuaConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/residuaConfig.cmake ${CMAKE_BINARY_DIR}/residuaConfigVersion.cmake
  DESTINATION ${package_dir})

install(FILES LICENSE NOTICE README.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs examples DESTINATION ${CMAKE_INSTALL_DOCDIR})
