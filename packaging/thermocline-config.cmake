# find_package(thermocline): target thermocline::policies, the allocation policies as a library
# (docs/policies.md); thermocline_Fortran_MODULE_SOURCE is the Fortran interface to compile along.
# Works wherever the installation is moved to.
get_filename_component(_thermocline "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
if(NOT TARGET thermocline::policies)
  add_library(thermocline::policies SHARED IMPORTED)
  set_target_properties(thermocline::policies PROPERTIES
    IMPORTED_LOCATION "${_thermocline}/lib/thermocline/libthermocline-policies.so"
    IMPORTED_NO_SONAME TRUE
    INTERFACE_INCLUDE_DIRECTORIES "${_thermocline}/include")
endif()
set(thermocline_Fortran_MODULE_SOURCE "${_thermocline}/include/thermocline/thermocline_policies.f90")
unset(_thermocline)
