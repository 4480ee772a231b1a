# Hardware sampling: its decoders by themselves, and the live path with page faults.
set(sampling ${runtime}/sample)
thermocline_unit_test(sample_records_test sample/records_test.cpp ${sampling}/records.cpp)
thermocline_unit_test(sample_spe_test sample/spe_test.cpp ${sampling}/spe.cpp)
thermocline_unit_test(sample_data_source_test sample/data_source_test.cpp ${sampling}/data_source.cpp)
thermocline_unit_test(sample_events_test sample/events_test.cpp ${sampling}/events.cpp
  ${runtime}/config.cpp ${runtime}/config_reader.cpp
  ${runtime}/text.cpp)
thermocline_unit_test(sample_drain_test sample/drain_test.cpp ${sampling}/drain.cpp
  ${sampling}/counts.cpp ${sampling}/outside.cpp ${sampling}/records.cpp ${sampling}/spe.cpp
  ${sampling}/data_source.cpp ${runtime}/text.cpp ${runtime}/own_memory.cpp
  ${runtime}/sites/site_heap.cpp ${runtime}/sites/site_heap_range.cpp
  ${runtime}/sites/site_heap_span.cpp ${runtime}/sites/site_heap_thread.cpp
  ${runtime}/sites/site_heap_bin.cpp ${runtime}/sites/site_heap_large.cpp
  ${runtime}/sites/site_stats.cpp ${runtime}/sites/page_scan.cpp ${runtime}/sites/nonheap.cpp)
thermocline_library_test(sample_sampler_test sample/sampler_test.cpp)
