import logging

import pytest

from recurrent_mt.silence import silence


def test_only_what_is_more_urgent_is_logged_until_it_ends(caplog):
    with pytest.raises(KeyError), silence(logging.WARNING):
        logging.warning("advice")
        logging.error("an error")
        raise KeyError
    logging.warning("later")
    assert caplog.messages == ["an error", "later"]
