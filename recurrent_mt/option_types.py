"""Types of command-line options, for the tools here and in the plug-in."""

from argparse import ArgumentTypeError


def positive(text: str) -> int:
    """Reads a whole number above zero."""
    if not text.isdecimal() or not int(text):
        raise ArgumentTypeError(f"{text!r} is not a whole number above zero")
    return int(text)


def whole_numbers(text: str) -> list[int]:
    """Reads a list of whole numbers between commas."""
    try:
        return [int(number) for number in text.split(",")]
    except ValueError:
        raise ArgumentTypeError(f"{text!r} is not a list of whole numbers like 10,20,30") from None
