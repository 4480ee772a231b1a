# Everything else is times and rates.
/PASSED\|FAILED\|errors in\|[Ss]uccess=\|Failed\|Number of/!d
