# Translations of test sets by beam search, as people write them.

# Translations go to standard output and the timing to standard error: without buffering, their lines stay whole in one
# file, which is the log until it is whole.
SEARCH = "PYTHONUNBUFFERED=1 fairseq-generate"
# How long the n-best lists in a log are, at most.
LISTED = 10


def corpus_of(folder):
    """What a system is trained on."""
    return BY_FOLDER[folder]["corpus"]


def form_of(folder):
    """How its text becomes tokens, and text again."""
    return FORMS[corpus_of(folder)]


def translated_data(wildcards):
    """The binarized files that a search reads."""
    corpus = corpus_of(wildcards.folder)
    if not wildcards.name.startswith("extra-"):
        return binarized(corpus)
    folder = f"corpora/{corpus}/extra/{wildcards.name.removeprefix('extra-')}/data"
    return [f"{folder}/test.{PAIR}.{lang}.{ending}" for lang in (SOURCE, TARGET) for ending in ("bin", "idx")]


def search_flags(wildcards):
    """What differs between searches."""
    flags = f"--nbest {min(int(wildcards.beam), LISTED)}"
    if wildcards.name.startswith("extra-"):
        return "--nbest 1"
    return f"{flags} --unkpen inf" if wildcards.name == "test-without-unknown" else flags


def what_is_translated(wildcards):
    """For people."""
    if wildcards.name.startswith("extra-"):
        return f"the test set {EXTRA[wildcards.name.removeprefix('extra-')]['name']}"
    return "the test set" if wildcards.name == "test" else "the test set, <unk> forbidden,"


# Another text under the name of a further test set has another id: what was translated before stays.
TRANSLATIONS = "|".join(["test", "test-without-unknown", *(f"extra-{re.escape(test)}" for test in EXTRA)])


def joiner_of(wildcards):
    """What makes text of words."""
    return form_of(wildcards.folder).join_command


rule translate:
    input:
        data=translated_data,
        training="trainings/{folder}/seed-{seed}/outcome",
    output:
        "trainings/{folder}/seed-{seed}/beam-{beam}/{name}.outcome",
    params:
        data=lambda wildcards, input: Path(input.data[0]).parent,
        flags=search_flags,
        join=lambda wildcards: form_of(wildcards.folder).merge_flags,
        search=lambda wildcards: shlex.join(form_of(wildcards.folder).search_flags(config["plugin"])),
        training=lambda wildcards: f"trainings/{wildcards.folder}/seed-{wildcards.seed}",
        place=lambda wildcards, output: output[0].removesuffix(".outcome"),
        finish=lambda wildcards, output: steps.finishing_command(output[0], joiner_of(wildcards), lists=True),
        system=lambda wildcards: BY_FOLDER[wildcards.folder]["name"],
        what=what_is_translated,
    wildcard_constraints:
        name=TRANSLATIONS,
    log:
        "trainings/{folder}/seed-{seed}/beam-{beam}/{name}.search",
    threads: THREADS
    message:
        "Translating {params.what} with {params.system}, seed {wildcards.seed}"
    shell:
        "rm -f {params.place}.detokenized; " + AFTER_TRAINING + "{SEARCH} {params.data} {params.search}"
        " --path {params.training}/checkpoints/checkpoint_best.pt --beam {wildcards.beam} {params.join}"
        " --gen-subset test {params.flags} > {log} 2>&1 && {params.finish}" + OUTCOME


def penalized_flags(wildcards):
    """What differs between searches for the curve over beams: an exponent of 1 is fairseq's default, 0 no division."""
    penalty = wildcards.penalty.removeprefix("-lenpen-")
    flags = {"": "", "-unnormalized": " --unnormalized"}.get(penalty, f" --lenpen {penalty}")
    return f"--nbest {min(int(wildcards.beam), LISTED)}{flags}"


use rule translate as search_beam with:
    input:
        data=lambda wildcards: binarized(corpus_of(wildcards.folder)),
        training="trainings/{folder}/seed-{seed}/outcome",
    output:
        "trainings/{folder}/seed-{seed}/beams/beam-{beam}{penalty}.outcome",
    params:
        flags=penalized_flags,
        finish=lambda wildcards, output: steps.finishing_command(output[0], joiner_of(wildcards)),
        what="the test set",
    wildcard_constraints:
        penalty=r"|-unnormalized|-lenpen-[0-9.]+",
    log:
        "trainings/{folder}/seed-{seed}/beams/beam-{beam}{penalty}.search",
    message:
        "Beam {wildcards.beam}{wildcards.penalty}, {params.system}, seed {wildcards.seed}"
