"""Everything that an experiment may set: types, defaults, help, what goes together, and how files and options are read.

The type of an option says what its value is: on the command line, all are text, and so is 2e-3 in YAML.
"""

from __future__ import annotations

import difflib
import hashlib
import json
import re
from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Annotated, Any, Literal, NotRequired

import yaml
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)
from typing_extensions import TypedDict  # that of typing is none for pydantic before Python 3.12

from .option_values import (
    CHANGES,
    DISTINCT,
    NAMES,
    SEGMENTATION,
    SEGMENTED,
    Address,
    Changes,
    Configuration,
    Exponent,
    Minutes,
    Name,
    Pair,
    Pattern,
    Place,
    Places,
    Positive,
    Probability,
    Rate,
    Seed,
    Segmentation,
    Size,
    SystemNames,
    Value,
    Words,
)
from .training_command import check_flags

#: The folder of the project: experiments are run from a clone.
PROJECT = Path(__file__).resolve().parents[2]
CONFIGURATIONS = PROJECT / "configs"


def identify(setting: Any) -> str:
    """Eight hexadecimal digits that differ between settings, whatever the order of keys."""
    text = json.dumps(setting, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode("ascii")).hexdigest()[:8]


def names_configuration(name: str) -> bool:
    """Whether a system is a file of configs/."""
    return "/" not in name and (CONFIGURATIONS / f"{name}.yaml").is_file()


class Corpus(TypedDict):
    """Published text, and the sizes of the experiment that have it."""

    role: Literal["train", "valid", "test"]
    sizes: list[Size]
    id: Name
    pairs: NotRequired[Positive]
    megabytes: NotRequired[Positive]


class Options(BaseModel):
    """Options that belong together; the text below each is its help."""

    model_config = ConfigDict(
        extra="forbid", allow_inf_nan=False, coerce_numbers_to_str=True, use_attribute_docstrings=True
    )


class Text(Options):
    """What text there is, and how it becomes words."""

    pair: Pair
    """languages, source first"""
    corpus: Place | None = None
    """folder of raw text, PREFIX.LANG, one sentence a line; without it, the synthetic corpus (fr-en or zh-en)"""
    train: Place = "train"
    """prefix of the text to train on"""
    valid: Place = "valid"
    """prefix of the development set"""
    test: Places = "test"
    """prefix of the test set; with `published`, several, separated by commas"""
    extra_tests: dict[Name, Place] = {}
    """further test sets, NAME=PREFIX, each with a table of its own"""
    distill: str | None = None
    """RUN, or "RUN SYSTEM": the translations of the training text by that trained system take the place of the
    references in it (Kim and Rush 2016)"""
    published: list[Corpus] = []
    """corpora to download: role, the sizes that have it, mtdata's id, pairs and megabytes as published"""
    shards: Positive = 1
    """parts of the training data, of which fairseq-train reads one an epoch"""
    segmentation: Segmentation | None = None
    """word:N (the most frequent, N with fairseq's four symbols), bpe:N (N joint merges), or sentencepiece:N (N joint
    pieces); without it, word:4000 for the synthetic corpus and sentencepiece:8000 for other text"""
    tokenizer: Literal["moses", "none"] = "moses"
    """moses (Chinese: jieba), or none for text with spaces between its tokens, which stays so in translations and
    scores; sentencepiece needs none"""
    lowercase: bool = False
    """lowercase the text; scores then ignore case"""
    max_length: Positive = 250
    """drop training and development pairs with more tokens on a side; with `published`, training pairs alone"""

    @property
    def languages(self) -> tuple[str, str]:
        """Source and target."""
        source, target = self.pair.split("-")
        return source, target

    @model_validator(mode="after")
    def check_text(self) -> Text:
        source, target = self.languages
        if source == target:
            raise ValueError(f"source and target language of pair are both {source}")
        if self.extra_tests and self.corpus is None:
            raise ValueError("extra_tests needs a corpus: the synthetic one has a language of its own")
        return self


class Collection(Options):
    """How published text is collected."""

    size: Size = "small"
    """which of the published corpora: small, medium, or full"""
    add: list[Place] = []
    """with `published`, more local text to train on, PREFIX.LANG"""
    cleaning: bool = True
    """clean published text"""
    select_words: Words | None = None
    """keep the N words of cleaned text most similar to the development set and News Commentary"""
    mirror: Address | None = None
    """download from URL/HOST/PATH instead"""


