# Sources of one room include the same headers, and most of the compile time goes into reading them:
# with RESIDUA_UNITY they are compiled several at a time. SIZE is a compromise with the time that a
# change to one file takes.
#   residua_batches(NAME SIZE SOURCE...), for each room of a target, then residua_compile_batches(TARGET).
# As few batches as SIZE allows, as equal as can be.
function(residua_batches name size)
  list(LENGTH ARGN count)
  math(EXPR batches "(${count} + ${size} - 1) / ${size}")
  set(index 0)
  foreach(source ${ARGN})
    math(EXPR batch "${index} * ${batches} / ${count}")
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${name}_${batch})
    math(EXPR index "${index} + 1")
  endforeach()
endfunction()

function(residua_compile_batches target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${RESIDUA_UNITY} UNITY_BUILD_MODE GROUP)
endfunction()
