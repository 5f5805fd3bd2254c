"""The command ``recurrent-mt TOOL …``: one module a tool, loaded when the tool is called.

A tool is a module with two functions: ``configure(parser)`` adds its options, ``run(options)`` does the work. Its
docstring is the text of ``recurrent-mt TOOL --help``. `tools` lists them all; `command` calls them; those that need
fairseq lie in the plug-in's folder ``cli``, where `plugin` finds them.
"""
