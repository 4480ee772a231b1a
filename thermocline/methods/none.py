"""No traffic: allocations and resident bytes, which every profile has."""

from thermocline.methods.base import Method, Request


class Nothing(Method):
    """docs/profiling-heap.md."""

    name = "none"
    summary = "allocations and capacity only, no traffic"

    def lacks(self) -> str:
        """Nothing."""
        return ""

    def directives(self, request: Request) -> list[str]:
        """The profiling heap alone."""
        self.takes_no_sampling(request)
        return ["sampler none"]
