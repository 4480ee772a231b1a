"""Who owned which address when, for samples that perf takes from outside (docs/perf-script.md)."""

from thermocline.methods.base import Method, Request


class Owners(Method):
    """docs/perf-script.md."""

    name = "owners"
    summary = "no traffic, but what 'import' needs to tell perf's samples apart"

    def lacks(self) -> str:
        """Nothing."""
        return ""

    def directives(self, request: Request) -> list[str]:
        """The sampler that logs owners."""
        self.takes_no_sampling(request)
        return ["sampler owners"]
