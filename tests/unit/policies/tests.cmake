# The allocation policies, as a program sees them.
thermocline_unit_test(policies_test
  policies/memory_test.cpp policies/range_test.cpp policies/files_test.cpp
  policies/threads_test.cpp policies/resource_test.cpp)
target_link_libraries(policies_test PRIVATE thermocline-policies)
thermocline_unit_test(node_list_test policies/node_list_test.cpp ${runtime}/policies/nodes.cpp
  ${runtime}/guided/node_policy.cpp ${runtime}/text.cpp)
target_include_directories(node_list_test PRIVATE ${runtime}/policies)