class Systems(Options):
    """Which systems are trained."""

    systems: SystemNames = []
    """names: lstm, fconv and transformer (fairseq's own), any --arch of this project with its attention, as in
    gru_encoder-additive, unet_encoder-none or grconv_encoder-scaled_general, followed by options of fairseq-train, if
    any, as in grconv_encoder-none+grconv-height=2+dropout=0.3; and names of configs/, which stand for configs/NAME.yaml
    with all its settings except budget and beam. Or, for an ablation, a name and what is its own of fairseq-train's
    options"""
    configuration: Configuration | None = None
    """NAME of configs/NAME.yaml, from which all systems of an ablation start: all its settings except budget and
    beam"""
    flags: dict[str, Value] = {}
    """options of fairseq-train for every system of an ablation, without their dashes"""
    baseline: str | None = None
    """the system the others are compared with; without it, the first of fairseq's own, or the first of all"""
    seeds: Annotated[list[Seed], Field(min_length=1), DISTINCT] = [1]
    """train each system once with each seed"""
    processes: Positive = 1
    """processes per training, started by torchrun"""

    @property
    def changes(self) -> dict[str, Changes]:
        """What each system of an ablation has of its own; empty if systems are named, not changes of one."""
        return self.systems if isinstance(self.systems, dict) else {}

    @property
    def ablation(self) -> bool:
        return isinstance(self.systems, dict)

    @model_validator(mode="after")
    def check_systems(self) -> Systems:
        if self.baseline is not None and self.baseline not in self.systems:
            raise ValueError(f"baseline {self.baseline} is not among the systems {', '.join(self.systems)}")
        if "segmentation" in self.flags:
            raise ValueError("segmentation is an option of the experiment and of its systems, and no flag")
        for name, changes in self.changes.items():
            own = changes.get("segmentation")
            if own is not None and not re.fullmatch(SEGMENTED, str(own)):
                raise ValueError(f"systems.{name}.segmentation must be {SEGMENTATION}, not {str(own)[:80]!r}")
        for flags in (self.flags, *self.changes.values()):
            check_flags(flags)
        return self


class Sizes(Options):
    """How large models are: in an ablation, its configuration or flags say it."""

    embedding_size: Positive = 256
    """embedding size, source and target"""
    encoder_size: Positive = 256
    """units of the encoder, per direction"""
    decoder_size: Positive = 512
    """units of the decoder; fconv and transformer are half as wide, within a few percent of lstm's parameters"""
    tied: bool = False
    """tie the decoder's input and output embeddings, in every system; their width is `embedding_size`"""
    layer_norm: bool = False
    """layer norm on the output of every GRU layer and of the dilated grConv; other models stay as they are"""


class Settings(Sizes):
    """How models are trained: in an ablation, its configuration says it, if it has one."""

    max_tokens: Positive = 2000
    """the most tokens in a batch"""
    dropout: Probability = 0.2
    """dropout probability"""
    learning_rate: Rate = "1e-3"
    """learning rate of Adam"""
    schedule: Literal["inverse_sqrt", "constant"] = "inverse_sqrt"
    """schedule of the learning rate: inverse_sqrt rises over `warmup` updates to `learning_rate`, then falls with the
    square root of the update number; constant stays, but for the transformer, which needs the other"""
    warmup: Positive | None = None
    """updates over which the learning rate rises; without it, a tenth of `updates`, at most 4,000, and 400 with other
    budgets"""
    label_smoothing: Probability = 0
    """probability that the objective spreads over all words"""


class Budget(Options):
    """When a training ends."""

    updates: Positive | None = None
    """training budget in updates (or use epochs or minutes)"""
    epochs: Positive | None = None
    """training budget in epochs"""
    minutes: Minutes | None = None
    """training budget in minutes of wall time: validations and checkpoints count, time lost to a kill does not"""


class Translation(Options):
    """How test sets are translated."""

    beam: Positive = 5
    """beam size"""
    without_unknown: bool = False
    """translate a second time with <unk> forbidden"""
    beams: Annotated[list[Positive], DISTINCT] = []
    """translate once more with each of these beams, and draw what they do to the systems"""
    lenpens: Annotated[list[Exponent], DISTINCT] = [1, 0]
    """for `beams`, exponents of the length that scores are divided by: 1 is fairseq's default, 0 no division"""

    @model_validator(mode="after")
    def check_translation(self) -> Translation:
        if any("e" in f"{exponent:g}" for exponent in self.lenpens):  # they are part of files' names
            raise ValueError("lenpens must be 0 or from 0.0001 to 999999")
        return self


