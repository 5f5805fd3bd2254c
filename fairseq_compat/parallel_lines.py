"""Says which files do not belong together, and how many lines each has.

fairseq-preprocess 0.12.2 takes files of different lengths for a source and its translation. Training on them ends, at
best, with an AssertionError that names no file and no number.
"""

import functools
import os

from .text_lines import count_lines

MEANING = "line n of one must be the translation of line n of the other"


class UnequalSidesError(ValueError):
    """There are more sentences on one side than on the other."""


def repair(module):
    """Compare the lengths before fairseq-preprocess begins, and where a data set is made."""
    if module.__name__ == "fairseq_cli.preprocess":
        module.main = _comparing_files(module.main)
    elif module.__name__ == "fairseq.tasks.translation":
        module.load_langpair_dataset = _naming_the_split(module.load_langpair_dataset)
    else:
        module.LanguagePairDataset.__init__ = _comparing_sides(module.LanguagePairDataset.__init__)


def _comparing_files(main):
    @functools.wraps(main)
    def main_on_parallel_files(args):
        if args.target_lang and not args.only_source and not args.dict_only:
            for files in _parallel_files(args):
                counts = {file: count_lines(file) for file in files if os.path.isfile(file)}
                for file, count in counts.items():
                    if not count:
                        raise ValueError(f"{file} has no line: give it some, or leave its option out")
                    if count != counts[next(iter(counts))]:
                        first = next(iter(counts))
                        raise UnequalSidesError(f"{first} has {counts[first]} lines, and {file} has {count}: {MEANING}")
        return main(args)

    return main_on_parallel_files


def _parallel_files(args):
    """Yield the names of files of one split: source, target, and the alignments between them."""
    others = (args.validpref or "").split(",") + (args.testpref or "").split(",")
    for prefix in filter(None, [args.trainpref, *others]):
        endings = filter(None, (args.source_lang, args.target_lang, args.align_suffix))
        alignments = [args.alignfile] if args.alignfile and prefix == args.trainpref else []
        yield [*(f"{prefix}.{ending}" for ending in endings), *alignments]


def _comparing_sides(initialize):
    @functools.wraps(initialize)
    def initialize_with_equal_sides(self, src, src_sizes, src_dict, tgt=None, *args, **kwargs):
        if tgt is not None and len(src) != len(tgt):
            raise UnequalSidesError(f"{len(src)} source sentences and {len(tgt)} target sentences: {MEANING}")
        initialize(self, src, src_sizes, src_dict, tgt, *args, **kwargs)

    return initialize_with_equal_sides


def _naming_the_split(load):
    @functools.wraps(load)
    def load_or_name(data_path, split, src, src_dict, tgt, *args, **kwargs):
        try:
            return load(data_path, split, src, src_dict, tgt, *args, **kwargs)
        except UnequalSidesError as error:
            place = os.path.join(data_path, f"{split}.{src}-{tgt}")
            raise UnequalSidesError(f"{place}: {error}; run fairseq-preprocess on both sides again") from error

    return load_or_name
