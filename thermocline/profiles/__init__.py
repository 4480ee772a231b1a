"""Profiles: what each site's data costs in memory traffic and capacity (docs/formats.md)."""
