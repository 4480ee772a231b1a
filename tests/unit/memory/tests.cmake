# The simulator's memory devices.
foreach(test config dram link nvm screening)
  if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/memory/${test}_test.cpp)
    thermocline_unit_test(memory_${test}_test memory/${test}_test.cpp)
    target_include_directories(memory_${test}_test PRIVATE ${CMAKE_SOURCE_DIR})
    target_link_libraries(memory_${test}_test PRIVATE simulator_memory)
  endif()
endforeach()
