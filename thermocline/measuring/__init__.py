"""What it costs: paired runs of variants of a program, and real programs to run them with."""
