"""The exact profile: each reference of the annotated code, through a model of the caches."""

from thermocline.methods.base import Method, Request


class Trace(Method):
    """docs/trace-profile.md."""

    name = "trace"
    summary = "exact, works everywhere, slow"

    def lacks(self) -> str:
        """Nothing: it needs neither counters nor permissions."""
        return ""

    def directives(self, request: Request) -> list[str]:
        """The recorder of the program's twins."""
        self.takes_no_sampling(request)
        self.needs_annotation(request)
        return ["sampler trace"]
