"""The command ``recurrent-mt TOOL …``: one module per tool, loaded when the tool is called.

A tool is a module with two functions: ``configure(parser)`` adds its options, ``run(options)`` does the work. Its
docstring is the text of ``recurrent-mt TOOL --help``. `command` lists them all and calls them. Options that several
tools share are in `recurrent_mt.arguments`. Tools that need fairseq are in the plug-in's ``cli`` folder.
"""
