"""Commands of the documentation that are not run here, and why; their options are checked."""

# A piece of the command -> the reason.  Each has to match one at least.
NOT_RUN = {
    "...": "a pattern to be filled in",
    "[": "a synopsis",
    "-- CMD": "a synopsis",
    " FILE": "a synopsis",
    "tcp://HOST": "needs a Dask scheduler; tests/python/test_executors.py has one",
    "machine measure": "minutes; tests/python/test_measure.py",
    "machine calibrate": "half a minute and more; tests/python/test_calibrate.py",
    "workloads OUT=build/demo": "the workloads' builds take minutes; tests/workloads",
    "--method sample -- ": "the processor has to sample addresses",
    "--method sample --rate": "the processor has to sample addresses",
    "perf mem record": "the processor has to sample addresses; tests/loop/test_sampled_outside.py",
    "--method mbi -o lulesh.profile": "needs counters of each memory's traffic",
    "reproduce membrain": "minutes to hours; tests/loop/test_reproduce.py",
    "reproduce ryoo": "minutes to hours; tests/loop/test_reproduce.py",
    "reproduce --all": "minutes to hours; tests/loop/test_reproduce.py",
    "thermocline translation": "needs counters of page walks",
    "--configuration PMM": "needs nodes of persistent memory",
    "top -- ": "needs a terminal; tests/loop/test_top.py",
    "top --machine": "needs a terminal; tests/loop/test_top.py",
    "top --plan": "needs a terminal; tests/loop/test_top.py",
    "top --pid": "needs a terminal; tests/loop/test_top.py",
}
