"""Everything that an experiment may set, once: types, defaults, help, and what goes together."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal, NotRequired

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    WrapValidator,
    model_validator,
    with_config,
)
from pydantic_core import PydanticCustomError
from typing_extensions import TypedDict  # that of typing has no `extra_items` yet

from .training_command import check_flags

#: The folder of the project: experiments are run from a clone.
PROJECT = Path(__file__).resolve().parents[2]
CONFIGURATIONS = PROJECT / "configs"


def names_configuration(name: str, configurations: Path = CONFIGURATIONS) -> bool:
    """Whether a system is a file of configs/."""
    return "/" not in name and (configurations / f"{name}.yaml").is_file()


def must(text: str) -> WrapValidator:
    """Says what a value must be when it is not, unless a part of it has a message of its own."""

    def validate(value: Any, check: Callable[[Any], Any]) -> Any:
        try:
            return check(value)
        except ValidationError as error:
            if any(one["type"] == "must" for one in error.errors()):
                raise
            raise PydanticCustomError("must", "{text}", {"text": text}) from None

    return WrapValidator(validate)


def check_distinct(values: list[Any]) -> list[Any]:
    """Returns a list that has nothing twice."""
    if len(set(values)) < len(values):
        raise ValueError
    return values


def write_number(value: Any) -> Any:
    """A number that YAML has read, as text again: that of a learning rate is a name, too."""
    return str(value) if type(value) in (int, float) else value


def read_exponent(value: Any) -> Any:
    """The number that YAML has taken for text because it has no point: 2e-1."""
    return float(value) if isinstance(value, str) and re.fullmatch(r"[0-9]+[eE][+-]?[0-9]+", value) else value


Distinct = AfterValidator(check_distinct)
Switch = Annotated[bool, must("true or false")]
Count = Annotated[int, must("a whole number")]
Positive = Annotated[int, Field(ge=1), must("a whole number above zero")]
Number = Annotated[int | float, BeforeValidator(read_exponent)]
Minutes = Annotated[Number, Field(ge=0.001), must("a number of at least 0.001")]
Probability = Annotated[Number, Field(ge=0, lt=1), must("a number from 0 to below 1")]
Beams = Annotated[list[Positive], Distinct, must("whole numbers above zero, separated by commas, each once")]
Exponent = Annotated[Number, Field(ge=0), must("a number not below zero")]
Exponents = Annotated[list[Exponent], Distinct, must("numbers not below zero, separated by commas, each once")]
Seed = Annotated[int, Field(ge=0), must("a whole number")]
Seeds = Annotated[list[Seed], Field(min_length=1), Distinct, must("whole numbers separated by commas, each once")]
Rate = Annotated[
    str, Field(pattern=r"^([0-9]+\.?[0-9]*|\.[0-9]+)(e-?[0-9]+)?$"), BeforeValidator(write_number), must("a number")
]
Rates = Annotated[list[Rate], Distinct, must("numbers separated by commas, each once")]
Words = Annotated[
    Annotated[int, Field(ge=1)] | Annotated[str, Field(pattern="^[1-9][0-9]*[kMG]?$")],
    must("a number of words such as 348M"),
]

# No character that fairseq takes for something else, and none but spaces that a shell does; those are quoted.
PATH = r"[\w./~+@%-]+( +[\w./~+@%-]+)*"
PLACE = must("a path of letters, digits, spaces, and ._/~+@%-")
Place = Annotated[str, Field(pattern=f"^{PATH}$"), PLACE]
ListedPlaces = Annotated[list[Place], must("paths separated by commas")]
Places = Annotated[str, Field(pattern=f"^{PATH}(,{PATH})*$"), PLACE]
Pattern = Annotated[str, Field(pattern=f"^{PATH.replace('%', '%{}')}$"), PLACE]
Address = Annotated[str, Field(pattern=r"^https?://[\w./:~+@%-]+$"), must("an address")]
# Folders and files get it.
Name = Annotated[
    str,
    Field(pattern="^[A-Za-z0-9][A-Za-z0-9._-]*$"),
    must("a name of letters, digits, '.', '_', and '-' that begins with a letter or digit"),
]
NamedPlaces = Annotated[dict[Name, Place], must("NAME=PREFIX, several separated by commas")]
Configuration = Annotated[str, Field(pattern="^[a-z0-9][a-z0-9._-]*$"), must("the name of a file of configs/")]
Pair = Annotated[str, Field(pattern="^[A-Za-z_]+-[A-Za-z_]+$"), must("two languages like fr-en")]
Segmentation = Annotated[
    str, Field(pattern="^(word|bpe|sentencepiece):[1-9][0-9]*$"), must("word:N, bpe:N, or sentencepiece:N")
]
Tokenizer = Annotated[Literal["moses", "none"], must("moses or none")]
Schedule = Annotated[Literal["inverse_sqrt", "constant"], must("inverse_sqrt or constant")]
Size = Annotated[Literal["small", "medium", "full"], must("small, medium, or full")]

# Neither control characters nor other spaces than the usual one.
Line = Annotated[str, Field(pattern=r"^( |[^\pC\pZ])*$")]
Value = Annotated[Line | int | float | bool | None, must("one value: true for a flag without one")]
Flags = Annotated[dict[Line, Value], must("options of fairseq-train, without their dashes, and their values")]


# Another configuration would forbid further keys, which pydantic warns of.
@with_config(ConfigDict(strict=True, allow_inf_nan=False))
class Changes(TypedDict, total=False, extra_items=Value):  # type: ignore[call-arg]  # PEP 728
    """What one system of an ablation has of its own: a segmentation, and options of fairseq-train."""

    segmentation: Segmentation | None


# Shells read it, as part of paths.
SystemName = Annotated[
    str,
    Field(pattern="^[A-Za-z0-9][A-Za-z0-9._=+-]*$"),
    must("a name, followed by +OPTION=VALUE, if by anything, of letters, digits, '.', '_', and '-'"),
]
Baseline = Annotated[str, must("one of the systems")]
AblationName = Annotated[
    str, Field(pattern="^[a-z0-9][a-z0-9._-]*$"), must("names of small letters, digits, '.', '_', and '-'")
]
SystemNames = Annotated[
    Annotated[list[SystemName], Distinct] | dict[AblationName, Changes],
    must("names, each once, separated by commas; of an ablation, with what each has of its own"),
]


class Corpus(TypedDict):
    """Published text, and the sizes of the experiment that have it."""

    role: Annotated[Literal["train", "valid", "test"], must("train, valid, or test")]
    sizes: list[Size]
    id: Name
    pairs: NotRequired[Count]
    megabytes: NotRequired[Count]


Corpora = Annotated[
    list[Annotated[Corpus, must("a corpus: its role, sizes, and id, and pairs and megabytes where they are known")]],
    must("a list of corpora"),
]


class Options(BaseModel):
    """Options that belong together; the text below each is its help."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False, use_attribute_docstrings=True)


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
    extra_tests: NamedPlaces = {}
    """further test sets, NAME=PREFIX, each with a table of its own"""
    published: Corpora = []
    """corpora to download: role, the sizes that have it, mtdata's id, pairs and megabytes as published"""
    shards: Positive = 1
    """parts of the training data, of which fairseq-train reads one an epoch"""
    segmentation: Segmentation | None = None
    """word:N (the most frequent, N with fairseq's four symbols), bpe:N (N joint merges), or sentencepiece:N (N joint
    pieces); without it, word:4000 for the synthetic corpus and sentencepiece:8000 for other text"""
    tokenizer: Tokenizer = "moses"
    """moses (Chinese: jieba), or none for text with spaces between its tokens, which stays so in translations and
    scores; sentencepiece needs none"""
    lowercase: Switch = False
    """lowercase the text; scores then ignore case"""
    max_length: Positive = 250
    """drop training and development pairs with more tokens on a side; with `published`, training pairs alone"""

    @model_validator(mode="after")
    def check_text(self) -> Text:
        source, target = self.pair.split("-")
        if source == target:
            raise ValueError(f"source and target language of pair are both {source}")
        if self.extra_tests and self.corpus is None:
            raise ValueError("extra_tests needs a corpus: the synthetic one has a language of its own")
        return self


