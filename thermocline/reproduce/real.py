"""Real programs from Debian's sources (thermocline/measuring), built once for these wrappers."""

from thermocline import paths
from thermocline.errors import ThermoclineError
from thermocline.measuring import debian_source
from thermocline.measuring.real_programs import JOBS, REAL_PROGRAMS, BuiltProgram
from thermocline.reproduce import cache


def build(name: str) -> BuiltProgram:
    """The annotated program; its folder is named by the source's version and the compilers."""
    program = REAL_PROGRAMS[name]
    debian_source.fetch(program.package)
    made_from = [
        paths.wrapper(),
        *(paths.library(f"{each}.so") for each in ("thermocline-plugin", "libthermocline")),
    ]
    key = cache.key(
        debian_source.archive(program.package), program.build, cache.digest_of_files(made_from)
    )
    return BuiltProgram(name, cache.root() / f"{name}-real-{key}")


def trouble(name: str) -> str:
    """Builds it; why it can't be had, or nothing."""
    try:
        build(name)
    except ThermoclineError as error:
        return str(error)
    return ""


def digest(name: str) -> str:
    """Of what its job reads, beside its size."""
    program = REAL_PROGRAMS[name]
    files = sorted(path for path in JOBS.iterdir() if path.is_file())
    return cache.key(program.job, program.stdin, cache.digest_of_files(files))
