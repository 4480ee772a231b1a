"""Thermocline: puts each piece of a program's data in the right kind of memory."""

__version__ = "0.1.0"
