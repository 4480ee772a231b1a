"""The dissertation's figures that hold no result."""

_DRAWING = "a drawing, no result"

LEFT_OUT = (
    ("fig2.1", "Die-stacked DRAM", _DRAWING),
    ("fig2.2", "A walk of native page tables", f"{_DRAWING}; docs/translation.md"),
    ("fig2.3", "A nested walk", f"{_DRAWING}; docs/translation.md"),
    ("fig5.1", "SILC-FM's sets", f"{_DRAWING}; docs/organisations.md"),
    ("fig5.2", "An interleaved swap", f"{_DRAWING}; docs/organisations.md"),
    ("fig5.3", "Locking and associativity", f"{_DRAWING}; docs/organisations.md"),
    ("fig5.4", "SILC-FM's data and metadata", f"{_DRAWING}; docs/organisations.md"),
    ("fig5.6", "SILC-FM's flow", f"{_DRAWING}; simulator/organisation/silc_fm.h is that flow"),
    ("fig6.1", "Migration by the operating system", f"{_DRAWING}; docs/migration.md"),
    ("fig7.1", "POM-TLB's rows", f"{_DRAWING}; docs/translation.md"),
    ("fig7.2", "POM-TLB's parts", f"{_DRAWING}; docs/translation.md"),
)
