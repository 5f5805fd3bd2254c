"""Small corpora in the layouts of the published ones."""

from __future__ import annotations

import gzip
import io
import tarfile
import zipfile
from pathlib import Path
from urllib.parse import urlsplit

from recurrent_mt.data.published_sets import PublishedSet

PAIRS = [(f"Phrase numéro {number}.", f"Sentence number {number}.") for number in range(30)]
CHINESE = [(f"第{number}句。", f"Sentence & number {number}.") for number in range(30)]

#: mtdata's id, address, files in the archive, format, languages and pairs.
PUBLISHED = {
    "tgz": (
        *("Statmt-europarl-7-fra-eng", "http://www.statmt.org/europarl/v7/fr-en.tgz"),
        *(["europarl-v7.fr-en.fr", "europarl-v7.fr-en.en"], "txt", ("fr", "en"), PAIRS),
    ),
    "zip": (
        *("OPUS-giga_fren-v2-eng-fra", "https://object.pouta.csc.fi/OPUS-giga-fren/v2/moses/en-fr.txt.zip"),
        *(["*.en", "*.fr"], "txt", ("fr", "en"), PAIRS),
    ),
    "tsv.gz": (
        *("Statmt-news_commentary-14-eng-fra", "http://data.statmt.org/news-commentary/v14/training/nc.en-fr.tsv.gz"),
        *(None, "tsv.gz", ("fr", "en"), PAIRS),
    ),
    "sgm": (
        *("Statmt-newstest_zhen-2017-zho-eng", "http://data.statmt.org/wmt20/translation-task/dev.tgz"),
        *(["dev/newstest2017-zhen-src.zh.sgm", "dev/newstest2017-zhen-ref.en.sgm"], "sgm", ("zh", "en"), CHINESE),
    ),
}


def publish(kind: str, folder: Path, *, missing: int = 0) -> tuple[PublishedSet, tuple[str, str], list]:
    """Writes the file under ``FOLDER/HOST/PATH``; `missing` sentences lack in the second file."""
    identifier, url, members, form, languages, pairs = PUBLISHED[kind]
    address = urlsplit(url)
    path = folder / address.netloc / address.path.lstrip("/")
    path.parent.mkdir(parents=True, exist_ok=True)
    order = pairs if identifier.endswith(("fra-eng", "zho-eng")) else [pair[::-1] for pair in pairs]
    if form == "tsv.gz":
        path.write_bytes(gzip.compress("".join("\t".join(pair) + "\n" for pair in order).encode(), mtime=0))
    else:
        first = [pair[0] for pair in order]
        second = [pair[1] for pair in order][: len(order) - missing]
        names = [name.replace("*", "giga-fren.en-fr") for name in members]
        pack(path, dict(zip(names, (text_file(side, form) for side in (first, second)))))
    return PublishedSet(identifier, url, members, form, None), languages, pairs


def text_file(sentences: list[str], form: str) -> bytes:
    if form == "sgm":
        segments = [f'<seg id="{number}">{line}</seg>' for number, line in enumerate(sentences, 1)]
        escaped = "\n".join(segments).replace(" & ", " &amp; ")
        return f'<srcset setid="newstest2017"><doc docid="a">\n<p>\n{escaped}\n</p>\n</doc></srcset>\n'.encode()
    return "".join(line + "\n" for line in sentences).encode()


def pack(path: Path, files: dict[str, bytes]) -> None:
    """A zip or tgz archive; files that are there already stay in it."""
    if path.suffix == ".zip":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("README", "about it")
            for name, content in files.items():
                archive.writestr(name, content)
        return
    with tarfile.open(path, "w:gz") as archive:
        for name, content in {"README": b"about it", **files}.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