class Folder(Options):
    """Where everything goes."""

    out: Pattern | None = None
    """the run folder; in a file, {pair} and {text} (the corpus, or the size of what is published) are filled in"""


class Experiment(Folder, Translation, Budget, Settings, Systems, Collection, Text):
    """All options of an experiment."""

    @property
    def unused(self) -> dict[str, str]:
        """Options that change nothing, with the reason."""
        reasons: dict[str, str] = {}
        if self.corpus is None:
            reasons |= dict.fromkeys(("train", "valid", "test"), "there is no corpus")
        elif self.published:
            reasons |= dict.fromkeys(("size", "mirror"), "corpus takes the place of what is published")
        if self.schedule == "constant" and not any(name.partition("+")[0] == "transformer" for name in self.systems):
            reasons["warmup"] = "the schedule is constant"
        if not self.beams:
            reasons["lenpens"] = "there are no beams"
        if self.systems and not self.ablation and all(map(names_configuration, self.systems)):
            reason = "all systems are files of configs/, with settings of their own"
            reasons |= dict.fromkeys(Settings.model_fields, reason)
        return reasons

    @model_validator(mode="after")
    def check_together(self) -> Experiment:
        if self.systems and all(getattr(self, budget) is None for budget in Budget.model_fields):
            raise ValueError(f"give a budget: {', '.join(Budget.model_fields)}")
        for key in Collection.model_fields:
            if key in self.model_fields_set and not self.published:
                raise ValueError(f"{key} is for collected text, as of prepare_fr_en.sh: there is no `published`")
        return self

    @model_validator(mode="after")
    def check_kind(self) -> Experiment:
        if not self.ablation:
            if self.configuration:
                raise ValueError(f"configuration is for ablations: name {self.configuration} among the systems")
            if self.flags:
                raise ValueError("flags are for ablations, whose systems are a mapping")
            return self
        if self.baseline is None:
            raise ValueError(f"an ablation needs a baseline: one of {', '.join(self.systems)}")
        for key in ("extra_tests", "beams", "without_unknown"):
            if getattr(self, key):
                raise ValueError(f"an ablation takes no {key}")
        for key in (Settings if self.configuration else Sizes).model_fields:
            if key in self.model_fields_set:
                owner = f"configuration {self.configuration}'s" if self.configuration else "no option of an ablation"
                raise ValueError(f"{key} is {owner}: flags can change it")
        return self


class OptionError(ValueError):
    """An invalid option; the message names the file, or the command line, and the option."""


class Loader(yaml.SafeLoader):
    """YAML in which no key of a mapping is there twice: the first would be lost without a word.

    Numbers are decimal: 010 and 1:30, which YAML takes for 8 and 90, are text.
    """

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        names = [str(key.value) for key, _ in node.value]
        for name in names:
            if names.count(name) > 1:
                raise yaml.constructor.ConstructorError(None, None, f"{name!r} is there twice", node.start_mark)
        return super().construct_mapping(node, deep)


def construct_number(loader: Loader, node: yaml.ScalarNode) -> Any:
    """A decimal number, or the text of something else."""
    text = loader.construct_scalar(node)
    if re.fullmatch("[+-]?(0|[1-9][0-9]*)", text):
        return int(text)
    return float(text) if re.fullmatch(r"[+-]?[0-9]*\.[0-9]*([eE][+-][0-9]+)?", text) else text


for number in ("int", "float"):
    Loader.add_constructor(f"tag:yaml.org,2002:{number}", construct_number)


