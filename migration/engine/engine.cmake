# Preloaded into any program: no C++ library, and what it exports it means to replace.
set(runtime ${CMAKE_SOURCE_DIR}/runtime)
set(engine_sources
  back_end.cpp engine.cpp events.cpp faults.cpp mappings.cpp mover.cpp page_table.cpp planned.cpp
  process.cpp remaps.cpp replacement.cpp report.cpp settings.cpp userfault.cpp)
list(TRANSFORM engine_sources PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/engine/)
list(APPEND engine_sources policies/registry.cpp
  ${runtime}/own_memory.cpp ${runtime}/own_thread.cpp ${runtime}/text.cpp)

set(CMAKE_CXX_IMPLICIT_LINK_LIBRARIES "") # or CMake links the C++ library
add_library(thermocline-migrate SHARED ${engine_sources})
target_include_directories(thermocline-migrate PRIVATE ${CMAKE_SOURCE_DIR} ${runtime})
target_compile_options(thermocline-migrate PRIVATE -O2 -fno-exceptions -fno-rtti
  -fno-threadsafe-statics -ftls-model=initial-exec)
set_target_properties(thermocline-migrate PROPERTIES
  LIBRARY_OUTPUT_DIRECTORY ${THERMOCLINE_LIBRARY_DIR} LINKER_LANGUAGE C
  LINK_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/engine/exports.map)
target_link_options(thermocline-migrate PRIVATE -fuse-ld=lld -Wl,--as-needed
  -Wl,--version-script=${CMAKE_CURRENT_SOURCE_DIR}/engine/exports.map
  -Wl,-z,defs -Wl,-z,now -Wl,-z,nodelete)
