# The simulator itself, a helper of the `thermocline` command.
add_executable(thermocline-simulator main.cpp system/config.cpp system/simulate.cpp
  system/answer.cpp system/survey.cpp system/translation_config.cpp
  system/translation_answer.cpp)
target_link_libraries(thermocline-simulator PRIVATE
  simulator_placement simulator_translation simulator_memory simulator_trace CLI11::CLI11)
set_target_properties(thermocline-simulator PROPERTIES
  RUNTIME_OUTPUT_DIRECTORY ${THERMOCLINE_LIBRARY_DIR})
