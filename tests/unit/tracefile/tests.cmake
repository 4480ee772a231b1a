# Traces as files and streams: round trips, damage, regions, other simulators' formats.
foreach(test columns file stream region foreign dependences)
  thermocline_unit_test(tracefile_${test}_test tracefile/${test}_test.cpp)
  target_include_directories(tracefile_${test}_test PRIVATE ${CMAKE_SOURCE_DIR})
  target_link_libraries(tracefile_${test}_test PRIVATE simulator_trace)
endforeach()
# The library's memory is what the sanitizers are for.
target_compile_options(simulator_trace PRIVATE ${sanitize})
target_link_options(simulator_trace INTERFACE ${sanitize})
