# The recorder and its cache model.  Twins keep their vector registers across calls of
# it, so the part they call may use none.
set(trace_recorder_sources
  trace/recorder.cpp trace/record.cpp trace/owners.cpp trace/tier_traffic.cpp)
set_source_files_properties(${trace_recorder_sources} PROPERTIES
  COMPILE_OPTIONS "-mgeneral-regs-only;-fno-builtin;-fno-lto")
set_source_files_properties(${trace_recorder_sources} trace/threads.cpp trace/owners_find.cpp trace/patch.cpp trace/unseen.cpp PROPERTIES
  INCLUDE_DIRECTORIES ${CMAKE_SOURCE_DIR})
list(APPEND runtime_sources ${trace_recorder_sources}
  trace/threads.cpp trace/owners_find.cpp trace/patch.cpp trace/unseen.cpp)
