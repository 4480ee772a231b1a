"""Sphinx's settings for `make docs`."""

project = "Thermocline"
html_title = "Thermocline"
extensions = ["myst_parser"]
html_theme = "furo"
html_show_sourcelink = False
html_copy_source = False
exclude_patterns = ["**.ipynb"]
# As GitHub makes them of headings, so that one link works in both.
myst_heading_anchors = 4
nitpicky = True
smartquotes = False  # "--" is an option's
