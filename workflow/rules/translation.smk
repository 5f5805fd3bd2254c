# Translations of test sets by beam search, as people write them.

# Translations go to standard output and the timing to standard error: without buffering, their lines stay whole in one
# file, which is the log until it is whole.
SEARCH = "PYTHONUNBUFFERED=1 fairseq-generate"
SEARCH_FLAGS = (
    f"--user-dir {shlex.quote(config['plugin'])} --task native_translation --source-lang {SOURCE} --target-lang {TARGET}"
    " --max-len-a 2 --max-len-b 10 --max-tokens 4000 --num-workers 0 --no-progress-bar"
)
# How long the n-best lists in a log are, at most.
LISTED = 10


def corpus_of(folder):
    """What a system is trained on."""
    return BY_FOLDER[folder]["corpus"]


def joining_flags(corpus):
    """How pieces become words."""
    kind = CORPORA[corpus]["segmentation"]
    return {"word": "", "bpe": "--remove-bpe", "sentencepiece": "--remove-bpe sentencepiece"}[kind]


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


rule translate:
    input:
        data=translated_data,
        model="trainings/{folder}/seed-{seed}/model.pt",
    output:
        "trainings/{folder}/seed-{seed}/beam-{beam}/{name}.log",
    params:
        data=lambda wildcards, input: Path(input.data[0]).parent,
        flags=search_flags,
        join=lambda wildcards: joining_flags(corpus_of(wildcards.folder)),
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
        "{SEARCH} {params.data} {SEARCH_FLAGS} --path {input.model} --beam {wildcards.beam} {params.join}"
        " --gen-subset test {params.flags} > {log} 2>&1 && mv {log} {output}"


rule take_hypotheses:
    input:
        "trainings/{folder}/seed-{seed}/beam-{beam}/{name}.log",
    output:
        "trainings/{folder}/seed-{seed}/beam-{beam}/{name}.{form}.tokens",
    params:
        system=lambda wildcards: BY_FOLDER[wildcards.folder]["name"],
        all=lambda wildcards: "--all" if wildcards.form == "nbest" else "",
    wildcard_constraints:
        name=TRANSLATIONS,
        form="detokenized|nbest",
    log:
        "trainings/{folder}/seed-{seed}/beam-{beam}/{name}.{form}.errors",
    message:
        "Reading {wildcards.name}.{wildcards.form} of {params.system}, seed {wildcards.seed}"
    shell:
        "recurrent-mt hypotheses {input} {params.all} --out {output} > {log} 2>&1"


def what_is_detokenized(folder, seed, place, name):
    """For people."""
    return f"{name} of {BY_FOLDER[folder]['name']}, {seed.replace('-', ' ')}"


rule detokenize:
    input:
        "{translation}.tokens",
    output:
        "{translation}",
    params:
        command=lambda wildcards: CORPORA[corpus_of(wildcards.translation.split("/")[1])]["detokenizer"],
        what=lambda wildcards: what_is_detokenized(*wildcards.translation.split("/")[1:]),
    wildcard_constraints:
        translation=r"trainings/[^/]+/seed-\d+/(beam-\d+/[^/]+\.(detokenized|nbest)|beams/[^/]+\.detokenized)",
    log:
        "{translation}.errors",
    message:
        "Detokenizing {params.what}"
    shell:
        "{params.command} < {input} > {output} 2> {log} && {{ test $(wc -l < {input}) = $(wc -l < {output}) ||"
        " {{ echo '{output} has not as many lines as {input}' >> {log}; false; }}; }}"


def penalty_flags(wildcards):
    """An exponent of 1 is fairseq's default, 0 no division."""
    penalty = wildcards.penalty
    if not penalty:
        return ""
    return "--unnormalized" if penalty == "-unnormalized" else f"--lenpen {penalty.removeprefix('-lenpen-')}"


def penalty_name(penalty):
    """What the file of a search with this exponent of the length is called after."""
    return {1: "", 0: "-unnormalized"}.get(penalty, f"-lenpen-{penalty:g}")


rule search_beam:
    input:
        data=lambda wildcards: binarized(corpus_of(wildcards.folder)),
        model="trainings/{folder}/seed-{seed}/model.pt",
    output:
        "trainings/{folder}/seed-{seed}/beams/beam-{beam}{penalty}.log",
    params:
        data=lambda wildcards, input: Path(input.data[0]).parent,
        flags=penalty_flags,
        listed=lambda wildcards: min(int(wildcards.beam), LISTED),
        join=lambda wildcards: joining_flags(corpus_of(wildcards.folder)),
        system=lambda wildcards: BY_FOLDER[wildcards.folder]["name"],
    wildcard_constraints:
        penalty=r"|-unnormalized|-lenpen-[0-9.]+",
    log:
        "trainings/{folder}/seed-{seed}/beams/beam-{beam}{penalty}.search",
    threads: THREADS
    message:
        "Beam {wildcards.beam}, {params.system}, seed {wildcards.seed} {params.flags}"
    shell:
        "{SEARCH} {params.data} {SEARCH_FLAGS} --path {input.model} --beam {wildcards.beam} {params.join}"
        " --gen-subset test --nbest {params.listed} {params.flags} > {log} 2>&1 && mv {log} {output}"


use rule take_hypotheses as take_beam_hypotheses with:
    input:
        "trainings/{folder}/seed-{seed}/beams/{name}.log",
    output:
        "trainings/{folder}/seed-{seed}/beams/{name}.{form}.tokens",
    wildcard_constraints:
        name="beam-[^/]+",
        form="detokenized",
    log:
        "trainings/{folder}/seed-{seed}/beams/{name}.{form}.errors",
