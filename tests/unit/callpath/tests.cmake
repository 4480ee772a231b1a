set(callpath_sources ${runtime}/callpath/call_path.cpp ${runtime}/callpath/frame_rule.cpp
  ${runtime}/callpath/frame_machine.cpp ${runtime}/callpath/modules_of_code.cpp ${runtime}/callpath/thread_stack.cpp
  ${runtime}/own_memory.cpp ${runtime}/text.cpp)
thermocline_unit_test(frame_rule_test callpath/frame_rule_test.cpp
  ${runtime}/callpath/frame_rule.cpp ${runtime}/callpath/frame_machine.cpp)
thermocline_unit_test(call_path_test callpath/call_path_test.cpp
  callpath/call_path_walk_test.cpp callpath/with_frame_pointer.cpp
  callpath/sites_stand_in.cpp ${callpath_sources})
set_source_files_properties(callpath/with_frame_pointer.cpp PROPERTIES
  COMPILE_OPTIONS "-fno-omit-frame-pointer;-fno-asynchronous-unwind-tables;-fno-unwind-tables;-fno-exceptions")
# Two modules of one layout, so that one is mapped where the other was.
foreach(number 1 2)
  add_library(callpath_guest${number} MODULE callpath/guest.cpp)
  target_compile_definitions(callpath_guest${number} PRIVATE GUEST=${number})
  set_target_properties(callpath_guest${number} PROPERTIES
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  target_compile_definitions(call_path_test PRIVATE
    GUEST${number}="$<TARGET_FILE:callpath_guest${number}>")
  add_dependencies(call_path_test callpath_guest${number})
endforeach()
