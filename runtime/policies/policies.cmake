# libthermocline-policies.so: the allocation policies as library calls.  It is no allocator, so
# that any program can link it; no C++ library, for C programs' sake.
set(policies ${CMAKE_CURRENT_LIST_DIR})
add_library(thermocline-policies SHARED
  ${policies}/failure.cpp ${policies}/nodes.cpp ${policies}/memory.cpp ${policies}/range.cpp
  ${policies}/spill.cpp ${policies}/isolation.cpp ${policies}/files.cpp ${policies}/threads.cpp
  guided/node_policy.cpp text.cpp)
target_include_directories(thermocline-policies
  PRIVATE ${CMAKE_CURRENT_SOURCE_DIR} guided policies
  INTERFACE ${CMAKE_BINARY_DIR}/include)
target_compile_options(thermocline-policies PRIVATE -fno-exceptions -fno-rtti)
set_target_properties(thermocline-policies PROPERTIES
  LIBRARY_OUTPUT_DIRECTORY ${THERMOCLINE_LIBRARY_DIR}
  LINKER_LANGUAGE C
  LINK_DEPENDS ${policies}/exports.map)
target_link_options(thermocline-policies PRIVATE
  -fuse-ld=lld -Wl,--as-needed -Wl,--version-script=${policies}/exports.map -Wl,-z,defs)
foreach(header policies.h policies.hpp thermocline_policies.f90)
  configure_file(${policies}/${header} ${CMAKE_BINARY_DIR}/include/thermocline/${header} COPYONLY)
endforeach()
