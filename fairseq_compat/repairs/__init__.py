"""What fairseq 0.12.2 does wrong, in a file for each of its modules, or for several that belong together.

A file is imported when a module that it repairs has been executed, and not before: it takes names from that.
"""
