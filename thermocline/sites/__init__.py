"""Allocation sites of an annotated program (docs/internals.md, "Site keys")."""
