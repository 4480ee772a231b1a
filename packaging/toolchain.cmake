# Builds a CMake project with Thermocline's compilers:
#   cmake -DCMAKE_TOOLCHAIN_FILE=PREFIX/lib/cmake/thermocline/toolchain.cmake [-DTHERMOCLINE_CONTEXT=4]
get_filename_component(_thermocline "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
set(CMAKE_C_COMPILER "${_thermocline}/bin/thermocline-clang")
set(CMAKE_CXX_COMPILER "${_thermocline}/bin/thermocline-clang++")
set(CMAKE_Fortran_COMPILER "${_thermocline}/bin/thermocline-flang")
# Callers that tell sites apart, for the final link (docs/sites-and-contexts.md).
if(DEFINED THERMOCLINE_CONTEXT)
  set(CMAKE_EXE_LINKER_FLAGS_INIT "--thermocline-context=${THERMOCLINE_CONTEXT}")
  set(CMAKE_SHARED_LINKER_FLAGS_INIT "--thermocline-context=${THERMOCLINE_CONTEXT}")
  # CMake tries the compilers in a project of its own, which reads this file again.
  list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES THERMOCLINE_CONTEXT)
endif()
unset(_thermocline)