class Collection(Options):
    """How published text is collected."""

    size: Size = "small"
    """with `published`, which of them"""
    add: ListedPlaces = []
    """with `published`, more local text to train on, PREFIX.LANG"""
    cleaning: Switch = True
    """clean published text"""
    select_words: Words | None = None
    """keep the N words of cleaned text most similar to the development set and News Commentary"""
    mirror: Address | None = None
    """download from URL/HOST/PATH instead"""
    checksums: Place | None = None
    """file of checksums that downloads must have, in the format of sha256sum: HASH  HOST/PATH"""


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
    flags: Flags = {}
    """options of fairseq-train for every system of an ablation, without their dashes"""
    baseline: Baseline | None = None
    """the system the others are compared with; without it, the first of fairseq's own, or the first of all"""
    seeds: Seeds = [1]
    """train each system once with each seed"""
    learning_rates: Rates = []
    """train each system with each rate and the first seed; the one of the lowest validation loss is used for all seeds.
    Systems from configs/ keep their own"""
    processes: Positive = 1
    """that train one system together, started by torchrun"""

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
        for flags in (self.flags, *self.changes.values()):
            check_flags(flags)
        return self


class Sizes(Options):
    """How large models are: in an ablation, its configuration or flags say it."""

    embedding_size: Positive = 256
    """of both sides"""
    encoder_size: Positive = 256
    """units per direction"""
    decoder_size: Positive = 512
    """half of it is the width of fconv and transformer: within a few percent of lstm's parameters"""
    tied: Switch = False
    """the decoder looks words up in the matrix that it scores them with, in every system; of `embedding_size`"""
    layer_norm: Switch = False
    """layer norm on the output of every GRU layer and of the dilated grConv; other models stay as they are"""


