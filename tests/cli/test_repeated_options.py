"""Options given twice: argparse takes the last one without a word, and a result is of other input than was meant."""

from argparse import _SubParsersAction

import pytest

from recurrent_mt.cli.command import TOOLS, load_tool, make_parser


def list_parsers(parser):
    """The parser, and those of its commands."""
    yield parser
    for action in parser._actions:
        if isinstance(action, _SubParsersAction):
            for command in action.choices.values():
                yield from list_parsers(command)


def takes_several(action):
    """Whether each of the values that are given one after the other is kept, or all are the same."""
    return type(action).__name__ in ("_AppendAction", "_ExtendAction") or action.nargs == 0


@pytest.mark.parametrize("name", TOOLS)
def test_an_option_of_one_value_is_refused_by_name_when_it_is_given_twice(name, capsys):
    for parser in list_parsers(make_parser(TOOLS[name], load_tool(name))):
        for action in parser._actions:
            if not action.option_strings or takes_several(action):
                continue
            action.type, action.choices = str, None
            flag = action.option_strings[-1]
            count = action.nargs if isinstance(action.nargs, int) else 1
            with pytest.raises(SystemExit) as ended:
                parser.parse_args([flag, *["1"] * count, flag, *["2"] * count])
            assert ended.value.code == 2
            assert f"argument {'/'.join(action.option_strings)}: it is given twice" in capsys.readouterr().err
