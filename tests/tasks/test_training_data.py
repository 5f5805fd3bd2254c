"""What the tasks make of the pairs on disk: they are pooled or sampled to train on them, and only then."""

import pytest
from fairseq.data import LanguagePairDataset

from tests.models.building import dictionary
from user_dir.tasks.published_translation import (
    PooledBatchesDataset,
    PublishedTranslationConfig,
    PublishedTranslationTask,
)
from user_dir.tasks.sampled_translation import SampledSubwordsDataset, SampledTranslationConfig, SampledTranslationTask

TASKS = {
    PooledBatchesDataset: (PublishedTranslationTask, PublishedTranslationConfig),
    SampledSubwordsDataset: (SampledTranslationTask, SampledTranslationConfig),
}
LENGTHS = [3, 1, 4, 2, 5, 1, 2, 3]


@pytest.fixture
def folder(tmp_path):
    """Pairs of these lengths for training and validation, and codes whose merges make the words."""
    for language in ("src", "tgt"):
        words = dictionary(0, "")
        for symbol in ("low", "l@@", "o@@", "w", "lo@@"):
            words.add_symbol(symbol)
        words.save(str(tmp_path / f"dict.{language}.txt"))
        for split in ("train", "valid"):
            text = "".join(" ".join(["low"] * length) + "\n" for length in LENGTHS)
            (tmp_path / f"{split}.src-tgt.{language}").write_text(text)
    (tmp_path / "codes").write_text("#version: 0.2\nl o\nlo w</w>\n")
    return tmp_path


def load(folder, kind, split="train", training=True, **options):
    """A split as the task of this kind of data loads it: for fairseq's trainer, or to be translated or scored."""
    task_class, config_class = TASKS[kind]
    places = {"data": str(folder), "source_lang": "src", "target_lang": "tgt", "dataset_impl": "raw"}
    config = config_class(**{**places, "train_subset": "train", **options})
    task = task_class.setup_task(config)
    task.load_dataset(split, **({"data_selector": None} if training else {}))
    return task.dataset(split)


def options_for(kind, folder):
    pooled = {"sort_k_batches": 2, "max_train_words": 3}
    return pooled if kind is PooledBatchesDataset else {"sample_subwords": str(folder / "codes"), "seed": 3}


@pytest.mark.parametrize("kind", TASKS)
def test_what_is_trained_on_is_wrapped_and_nothing_else_is(kind, folder):
    options = options_for(kind, folder)
    assert type(load(folder, kind, **options)) is kind
    assert type(load(folder, kind, training=False, **options)) is LanguagePairDataset
    assert type(load(folder, kind, "valid", **options)) is LanguagePairDataset
    assert type(load(folder, kind, "valid", train_subset="valid", **options)) is kind
    assert type(load(folder, kind)) is LanguagePairDataset


@pytest.mark.parametrize(("dropout", "pieces"), [(1, ["l@@", "o@@", "w"]), (0, ["low"])])
def test_subwords_are_sampled_with_the_options(dropout, pieces, folder):
    codes = folder / "codes"
    sampled = load(folder, SampledSubwordsDataset, sample_subwords=str(codes), subword_dropout=dropout)
    words = sampled.dataset.src_dict
    for side in ("source", "target"):
        assert [words[token] for token in sampled[1][side]] == [*pieces, "</s>"]


def test_of_two_files_the_first_is_for_the_source_and_the_seed_decides(folder):
    (folder / "others").write_text("#version: 0.2\no w</w>\nl ow</w>\n")
    files = f"{folder / 'codes'},{folder / 'others'}"
    options = {"sample_subwords": files, "subword_dropout": 0.5}
    first, again, other = (load(folder, SampledSubwordsDataset, seed=seed, **options) for seed in (1, 1, 2))
    merged = first.dataset.src_dict.index("lo@@")
    assert any(merged in first[number]["source"] for number in range(8))
    assert not any(merged in first[number]["target"] for number in range(8))
    drawn = [[one[number]["source"].tolist() for number in range(8)] for one in (first, again, other)]
    assert drawn[0] == drawn[1] != drawn[2]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"subword_dropout": 0.2}, "--subword-dropout 0.2 needs --sample-subwords"),
        (
            {"sample_subwords": "codes", "load_alignments": True},
            "--load-alignments does not work with --sample-subwords",
        ),
        (
            {"sample_subwords": "codes", "truncate_source": True},
            "--truncate-source does not work with --sample-subwords",
        ),
    ],
)
def test_sampling_refuses_what_it_cannot_do_in_training_alone(options, message, folder):
    with pytest.raises(ValueError, match=message):
        load(folder, SampledSubwordsDataset, **options)
    load(folder, SampledSubwordsDataset, training=False, **options)


@pytest.mark.parametrize(("files", "dropout"), [("a,b,c", 0.1), ("a", 1.5), ("a,b", float("nan"))])
def test_three_files_and_impossible_probabilities_are_refused(files, dropout, folder):
    message = f"--sample-subwords takes one file or two, and --subword-dropout a number from 0 to 1, not {files} and "
    with pytest.raises(ValueError, match=message + str(dropout)):
        load(folder, SampledSubwordsDataset, sample_subwords=files, subword_dropout=dropout)


@pytest.mark.parametrize("kind", TASKS)
def test_what_is_changed_for_training_does_not_validate(kind, folder):
    """fairseq loads the sets for validation first, and takes the training set from the same place."""
    task_class, config_class = TASKS[kind]
    places = {"data": str(folder), "source_lang": "src", "target_lang": "tgt", "dataset_impl": "raw"}
    task = task_class.setup_task(config_class(**{**places, "train_subset": "train", **options_for(kind, folder)}))
    task.load_dataset("train")
    with pytest.raises(ValueError, match="--valid-subset has train, which this task changes for training"):
        task.load_dataset("train", data_selector=None)
    task.datasets.clear()
    for epoch in (1, 2):
        task.load_dataset("train", epoch=epoch, data_selector=None)


def test_words_are_not_counted_of_buckets(folder):
    with pytest.raises(ValueError, match="--max-train-words counts words, and --num-batch-buckets rounds them"):
        load(folder, PooledBatchesDataset, max_train_words=3, num_batch_buckets=2)


def test_a_task_that_samples_nothing_says_so(folder, caplog):
    load(folder, SampledSubwordsDataset)
    assert caplog.messages[-1] == "nothing is sampled without --sample-subwords: this is --task translation"
