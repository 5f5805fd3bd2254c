"""What holds for all tests."""

import gc


def pytest_collection_finish() -> None:
    """Python's garbage collector leaves alone what was imported and collected: it would look at it again and again."""
    gc.freeze()
