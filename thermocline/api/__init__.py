"""The Python API, as docs/python.md shows it: a function for what each command does.

A skin over the package's own functions as `thermocline.cli` is, which takes and returns their
classes.  Modules are imported when a function needs them, so that `import thermocline` is quick.
"""
