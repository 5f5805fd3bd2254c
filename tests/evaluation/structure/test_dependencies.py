"""Gold phrases of dependency treebanks."""

import lzma

import pytest

from recurrent_mt.evaluation.structure.dependencies import read_dependency_trees
from recurrent_mt.text_files import FileError
from tests.data.tools import SHARED

#: Le chat du voisin dort ., and a word that stands between another and its head.
TEXT = """# text = Le chat du voisin dort.
1\tLe\tle\tDET\t_\t_\t2\tdet\t_\t_
2\tchat\tchat\tNOUN\t_\t_\t6\tnsubj\t_\t_
3-4\tdu\t_\t_\t_\t_\t_\t_\t_\t_
3\tde\tde\tADP\t_\t_\t5\tcase\t_\t_
4\tle\tle\tDET\t_\t_\t5\tdet\t_\t_
5\tvoisin\tvoisin\tNOUN\t_\t_\t2\tnmod\t_\t_
6\tdort\tdormir\tVERB\t_\t_\t0\troot\t_\tSpaceAfter=No
6.1\tnul\t_\t_\t_\t_\t_\t_\t_\t_
7\t.\t.\tPUNCT\t_\t_\t6\tpunct\t_\t_

1\tA\ta\tX\t_\t_\t3\tx\t_\t_
2\tB\tb\tX\t_\t_\t0\troot\t_\t_
3\tC\tc\tX\t_\t_\t2\tx\t_\t_

1\tOui\toui\tINTJ\t_\t_\t0\troot\t_\t_
"""


def test_phrases_are_words_with_all_that_depends_on_them(tmp_path):
    file = tmp_path / "fr.conllu"
    file.write_text(TEXT, encoding="utf-8")
    first, second, third = read_dependency_trees(file)
    assert first.words == ("Le", "chat", "du", "voisin", "dort", ".")
    assert first.spans == {(0, 4), (2, 4), (0, 6)}
    assert (second.words, second.spans) == (("A", "B", "C"), {(0, 3)})
    assert (third.words, third.spans) == (("Oui",), frozenset())


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "\tdet\t_\t_\n2",
            "\n2",
            "line 2: 7 columns that begin with '1', not 10 that begin with the number of a word: is this CoNLL-U?",
        ),
        ("1\tLe", "one\tLe", "line 2: 10 columns that begin with 'one', not 10"),
        ("NOUN\t_\t_\t6", "NOUN\t_\t_\t9", "line 2: word 1 depends on 9, which is not there"),
    ],
)
def test_what_is_no_treebank_is_refused_by_line(old, new, message, tmp_path):
    file = tmp_path / "fr.conllu"
    file.write_text(TEXT.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(FileError, match=message.replace("?", r"\?")):
        read_dependency_trees(file)


def test_a_real_treebank_has_a_phrase_or_two_for_each_three_words(tmp_path):
    source = SHARED / "ud-french-sequoia/Europar.550.conllu.xz"
    if not source.exists():
        pytest.skip("needs ../shared/data")
    file = tmp_path / "europarl.conllu"
    file.write_bytes(lzma.decompress(source.read_bytes()))
    trees = read_dependency_trees(file)
    words, spans = (sum(len(part) for part in parts) for parts in zip(*((tree.words, tree.spans) for tree in trees)))
    assert len(trees) == 561 and 0.3 < spans / words < 0.7
    assert not any("-" in word and word[0].isdigit() for word in trees[0].words)