class Settings(Sizes):
    """How models are trained: in an ablation, its configuration says it, if it has one."""

    max_tokens: Positive = 2000
    """the most tokens in a batch"""
    dropout: Probability = 0.2
    """probability"""
    learning_rate: Rate = "1e-3"
    """of Adam"""
    schedule: Schedule = "inverse_sqrt"
    """of the learning rate: inverse_sqrt rises over `warmup` updates to `learning_rate`, then falls with the square
    root of the update number; constant stays, but for the transformer, which needs the other"""
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
    """budget"""
    minutes: Minutes | None = None
    """budget of wall time: validations and checkpoints count, what a kill undid does not"""


class Translation(Options):
    """How test sets are translated."""

    beam: Positive = 5
    """of the search"""
    without_unknown: Switch = False
    """translate a second time with <unk> forbidden"""
    beams: Beams = []
    """translate once more with each of these beams, and draw what they do to the systems"""
    lenpens: Exponents = [1, 0]
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
    def text(self) -> dict[str, Any]:
        """What is said of text, as plain data."""
        return {key: getattr(self, key) for key in (*Text.model_fields, *Collection.model_fields)}

    @property
    def unused(self) -> dict[str, str]:
        """Options that change nothing, with the reason."""
        reasons: dict[str, str] = {}
        if self.corpus is None:
            reasons |= dict.fromkeys(("train", "valid", "test"), "there is no corpus")
        elif self.published:
            reasons |= dict.fromkeys(("size", "mirror", "checksums"), "corpus takes the place of what is published")
        if self.learning_rates:
            reasons["learning_rate"] = "one of learning_rates is chosen"
        if self.schedule == "constant" and not any(name.partition("+")[0] == "transformer" for name in self.systems):
            reasons["warmup"] = "the schedule is constant"
        if not self.beams:
            reasons["lenpens"] = "there are no beams"
        if self.systems and not self.ablation and all(map(names_configuration, self.systems)):
            reason = "all systems are files of configs/, with settings of their own"
            reasons |= dict.fromkeys((*Settings.model_fields, "learning_rates"), reason)
        return reasons

    def to_plan(self) -> dict[str, Any]:
        """Returns the options as a plan has them: without budgets that are not given."""
        return {key: value for key, value in self if key not in Budget.model_fields or value is not None}

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
        for key in ("learning_rates", "extra_tests", "beams", "without_unknown"):
            if getattr(self, key):
                raise ValueError(f"an ablation takes no {key}")
        for key in (Settings if self.configuration else Sizes).model_fields:
            if key in self.model_fields_set:
                owner = f"configuration {self.configuration}'s" if self.configuration else "no option of an ablation"
                raise ValueError(f"{key} is {owner}: flags can change it")
        return self
