thermocline_unit_test(measure_test ${CMAKE_CURRENT_LIST_DIR}/kernels_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/memory_test.cpp)
target_link_libraries(measure_test PRIVATE measure_kernels)
