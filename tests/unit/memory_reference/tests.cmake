# The DRAM controller against a second, cycle-by-cycle model of docs/memory-devices.md.
if(TARGET simulator_memory)
  thermocline_unit_test(memory_reference_test memory_reference/reference_test.cpp)
  target_include_directories(memory_reference_test PRIVATE ${CMAKE_SOURCE_DIR})
  target_link_libraries(memory_reference_test PRIVATE simulator_memory)
endif()
