"""The command ``recurrent-mt TOOL …``: one module per tool, loaded when the tool is called.

A tool is a module with two functions: ``configure(parser)`` adds its options, ``run(options)`` does the work. Its
docstring is the text of ``recurrent-mt TOOL --help``. `tools` lists them all, and `command` calls them. `arguments` and
`inputs` have the options that several tools share. Tools that need fairseq are in the plug-in's ``cli`` folder, where
`plugin` finds them.
"""
