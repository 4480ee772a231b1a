"""Running annotated programs under a configuration (docs/internals.md, "Configuration")."""
