"""A running program, seen while it runs: `thermocline top`."""
