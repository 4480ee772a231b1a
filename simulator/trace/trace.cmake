# What the trace library needs beside what every part of the simulator does, and its tool.
pkg_check_modules(XXHASH REQUIRED IMPORTED_TARGET libxxhash)
pkg_check_modules(LZMA REQUIRED IMPORTED_TARGET liblzma)
find_package(ZLIB REQUIRED)
target_link_libraries(simulator_trace PUBLIC PkgConfig::XXHASH PkgConfig::LZMA ZLIB::ZLIB)

find_package(CLI11 REQUIRED)
add_executable(thermocline-trace trace/tool/main.cpp trace/tool/info.cpp)
target_link_libraries(thermocline-trace PRIVATE simulator_trace CLI11::CLI11)
# A helper of the `thermocline` command, beside what programs load.
set_target_properties(thermocline-trace PROPERTIES
  RUNTIME_OUTPUT_DIRECTORY ${THERMOCLINE_LIBRARY_DIR})
