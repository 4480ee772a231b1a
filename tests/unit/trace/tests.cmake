# The recorder against a slow and obvious model, and the walkers of extents.
set(trace ${CMAKE_CURRENT_SOURCE_DIR}/../../runtime/trace)
set(trace_recorder ${trace}/recorder.cpp ${trace}/record.cpp ${trace}/owners.cpp
  ${trace}/levels.cpp ${trace}/stream.cpp ${trace}/stream_tables.cpp
  ${trace}/stream_windows.cpp ${trace}/stream_functions.cpp ${trace}/stream_blocks.cpp ${trace}/stream_pages.cpp ${trace}/stream_socket.cpp)
set_source_files_properties(${trace_recorder} PROPERTIES COMPILE_OPTIONS
  "-mgeneral-regs-only;-fno-builtin;-fno-sanitize=all;-fno-exceptions")
set(trace_vectors ${trace}/levels_avx2.cpp ${trace}/levels_avx512.cpp)
set_source_files_properties(${trace}/levels_avx2.cpp PROPERTIES COMPILE_OPTIONS
  "-mavx2;-mbmi;-fno-exceptions")
set_source_files_properties(${trace}/levels_avx512.cpp PROPERTIES COMPILE_OPTIONS
  "-mavx2;-mbmi;-mavx512f;-mavx512vl;-mavx512dq;-mavx512bw;-mprefer-vector-width=512;-fno-exceptions")
foreach(test recorder extents stream)
  thermocline_unit_test(trace_${test}_test trace/${test}_test.cpp trace/stand_ins.cpp
    ${trace_recorder} ${trace_vectors} ${trace}/threads.cpp ${trace}/twin_work.cpp ${trace}/owners_find.cpp ${trace}/unseen.cpp
    ${trace}/../own_memory.cpp)
  target_include_directories(trace_${test}_test PRIVATE ${CMAKE_SOURCE_DIR})
endforeach()
target_link_libraries(trace_stream_test PRIVATE simulator_trace)
thermocline_unit_test(trace_cache_test trace/cache_test.cpp)
target_include_directories(trace_cache_test PRIVATE ${CMAKE_SOURCE_DIR})
