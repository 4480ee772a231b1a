"""`python -m thermocline` is the same as `thermocline`."""

from thermocline.cli import main

main()
