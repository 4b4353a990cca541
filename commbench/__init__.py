"""commbench: how fast do my GPUs really talk, and what will that cost my training?

Nothing is imported here: `import commbench` costs no torch, scipy or matplotlib. Start at `commbench.sweep`
(the program started once per rank) or at `commbench.sweepfile` (the file that everything else reads).
"""

__version__ = "0.1.0"
