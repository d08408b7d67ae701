# `cmake --install`: the program, the library, its headers and the CMake package residua, all movable together.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/residua)

set_target_properties(residua_cli PROPERTIES INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
install(TARGETS residua_cli)
install(TARGETS residua EXPORT residuaTargets)
install(EXPORT residuaTargets NAMESPACE residua:: DESTINATION ${package_dir})

# What a program needs to plan, measure, reconstruct and keep files, and what those headers include. Never a header that
# shows true counts, or DuckDB, JSON or TOML; tests/package checks the list.
set(residua_public_headers
  base/error.h base/int128.h base/memory.h base/rational.h base/version.h
  model/attribute.h model/attribute_set.h model/closure.h model/domain.h model/multiset_table.h model/symmetry.h
  model/workload.h
  basis/query_matrix.h basis/query_space.h basis/residual_basis.h basis/residual_matrix.h
  basis/strategy_solver.h
  privacy/budget.h privacy/conversion.h privacy/exact_cost.h privacy/protection.h
  select/lower_bound.h select/objective.h select/plan.h select/plan_cost.h select/plan_errors.h select/select.h
  select/solvers.h select/variance_matrix.h
  noise/bit_source.h noise/secure_bits.h
  measure/counting_options.h measure/encoded_table.h measure/measure.h measure/measurements.h
  reconstruct/estimate.h reconstruct/loaded_table.h reconstruct/nonnegative_tables.h reconstruct/product_query.h
  reconstruct/query_answer.h reconstruct/residual_index.h reconstruct/table_answers.h
  reconstruct/table_batches.h reconstruct/table_reconstruction.h reconstruct/whole_counts.h
  io/basis_cache.h io/data_source.h io/draft_spec.h io/exploring_text.h io/ledger.h io/measure_to_file.h
  io/measurement_file.h io/parquet_writer.h io/plan_file.h io/query_shape.h io/query_text.h io/spec.h
  io/stream_tables.h io/table_files.h io/text_places.h io/value_encoder.h)
foreach(header ${residua_public_headers})
  get_filename_component(folder ${header} DIRECTORY)
  install(FILES residua/${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/residua/${folder})
endforeach()

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
