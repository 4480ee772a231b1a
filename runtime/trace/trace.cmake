# The recorder and its cache model.  Twins keep their vector registers across calls of
# it, so the part they call may use none.
set(trace_recorder_sources
  trace/recorder.cpp trace/record.cpp trace/owners.cpp trace/tier_traffic.cpp trace/levels.cpp
  trace/stream.cpp trace/stream_tables.cpp trace/stream_windows.cpp trace/stream_functions.cpp trace/stream_blocks.cpp trace/stream_pages.cpp trace/stream_socket.cpp)
set_source_files_properties(${trace_recorder_sources} PROPERTIES
  COMPILE_OPTIONS "-mgeneral-regs-only;-fno-builtin;-fno-lto")
set(trace_vector_sources trace/levels_avx2.cpp trace/levels_avx512.cpp)
set_source_files_properties(trace/levels_avx2.cpp PROPERTIES
  COMPILE_OPTIONS "-mavx2;-mbmi;-fno-lto")
set_source_files_properties(trace/levels_avx512.cpp PROPERTIES
  COMPILE_OPTIONS "-mavx2;-mbmi;-mavx512f;-mavx512vl;-mavx512dq;-mavx512bw;-mprefer-vector-width=512;-fno-lto")
set_source_files_properties(${trace_recorder_sources} ${trace_vector_sources} trace/threads.cpp trace/owners_find.cpp trace/patch.cpp trace/functions.cpp trace/unseen.cpp trace/twin_work.cpp trace/sampler.cpp PROPERTIES
  INCLUDE_DIRECTORIES ${CMAKE_SOURCE_DIR})
list(APPEND runtime_sources ${trace_recorder_sources} ${trace_vector_sources}
  trace/threads.cpp trace/owners_find.cpp trace/patch.cpp trace/functions.cpp trace/unseen.cpp trace/twin_work.cpp trace/sampler.cpp)
