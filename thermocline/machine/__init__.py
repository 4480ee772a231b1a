"""Machine files: the project's one description of hardware (docs/machine-files.md)."""
