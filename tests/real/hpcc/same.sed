# Keeps verdicts and residuals; everything else is times and rates.  A line for
# processor time appears only when the clock had moved.
/PASSED\|FAILED\|errors in\|[Ss]uccess=\|Failed\|Number of/!d
/^CPU/d
s/^\(WALL.*\) [0-9.]* PASSED.*/\1 PASSED/
