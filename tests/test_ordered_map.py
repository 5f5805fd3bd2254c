"""Work for several processes, in order."""

import subprocess
import sys

import pytest

from recurrent_mt.ordered_map import map_lines, ordered_map


@pytest.mark.parametrize("jobs", [1, 2])
def test_lines_keep_their_order(jobs):
    lines = [str(number) for number in range(9001)]
    assert list(map_lines(lambda line: f"<{line}>", lines, jobs)) == [f"<{line}>" for line in lines]


def test_few_items_are_taken_ahead_of_a_slow_reader():
    taken = 0

    def count_items():
        nonlocal taken
        for item in range(200):
            taken += 1
            yield item

    results = ordered_map(str, count_items(), 2)
    for read in range(20):
        assert next(results) == str(read)
        assert taken <= read + 6
    results.close()


def test_the_error_of_an_item_is_raised_where_it_is_read():
    results = ordered_map(lambda item: 1 // item, [1, 0], 2)
    assert next(results) == 1
    with pytest.raises(ZeroDivisionError):
        next(results)


def test_functions_need_not_be_sent_where_python_does_not_fork_by_itself():
    """As Python 3.14, which starts processes with a server unless asked otherwise."""
    program = (
        "import multiprocessing; multiprocessing.set_start_method('forkserver')\n"
        "from recurrent_mt.ordered_map import map_lines\n"
        "assert list(map_lines(lambda line: line + '!', 'abc', 2)) == ['a!', 'b!', 'c!']\n"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", program], check=True)
