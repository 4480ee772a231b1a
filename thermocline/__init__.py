"""Thermocline: puts each piece of a program's data in the right kind of memory.

    import thermocline as tc

The functions here do what the commands do (docs/python.md); their errors are ThermoclineError.
"""

# Four packages have the names of functions: loaded first, they leave these names to the functions
# (`from thermocline.run import ...` finds the package all the same).
import thermocline.machine
import thermocline.reproduce
import thermocline.run
import thermocline.sites  # noqa: F401
from thermocline.api.answers import auto, report, simulate
from thermocline.api.guidance import (
    cross_validate,
    export,
    load_plan,
    load_run,
    migrate,
    plan,
    predict,
    run,
    run_bound,
    run_online,
)
from thermocline.api.live import top
from thermocline.api.machines import (
    calibrate,
    detect,
    doctor,
    machine,
    machines,
    measure,
    roofline,
    roofline_sites,
    translation,
)
from thermocline.api.papers import reproduce, reproduce_all, reproductions
from thermocline.api.programs import (
    import_samples,
    load_profile,
    profile,
    profile_processes,
    sites,
    sites_sweep,
)
from thermocline.api.traces import export_trace, import_trace, load_trace, trace, trace_processes
from thermocline.errors import Misuse, ThermoclineError
from thermocline.version import __version__

__all__ = [
    "Misuse",
    "ThermoclineError",
    "__version__",
    "auto",
    "calibrate",
    "cross_validate",
    "detect",
    "doctor",
    "export",
    "export_trace",
    "import_samples",
    "import_trace",
    "load_plan",
    "load_profile",
    "load_run",
    "load_trace",
    "machine",
    "machines",
    "measure",
    "migrate",
    "plan",
    "predict",
    "profile",
    "profile_processes",
    "report",
    "reproduce",
    "reproduce_all",
    "reproductions",
    "roofline",
    "roofline_sites",
    "run",
    "run_bound",
    "run_online",
    "simulate",
    "sites",
    "sites_sweep",
    "top",
    "trace",
    "trace_processes",
    "translation",
]
