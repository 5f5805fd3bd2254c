"""Small untrained models, and one page that shows them, for all tests of the demo."""

import importlib
import os
from importlib.util import find_spec

import pytest
import torch

from recurrent_mt.translation.loading import load_checkpoint
from tests.browser import browser, chromium  # noqa: F401  (fixtures)
from tests.checkpoints.checkpoints import small_checkpoint

#: One with attention, one without, and a pyramid.
ARCHITECTURES = {
    "attentive": ("gru_encoder", {"decoder_attention": "additive"}),
    "fixed": ("gru_encoder", {"decoder_attention": "none"}),
    "pyramid": ("grconv_encoder", {"decoder_attention": "none"}),
}
PLANTED = (
    "<script>document.title='broken'</script><img src=x onerror=document.title='broken'>${document.title='broken'}"
)
#: Nothing answers there, and Gradio does not speak to the last kind.
PROXIES = {"http_proxy": "http://127.0.0.1:9", "HTTPS_PROXY": "http://127.0.0.1:9", "all_proxy": "socks5://127.0.0.1:9"}


@pytest.fixture(scope="session")
def paths(tmp_path_factory):
    """The checkpoints by name, each in a folder of its name with its dictionaries."""
    folder = tmp_path_factory.mktemp("models")
    for seed, (name, (architecture, options)) in enumerate(ARCHITECTURES.items()):
        (folder / name).mkdir()
        torch.manual_seed(seed)
        small_checkpoint(folder / name, architecture, **options)
    return {name: folder / name / "checkpoint.pt" for name in ARCHITECTURES}


@pytest.fixture(scope="session")
def systems(paths):
    """The models, loaded."""
    return {name: load_checkpoint(name, path) for name, path in paths.items()}


@pytest.fixture(scope="session")
def proxies():
    """A function that sets proxies in the environment for a while."""

    def set_proxies(patch):
        for name in ("no_proxy", "NO_PROXY"):
            patch.delenv(name, raising=False)
        for name, address in PROXIES.items():
            patch.setenv(name, address)

    return set_proxies


@pytest.fixture(scope="session")
def module(proxies):
    """The page's module, imported behind proxies, which takes seconds: not while tests are collected."""
    if find_spec("gradio") is None:
        pytest.skip("needs gradio")
    with pytest.MonkeyPatch.context() as patch:
        proxies(patch)
        return importlib.import_module("recurrent_mt.demo.page")


@pytest.fixture(scope="session")
def demo(module, systems):
    """Two of the models, with an example, and with one that tries to become an element."""
    return module.Demo(
        [systems["attentive"], systems["pyramid"]],
        ("src", "tgt"),
        {"s1 s2 s3": "t1 t2", PLANTED: PLANTED},
        texts={"made up": ["attentive"]},
    )


@pytest.fixture(scope="session")
def address(module, demo, systems, proxies):
    """Where the page is served, also behind proxies: one server for all tests, of two language pairs."""
    page = module.build_page([demo, module.Demo([systems["fixed"]], ("zh", "en"), {"s9": "t9"})])
    with pytest.MonkeyPatch.context() as patch:
        proxies(patch)
        where = module.serve(page, host="127.0.0.1", port=None, share=False)
        assert {name: os.environ[name] for name in PROXIES} == PROXIES
    yield where
    page.close()
