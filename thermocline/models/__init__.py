"""Analytic models of a machine file: bandwidth of split traffic, roofline, power and energy."""
