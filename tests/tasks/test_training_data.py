"""What the tasks make of the pairs on disk: they are pooled to train on them, and only then."""

import pytest
from fairseq.data import LanguagePairDataset

from tests.models.building import dictionary
from user_dir.tasks.published_translation import (
    PooledBatchesDataset,
    PublishedTranslationConfig,
    PublishedTranslationTask,
)
from user_dir.tasks.sampled_translation import SampledTranslationConfig, SampledTranslationTask

POOLED = {"sort_k_batches": 2, "max_train_words": 3}


@pytest.fixture
def places(tmp_path):
    """Where pairs for training and validation are."""
    for language in ("src", "tgt"):
        dictionary(1, "w").save(str(tmp_path / f"dict.{language}.txt"))
        for split in ("train", "valid"):
            (tmp_path / f"{split}.src-tgt.{language}").write_text("w0 w0 w0\nw0\nw0 w0 w0 w0\n")
    return {"data": str(tmp_path), "source_lang": "src", "target_lang": "tgt", "dataset_impl": "raw"}


def set_up(places, **options):
    return PublishedTranslationTask.setup_task(
        PublishedTranslationConfig(**{**places, "train_subset": "train", **options})
    )


def load(places, split="train", training=True, **options):
    """A split as the task loads it: for fairseq's trainer, or to be translated or scored."""
    task = set_up(places, **options)
    task.load_dataset(split, **({"data_selector": None} if training else {}))
    return task.dataset(split)


def test_what_is_trained_on_is_wrapped_and_nothing_else_is(places):
    assert type(load(places, **POOLED)) is PooledBatchesDataset
    assert type(load(places, training=False, **POOLED)) is LanguagePairDataset
    assert type(load(places, "valid", **POOLED)) is LanguagePairDataset
    assert type(load(places, "valid", train_subset="valid", **POOLED)) is PooledBatchesDataset
    assert type(load(places)) is LanguagePairDataset


def test_words_are_not_counted_of_buckets(places):
    with pytest.raises(ValueError, match="--max-train-words counts words, and --num-batch-buckets rounds them"):
        load(places, max_train_words=3, num_batch_buckets=2)


def test_what_is_changed_for_training_does_not_validate(places):
    """fairseq loads the sets for validation first, and takes the training set from the same place."""
    task = set_up(places, **POOLED)
    task.load_dataset("train")
    with pytest.raises(ValueError, match="--valid-subset has train, which this task changes for training"):
        task.load_dataset("train", data_selector=None)
    task.datasets.clear()
    for epoch in (1, 2):
        task.load_dataset("train", epoch=epoch, data_selector=None)


def test_the_task_that_sampled_subwords_trains_no_more_and_still_loads(places):
    task = SampledTranslationTask.setup_task(SampledTranslationConfig(**places, sample_subwords="codes"))
    task.load_dataset("valid")
    with pytest.raises(ValueError, match="--task sampled_translation is not in this version any more"):
        task.load_dataset("train", data_selector=None)
