# Written and accessed pages.
thermocline_unit_test(pages_smaps_test pages/smaps_test.cpp ${runtime}/pages/smaps.cpp)
thermocline_library_test(pages_sampler_test pages/sampler_test.cpp)
