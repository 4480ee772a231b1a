# The simulator's cores, caches, placements and organisations, on memories of fixed latency.
foreach(test core caches kept placement migration migrate organisation swapping
             address_space router)
  thermocline_unit_test(system_${test}_test system/${test}_test.cpp)
  target_link_libraries(system_${test}_test PRIVATE simulator_placement simulator_translation
    simulator_memory)
endforeach()
