# Address translation by itself, against a slow model.
foreach(test translation walks)
  thermocline_unit_test(translation_${test}_test translation/${test}_test.cpp)
  target_link_libraries(translation_${test}_test PRIVATE simulator_translation simulator_placement
    simulator_memory)
endforeach()
