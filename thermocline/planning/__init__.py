"""Plans: site -> tier, made from profiles under a capacity (docs/formats.md)."""
