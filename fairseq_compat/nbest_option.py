"""Refuses to list more hypotheses than a search has.

fairseq 0.12.2 lists those that there are: with ``--beam 2 --nbest 5`` two, without a word.
"""

import functools


def repair(options):
    """Make ``fairseq.options.parse_args_and_arch`` end with a usage error."""
    parse = options.parse_args_and_arch

    @functools.wraps(parse)
    def parse_and_compare(parser, *args, **kwargs):
        parsed = parse(parser, *args, **kwargs)
        namespace = parsed[0] if isinstance(parsed, tuple) else parsed
        # A command that does not search has neither; with suppress_defaults, only what was given is there.
        nbest = getattr(namespace, "nbest", 0)
        beam = getattr(namespace, "beam", nbest)
        if nbest > beam:
            parser.error(f"--nbest {nbest} needs a search with as many hypotheses: --beam {nbest}, not --beam {beam}")
        return parsed

    options.parse_args_and_arch = parse_and_compare
