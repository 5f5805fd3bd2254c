from tests.browser import browser, chromium  # noqa: F401  (fixtures)
