import logging

import pytest

from recurrent_mt.translation.loading import silence


def test_only_what_is_more_urgent_is_logged_until_it_ends(caplog):
    caplog.set_level(logging.INFO)
    with pytest.raises(KeyError), silence():
        logging.info("advice")
        logging.warning("a warning")
        raise KeyError
    logging.warning("later")
    assert caplog.messages == ["a warning", "later"]


def test_a_library_does_not_change_how_the_program_logs():
    root = logging.getLogger()
    before = root.level, root.handlers[:]
    with pytest.raises(KeyError), silence():
        # What logging.basicConfig does in a program that has not called it.
        root.setLevel(logging.DEBUG)
        root.addHandler(logging.NullHandler())
        raise KeyError
    assert (root.level, root.handlers) == before
