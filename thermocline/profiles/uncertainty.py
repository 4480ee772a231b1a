"""How far a sampled figure may be off: 95 % intervals for a number of samples.

Samples come one in a period of events, so that a site's number of them is Poisson-distributed (or
less widely); the interval is the exact one (Garwood 1936).  Where periods differ, the effective
number of samples is the square of the periods' sum over the sum of their squares.  It tells of the
samples' chance only: what the event itself does not see is in docs/method-sample.md.
"""

from thermocline.profiles.model import Profile, Site

CONFIDENCE = 0.95


def is_complete(profile: Profile) -> bool:
    """Whether every sample was read."""
    return not any(profile.sampling.get(name) for name in ("lost", "throttled", "damaged"))


def _factors(site: Site, complete: bool) -> tuple[float, float]:
    """The interval's ends as multiples of the estimate, for a site that has samples."""
    from scipy.special import gammaincinv

    samples = site.effective_samples or 1
    if complete and site.events == site.samples:  # every single event
        return 1, 1

    tail = (1 - CONFIDENCE) / 2
    low = float(gammaincinv(samples, tail))
    high = float(gammaincinv(samples + 1, 1 - tail))
    return low / samples, high / samples


def interval(site: Site, figure: int, complete: bool = True) -> tuple[float, float] | None:
    """A sampled figure's ends, in its unit; None if the site has no samples.

    `complete`: no sample was lost.
    """
    if not site.effective_samples:
        return None
    low, high = _factors(site, complete)
    return figure * low, figure * high


def format_interval(site: Site, complete: bool = True) -> str:
    """`-12% +14%`, of the figure."""
    if not site.effective_samples:
        return "-"
    low, high = _factors(site, complete)
    if low == high:
        return "exact"
    return f"-{1 - low:.0%} +{high - 1:.0%}"
