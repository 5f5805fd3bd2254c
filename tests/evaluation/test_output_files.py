import pytest
from matplotlib.figure import Figure

from recurrent_mt.evaluation.output_files import save_figure, write_text


def test_text_is_replaced_whole(tmp_path):
    path = tmp_path / "text.txt"
    write_text(path, "old\n")
    write_text(path, "été\n")
    assert path.read_bytes() == "été\n".encode()
    assert [file.name for file in tmp_path.iterdir()] == ["text.txt"]


@pytest.mark.parametrize(("name", "start"), [("a.png", b"\x89PNG"), ("a.svg", b"<?xml"), ("a.b.pdf", b"%PDF")])
def test_figures_take_their_format_from_the_name(tmp_path, name, start):
    save_figure(Figure(), tmp_path / name)
    assert (tmp_path / name).read_bytes().startswith(start)
    assert [file.name for file in tmp_path.iterdir()] == [name]
