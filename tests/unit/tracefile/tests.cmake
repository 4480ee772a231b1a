# Traces as files and streams: round trips, damage, regions, other simulators' formats.
foreach(test columns file stream region foreign dependences)
  thermocline_unit_test(tracefile_${test}_test tracefile/${test}_test.cpp)
  target_include_directories(tracefile_${test}_test PRIVATE ${CMAKE_SOURCE_DIR})
  target_link_libraries(tracefile_${test}_test PRIVATE simulator_trace)
endforeach()