def read_experiment(file: str | PathLike[str], overrides: Sequence[str] = ()) -> Experiment:
    """All options of an experiment: those of a file, with ``KEY=VALUE`` in their place, each checked.

    Raises:
        OptionError: if the file is no YAML, or an option is unknown, has a value that it cannot have, or would do
            nothing where the command line sets it.
        OSError: if the file cannot be read.
    """
    if not (PROJECT / "workflow").is_dir():
        raise OptionError(f"there is no {PROJECT / 'workflow'}: experiments are run from a clone of the project")
    options = read_yaml(Path(file).read_bytes(), file)
    if not isinstance(options, dict):
        raise OptionError(f"{file}: it must be a mapping of options to values, not {str(options)[:80]!r}")
    if not re.fullmatch("[A-Za-z0-9][A-Za-z0-9._-]*", Path(file).stem):
        raise OptionError(f"{file}: its name must consist of letters, digits, '.', '_', and '-': results get it")
    changes = read_overrides(overrides)
    if "corpus" in changes and changes["corpus"] is options.get("corpus") is None:
        raise OptionError("command line: corpus is empty: name a folder, or leave it out for the synthetic corpus")
    budgets = Budget.model_fields
    for place, given in ((file, options), ("command line", changes)):
        if sum(given.get(budget) is not None for budget in budgets) > 1:
            raise OptionError(f"{place}: give one budget: {', '.join(budgets)}")
    options = {key: value for key, value in options.items() if key not in budgets or not changes.keys() & budgets}
    try:
        experiment = Experiment.model_validate({**options, **changes})
    except ValidationError as error:
        key, message = describe_error(error)
        raise OptionError(f"{'command line' if key in changes else file}: {message}") from None
    for key, reason in experiment.unused.items():
        # In a file, it may wait for another option of the command line.
        if key in changes:
            raise OptionError(f"command line: {key} would do nothing: {reason}")
    return experiment


def read_yaml(text: str | bytes, place: str | PathLike[str]) -> Any:
    """What YAML says, without running code; OptionError names the place of what is none."""
    try:
        return yaml.load(text, Loader)
    except (yaml.YAMLError, ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
        # PyYAML lets what Python says of a malformed date, number or key through.
        raise OptionError(f"{place}: {' '.join(str(error).split())}") from None


def read_overrides(texts: Sequence[str]) -> dict[str, Any]:
    """What the command line says, as text: lists, and pairs of a name and a value, have commas between them.

    Raises:
        OptionError: if something is no ``KEY=VALUE``, or there is no such option.
    """
    changes: dict[str, Any] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not equals:
            raise OptionError(f"'{text}' is no option: write KEY=VALUE")
        if key not in Experiment.model_fields:
            raise OptionError(f"command line: {describe_unknown(key)}")
        default = Experiment.model_fields[key].default
        parts = [part for part in value.split(",") if part]
        if isinstance(default, dict):
            changes[key] = read_pairs(key, parts)
        else:
            changes[key] = parts if isinstance(default, list) else value or None
    return changes


def read_pairs(key: str, parts: Sequence[str]) -> dict[str, Any]:
    """The value of an option that has names. That of a flag may be of any type, as in a file.

    Raises:
        OptionError: if a name is missing.
    """
    pairs: dict[str, Any] = {}
    for part in parts:
        name, equals, value = part.partition("=")
        if not equals:
            raise OptionError(f"command line: {key} must be NAME=VALUE, several separated by commas, not {name!r}")
        pairs[name] = read_yaml(value, f"command line: {key}.{name}") if key == "flags" else value
    return pairs


def describe_error(error: ValidationError) -> tuple[str, str]:
    """The first option that is wrong, and the message about it."""
    first = min(error.errors(), key=lambda one: one["type"] != "extra_forbidden")
    reason = first["msg"].removeprefix("Value error, ").removeprefix("Input ")
    steps = [str(step) for step in first["loc"] if step not in (NAMES, CHANGES)]
    if not steps:
        return "", reason
    if first["type"] == "extra_forbidden":
        return steps[0], describe_unknown(steps[0])
    # A name that is wrong is an option of its own: the path ends above it.
    path = ".".join(steps[:-2] if steps[-1] == "[key]" else steps)
    if first["type"] == "missing":
        return steps[0], f"{path} is required"
    given = first["input"]
    shown = ",".join(map(str, given)) if isinstance(given, list) else str(given)
    return steps[0], f"{path} {reason}, not {shown[:80]!r}"


def describe_unknown(key: str) -> str:
    """The message for an option that does not exist, with the closest one that does."""
    close = difflib.get_close_matches(key, Experiment.model_fields, n=1)
    hint = f"did you mean {close[0]}?" if close else "recurrent-mt experiment --help lists all"
    return f"there is no option {key}: {hint}"
