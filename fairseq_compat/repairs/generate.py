"""Repairs of the commands that translate: fairseq-generate and fairseq-interactive."""

import contextlib
from types import SimpleNamespace

from ..replacements import ModuleView, around
from .sentence_lengths import SentenceLengthError, longest_sentence
from .unknown_words import Alignment

#: What fairseq-interactive reads: how many lines came before the buffer, and the sources of the batch.
READING = SimpleNamespace(before=0, batch=[])


@around("fairseq_cli.generate", "_main")
def translate_set(translate, cfg, output_file):
    """Make room for the longest sentence."""
    import fairseq_cli.generate

    def sources(task, sample):
        texts = task.dataset(cfg.dataset.gen_subset).src
        return [texts.get_original_text(number) for number in sample["id"].tolist()]

    with _prepared_tasks(fairseq_cli.generate, cfg, sources):
        return translate(cfg, output_file)


@around("fairseq_cli.interactive", "main")
def translate_lines(translate, cfg):
    """Make room for the longest sentence."""
    import fairseq_cli.interactive
    from fairseq.dataclass.utils import convert_namespace_to_omegaconf

    if isinstance(cfg, fairseq_cli.interactive.Namespace):
        cfg = convert_namespace_to_omegaconf(cfg)
    with _prepared_tasks(fairseq_cli.interactive, cfg, lambda task, sample: READING.batch):
        return translate(cfg)


@around("fairseq_cli.interactive", "buffered_read")
def read_and_count(read, *args, **kwargs):
    """Say how many lines there were, so that a log without its last sentences is noticed."""
    from fairseq_cli.interactive import logger

    READING.before = 0
    for lines in read(*args, **kwargs):
        yield lines
        READING.before += len(lines)
    logger.info(f"Read {READING.before:,} lines")


@around("fairseq_cli.interactive", "make_batches")
def make_named_batches(make, lines, cfg, task, max_positions, encode_fn):
    """Name the line that is too long, counted from the beginning of the input; remember the sources of each batch."""
    try:
        for batch in make(lines, cfg, task, max_positions, encode_fn):
            if cfg.generation.replace_unk is not None:
                READING.batch = [encode_fn(lines[number]) for number in batch.ids.tolist()]
            yield batch
    except SentenceLengthError as error:
        raise SentenceLengthError(error.text, READING.before + error.number, error.reason) from None


@contextlib.contextmanager
def _prepared_tasks(command, cfg, sources):
    """While it lasts, tasks of a command have room for the longest sentence, and with ``--replace-unk``, know sources.

    Args:
        command: the module.
        cfg: its options.
        sources: from the task and a batch to the sources' tokens, separated by spaces.

    Raises:
        ValueError: if ``--replace-unk`` has no alignment.
    """
    replaces = cfg.generation.replace_unk is not None
    if replaces and cfg.generation.print_alignment != "hard":
        raise ValueError("--replace-unk looks up source words in the alignment: add --print-alignment hard")
    tasks = command.tasks

    def setup_task(*args, **kwargs):
        task = tasks.setup_task(*args, **kwargs)
        _make_room(task)
        if replaces:
            _align_with_sources(task, sources, cfg.common_eval.post_process or getattr(cfg.bpe, "_name", None))
        return task

    command.tasks = ModuleView(tasks, setup_task=setup_task)
    try:
        yield
    finally:
        command.tasks = tasks


def _make_room(task):
    """Let a sentence that is longer than a batch be a batch, where fairseq 0.12.2 translates nothing."""
    get_batch_iterator = task.get_batch_iterator

    def with_room(dataset, max_tokens=None, max_positions=None, **options):
        if max_tokens:
            max_tokens = max(max_tokens, longest_sentence(dataset, max_positions))
        return get_batch_iterator(dataset, max_tokens=max_tokens, max_positions=max_positions, **options)

    task.get_batch_iterator = with_room


def _align_with_sources(task, sources, symbol):
    """Let the hypotheses of a task's searches have an :class:`Alignment` that knows their source."""
    search = task.inference_step

    def search_and_align(generator, models, sample, **kwargs):
        found = search(generator, models, sample, **kwargs)
        for source, hypotheses in zip(sources(task, sample), found, strict=True):
            for hypothesis in hypotheses:
                hypothesis["alignment"] = Alignment(hypothesis["alignment"], source=source, symbol=symbol)
        return found

    task.inference_step = search_and_align
