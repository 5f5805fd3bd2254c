"""What fairseq-generate prints for a few sentences: its function, called in this process."""

from __future__ import annotations

import copy
import io
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from fairseq.dataclass.utils import convert_namespace_to_omegaconf
from fairseq.options import get_generation_parser, parse_args_and_arch
from fairseq_cli.generate import _main as fairseq_generate

from tests.commands import PLUGIN


def make_generate(
    folder: Path, dictionaries: Path, sources: Sequence[str], targets: Sequence[str]
) -> Callable[..., str]:
    """A function of a checkpoint and options of the search, which returns what is printed.

    Args:
        folder: where the sentences are written, as text.
        dictionaries: the folder with those of both languages.
        sources: sentences.
        targets: their translations.
    """
    for side, lines in (("src", sources), ("tgt", targets)):
        (folder / f"test.src-tgt.{side}").write_text("".join(f"{line}\n" for line in lines))
        shutil.copy(dictionaries / f"dict.{side}.txt", folder)
    line = f"--dataset-impl raw --path model --cpu --beam 3 --batch-size 1 --num-workers 0 --user-dir {PLUGIN}"
    config = convert_namespace_to_omegaconf(parse_args_and_arch(get_generation_parser(), [str(folder), *line.split()]))

    def generate(checkpoint: Path, **search: Any) -> str:
        chosen = copy.deepcopy(config)
        chosen.common_eval.path = str(checkpoint)
        chosen.generation.update(search)
        output = io.StringIO()
        fairseq_generate(chosen, output)
        return output.getvalue()

    return generate
