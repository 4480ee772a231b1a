# The estimate that bursts make, and their lengths, without a program.
set(bursts ${CMAKE_CURRENT_SOURCE_DIR}/../../runtime/bursts)
thermocline_unit_test(bursts_test bursts/bursts_test.cpp ${bursts}/estimate.cpp
  ${bursts}/phases.cpp ${bursts}/../own_memory.cpp)
