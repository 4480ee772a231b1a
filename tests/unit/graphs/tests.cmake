# The graph workloads' generators and construction.
thermocline_unit_test(graphs_test graphs/graphs_test.cpp)
target_include_directories(graphs_test PRIVATE ${CMAKE_SOURCE_DIR}/workloads)
# Their OpenMP pragmas; one thread here.
target_compile_options(graphs_test PRIVATE -Wno-unknown-pragmas)
