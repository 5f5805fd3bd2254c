"""Repairs of the commands that use models: fairseq-generate, fairseq-interactive, fairseq-validate, fairseq-eval-lm."""

import contextlib
import copy
import os
from types import SimpleNamespace

from ..module_view import ModuleView
from ..replacements import around
from .checked_options import check_overrides
from .sentence_lengths import SentenceLengthError, longest_sentence
from .unknown_words import Alignment

#: What fairseq-interactive reads: how many lines came before the buffer, and the sources of the batch.
READING = SimpleNamespace(before=0, batch=[])


@around("fairseq_cli.eval_lm", "main")
def evaluate(evaluate_all, cfg, *args, **kwargs):
    """Refuse ``--model-overrides`` of options that the models do not have."""
    check_overrides(getattr(cfg, "common_eval", cfg))
    return evaluate_all(cfg, *args, **kwargs)


@around("fairseq_cli.generate", "main")
def generate(generate_all, cfg):
    """Let each of several shards have a file of its own: with ``--results-path DIR``, that of I is in ``DIR/shardI``.

    fairseq 0.12.2 has one name for all of them.
    """
    from fairseq_cli.generate import Namespace, convert_namespace_to_omegaconf

    check_overrides(getattr(cfg, "common_eval", cfg))
    if isinstance(cfg, Namespace):
        cfg = convert_namespace_to_omegaconf(cfg)
    place, shards = cfg.common_eval.results_path, cfg.dataset
    if place is not None and shards.num_shards > 1:
        cfg = copy.deepcopy(cfg)
        cfg.common_eval.results_path = os.path.join(place, f"shard{shards.shard_id}")
    return generate_all(cfg)


@around("fairseq_cli.generate", "_main")
def generate_shard(translate, cfg, output_file):
    """Translate the part that ``--num-shards N --shard-id I`` ask for, with room for the longest sentence.

    fairseq 0.12.2 reads these options in ``fairseq-eval-lm`` alone: each of N processes translates everything.
    """
    import fairseq_cli.generate

    def sources(task, sample):
        texts = task.dataset(cfg.dataset.gen_subset).src
        return [texts.get_original_text(number) for number in sample["id"].tolist()]

    # What fairseq-generate reads instead, for nothing but the batches; as fairseq-eval-lm joins them.
    cfg = copy.deepcopy(cfg)
    shards, processes = cfg.dataset, cfg.distributed_training
    processes.distributed_world_size = max(shards.num_shards, processes.distributed_world_size)
    processes.distributed_rank = max(shards.shard_id, processes.distributed_rank)
    with _prepared_tasks(fairseq_cli.generate, cfg, sources):
        return translate(cfg, output_file)


@around("fairseq_cli.interactive", "main")
def translate_lines(translate, cfg):
    """Refuse a language model, which fairseq 0.12.2 does not load, and make room for the longest sentence."""
    import fairseq_cli.interactive
    from fairseq.dataclass.utils import convert_namespace_to_omegaconf

    check_overrides(getattr(cfg, "common_eval", cfg))
    if isinstance(cfg, fairseq_cli.interactive.Namespace):
        cfg = convert_namespace_to_omegaconf(cfg)
    if cfg.generation.lm_path:
        raise ValueError("fairseq-interactive adds no language model: leave --lm-path out, or use fairseq-generate")
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


@around("fairseq_cli.validate", "main")
def validate(validate_all, cfg, override_args=None):
    """Take the criterion that is asked for; fairseq 0.12.2 always takes the checkpoint's."""
    import fairseq_cli.validate
    from omegaconf import open_dict

    check_overrides(getattr(cfg, "common_eval", cfg))
    if not hasattr(override_args, "criterion"):
        return validate_all(cfg, override_args)
    checkpoint_utils = fairseq_cli.validate.checkpoint_utils

    def load(*args, **kwargs):
        models, saved, task = checkpoint_utils.load_model_ensemble_and_task(*args, **kwargs)
        # Of the checkpoint's own criterion, fairseq changes the options that are given, and leaves the others.
        if saved.criterion._name != cfg.criterion._name:
            options = dict(cfg.criterion)
            # A link to an option of another group, for whose value the validation parser takes the text of the link.
            if "sentence_avg" in options:
                options["sentence_avg"] = saved.optimization.sentence_avg
            with open_dict(saved):
                saved.criterion = options
        return models, saved, task

    fairseq_cli.validate.checkpoint_utils = ModuleView(checkpoint_utils, load_model_ensemble_and_task=load)
    try:
        return validate_all(cfg, override_args)
    finally:
        fairseq_cli.validate.checkpoint_utils = checkpoint_utils
