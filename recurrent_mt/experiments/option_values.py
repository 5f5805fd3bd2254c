"""What options of an experiment may be: types of pydantic, each with what its values must be."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal, NotRequired

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, ValidationError, WrapValidator, with_config
from pydantic_core import PydanticCustomError
from typing_extensions import TypedDict  # that of typing has no `extra_items` yet


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


Distinct = AfterValidator(check_distinct)
Switch = Annotated[bool, must("true or false")]
Count = Annotated[int, must("a whole number")]
Positive = Annotated[int, Field(ge=1), must("a whole number above zero")]
Minutes = Annotated[int | float, Field(gt=0), must("a number above zero")]
Probability = Annotated[int | float, Field(ge=0, lt=1), must("a number from 0 to below 1")]
Beams = Annotated[list[Positive], Distinct, must("whole numbers above zero, separated by commas, each once")]
Exponent = Annotated[int | float, Field(ge=0), must("a number not below zero")]
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


SystemName = Annotated[Line, must("a name")]
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
