"""From a machine file, a trace and a scheme to a simulation's configuration, and running it."""
