# `cmake --install`: the program, the library, its headers and the CMake package residua, all movable together.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/residua)

set_target_properties(residua_cli PROPERTIES INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
install(TARGETS residua_cli)
install(TARGETS residua_core EXPORT residuaCoreTargets)
install(TARGETS residua_text residua EXPORT residuaTargets)
install(EXPORT residuaCoreTargets NAMESPACE residua:: DESTINATION ${package_dir})
install(EXPORT residuaTargets NAMESPACE residua:: DESTINATION ${package_dir})

# What a program needs to plan, measure, reconstruct and keep files, and what those headers include. Never a header that
# shows true counts, or DuckDB, JSON or TOML; tests/package checks the list.
set(residua_public_headers
  residua.h
  base/enum_texts.h base/error.h base/int128.h base/memory.h base/number_text.h base/rational.h base/version.h
  model/attribute.h model/attribute_set.h model/cell_finder.h model/closure.h model/date.h model/domain.h model/encoding.h model/mean_encoding.h
  model/multiset_table.h model/symmetry.h model/text_places.h model/workload.h
  basis/basis_inverse.h basis/basis_kind.h basis/cell_tree.h basis/query_limits.h basis/query_matrix.h basis/residual_basis.h
  basis/residual_matrix.h
  privacy/budget.h privacy/conversion.h privacy/exact_cost.h privacy/protection.h privacy/suspicion.h
  select/combined_plan.h select/lower_bound.h select/objective.h select/plan.h select/plan_cost.h select/plan_errors.h
  select/select.h select/select_after.h select/solvers/noise_solution.h
  noise/bit_source.h noise/secure_bits.h
  measure/counted_rows.h measure/counting_options.h measure/encoded_table.h measure/measure.h measure/measured_sets.h measure/measurements.h
  reconstruct/answer_kind.h reconstruct/estimate.h reconstruct/loaded_table.h reconstruct/mean_estimate.h
  reconstruct/nonnegative_tables.h
  reconstruct/product_query.h reconstruct/query_answer.h reconstruct/residual_index.h reconstruct/table_answers.h
  reconstruct/simultaneous.h reconstruct/table_batches.h reconstruct/table_reconstruction.h reconstruct/whole_counts.h
  text/budget_text.h text/choice_text.h text/domain_text.h text/question_text.h text/workload_text.h
  data/data_source.h data/query_shape.h data/value_encoder.h
  files/basis_cache.h files/companion_columns.h files/measurement_file.h files/plan_file.h files/spec.h files/table_files.h
  files/table_names.h files/verify_file.h
  ledger/ledger.h
  draft/check_spec.h draft/draft_spec.h
  release/answer_questions.h release/data_places.h release/expected_errors.h release/measure_to_file.h release/page.h
  release/combine.h release/publish_tables.h release/published_errors.h release/question_answer.h release/release.h
  release/release_folder.h release/stream_tables.h
  release/summary.h release/warnings.h)
foreach(header ${residua_public_headers})
  get_filename_component(folder ${header} DIRECTORY)
  install(FILES residua/${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/residua/${folder})
endforeach()

# The fetched DuckDB is installed too, because it is nowhere else; the system's DuckDB is not.
if(DuckDB_LIBRARY MATCHES "^${DuckDB_FETCHED_DIR}/")
  install(FILES ${DuckDB_LIBRARY} DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()

configure_package_config_file(cmake/residuaConfig.cmake.in residuaConfig.cmake INSTALL_DESTINATION ${package_dir})
# Before 1.0.0, a new minor version may change the API.
write_basic_package_version_file(residuaConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/residuaConfig.cmake ${CMAKE_BINARY_DIR}/residuaConfigVersion.cmake
  DESTINATION ${package_dir})

install(FILES ${CMAKE_BINARY_DIR}/shell/residua.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${CMAKE_BINARY_DIR}/shell/residua.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
  RENAME residua)
install(FILES ${CMAKE_BINARY_DIR}/shell/_residua DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES ${CMAKE_BINARY_DIR}/shell/residua.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
install(FILES LICENSE NOTICE README.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs examples DESTINATION ${CMAKE_INSTALL_DOCDIR})
