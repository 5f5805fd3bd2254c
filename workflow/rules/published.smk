# Published text, or local text in its place: got, joined, cleaned, selected.


import shlex

def sets_of(corpus, *roles):
    """The names of a corpus's texts."""
    return [name for role in roles for name in CORPORA[corpus]["sets"][role]]


def prefix_of(wildcards):
    """Where local text is; None for a published corpus."""
    sets = CORPORA[wildcards.corpus]["sets"]
    return next(texts[wildcards.set] for texts in sets.values() if wildcards.set in texts)


def collected_text(wildcards):
    """What becomes the text of a split."""
    folder = f"corpora/{wildcards.corpus}/clean"
    return f"{folder}/{training_text(wildcards.corpus) if wildcards.split == 'train' else 'held-out'}/{wildcards.split}.{wildcards.lang}"


def training_text(corpus):
    """The folder of the text to train on."""
    if CORPORA[corpus]["select_words"]:
        return "selected"
    return cleaned_text(corpus)


def cleaned_text(corpus):
    """The folder of the text from which words are selected."""
    return "cleaned" if CORPORA[corpus]["cleaning"] else "joined"


def held_out_sets(wildcards):
    """The texts that make up a development or test set."""
    tests = sets_of(wildcards.corpus, "test")
    if wildcards.split == "valid":
        return sets_of(wildcards.corpus, "valid")
    return [tests[int(wildcards.split.removeprefix("test") or 0)]]


def get_from(wildcards):
    """What a download depends on: with checksums, what is there already must have them, too."""
    files = ["downloads/sources.json", *([OPTIONS["checksums"]] if OPTIONS["checksums"] else [])]
    return [] if prefix_of(wildcards) else files


def get_command(wildcards, input):
    """Copies local text, or downloads what is published."""
    prefix = prefix_of(wildcards)
    if prefix is not None:
        return f"local {shlex.quote(prefix)}"
    mirror = f" --mirror {OPTIONS['mirror']}" if OPTIONS["mirror"] else ""
    checksums = f" --checksums {shlex.quote(OPTIONS['checksums'])}" if OPTIONS["checksums"] else ""
    return f"published {wildcards.set} --sources {input[0]} --downloads downloads{mirror}{checksums}"


def in_domain(corpus):
    """What selected text is to be like: the development set and the news commentary."""
    news = [name for name in sets_of(corpus, "train") if "news_commentary" in name]
    return [f"corpora/{corpus}/clean/held-out/valid", *(f"corpora/{corpus}/raw/{name}/text" for name in news)]


def held_out_splits(corpus):
    """All but the training text."""
    return [split for split in CORPORA[corpus]["splits"] if split != "train"]


rule find_published:
    output:
        "downloads/sources.json",
    params:
        identifiers=[corpus["id"] for corpus in OPTIONS["published"]],
    log:
        "logs/published.log",
    message:
        "Looking up the corpora"
    shell:
        "recurrent-mt get find {params.identifiers} --out {output} > {log} 2>&1"


# What a call leaves that was killed between the tool's end and the last command stops the tool: it replaces no folder.
rule get_text:
    input:
        get_from,
    output:
        [f"corpora/{{corpus}}/raw/{{set}}/text.{lang}" for lang in (SOURCE, TARGET)],
    params:
        what=get_command,
        out=lambda wildcards: f"corpora/{wildcards.corpus}/raw/{wildcards.set}",
    log:
        "logs/{corpus}/get-{set}.log",
    resources:
        downloads=1,
    message:
        "Getting {wildcards.set}"
    shell:
        "rm -rf {params.out}.new && recurrent-mt get {params.what} --pair {PAIR} --out {params.out}.new > {log} 2>&1"
        " && mv {params.out}.new/* {params.out} && rmdir {params.out}.new"


rule join_held_out:
    input:
        lambda wildcards: [f"corpora/{wildcards.corpus}/raw/{name}/text.{wildcards.lang}" for name in held_out_sets(wildcards)],
    output:
        "corpora/{corpus}/clean/held-out/{split}.{lang}",
    message:
        "Joining {wildcards.split}.{wildcards.lang}"
    shell:
        "cat {input} > {output}"


rule join_training_text:
    input:
        lambda wildcards: [f"corpora/{wildcards.corpus}/raw/{name}/text.{wildcards.lang}" for name in sets_of(wildcards.corpus, "train")],
    output:
        "corpora/{corpus}/clean/joined/train.{lang}",
    message:
        "Joining the training text, {wildcards.lang}"
    shell:
        "cat {input} > {output}"


def training_files(wildcards, lang):
    """The training text of all sets in one language, in order."""
    return [f"corpora/{wildcards.corpus}/raw/{name}/text.{lang}" for name in sets_of(wildcards.corpus, "train")]


rule clean_text:
    input:
        source=lambda wildcards: training_files(wildcards, SOURCE),
        target=lambda wildcards: training_files(wildcards, TARGET),
        held_out=lambda wildcards: [
            f"corpora/{wildcards.corpus}/clean/held-out/{split}.{lang}"
            for split in held_out_splits(wildcards.corpus)
            for lang in (SOURCE, TARGET)
        ],
    output:
        [f"corpora/{{corpus}}/clean/cleaned/train.{lang}" for lang in (SOURCE, TARGET)],
        report="corpora/{corpus}/clean/cleaned/REPORT.md",
    params:
        exclude=lambda wildcards: [f"corpora/{wildcards.corpus}/clean/held-out/{split}" for split in held_out_splits(wildcards.corpus)],
    log:
        "logs/{corpus}/clean.log",
    threads: THREADS
    message:
        "Cleaning"
    shell:
        "recurrent-mt clean --source {input.source} --target {input.target} --source-lang {SOURCE} --target-lang {TARGET}"
        " --exclude {params.exclude} --jobs {threads} --out corpora/{wildcards.corpus}/clean/cleaned/train"
        " --report {output.report} > {log} 2>&1"


rule select_text:
    input:
        source=lambda wildcards: f"corpora/{wildcards.corpus}/clean/{cleaned_text(wildcards.corpus)}/train.{SOURCE}",
        target=lambda wildcards: f"corpora/{wildcards.corpus}/clean/{cleaned_text(wildcards.corpus)}/train.{TARGET}",
        in_domain=lambda wildcards: [f"{prefix}.{lang}" for prefix in in_domain(wildcards.corpus) for lang in (SOURCE, TARGET)],
    output:
        [f"corpora/{{corpus}}/clean/selected/train.{lang}" for lang in (SOURCE, TARGET)],
        report="corpora/{corpus}/clean/selected/REPORT.md",
    params:
        in_domain=lambda wildcards: in_domain(wildcards.corpus),
        words=lambda wildcards: CORPORA[wildcards.corpus]["select_words"],
    log:
        "logs/{corpus}/select.log",
    threads: THREADS
    message:
        "Selecting {params.words} words"
    shell:
        "recurrent-mt select --source {input.source} --target {input.target} --source-lang {SOURCE} --target-lang {TARGET}"
        " --in-domain {params.in_domain} --words {params.words} --jobs {threads}"
        " --out corpora/{wildcards.corpus}/clean/selected/train --report {output.report} > {log} 2>&1"


rule report_data:
    input:
        data=lambda wildcards: binarized(wildcards.corpus),
        prepared=lambda wildcards: [
            f"corpora/{wildcards.corpus}/text/prepared/{split}.{lang}"
            for split in CORPORA[wildcards.corpus]["splits"]
            for lang in (SOURCE, TARGET)
        ],
        references=lambda wildcards: [
            f"corpora/{wildcards.corpus}/text/raw/{split}.{lang}"
            for split in CORPORA[wildcards.corpus]["splits"][2:]
            for lang in (SOURCE, TARGET)
        ],
        before=lambda wildcards: [
            f"corpora/{wildcards.corpus}/clean/{step}/REPORT.md"
            for step in ["cleaned"] * CORPORA[wildcards.corpus]["cleaning"]
            + ["selected"] * bool(CORPORA[wildcards.corpus]["select_words"])
        ],
    output:
        "corpora/{corpus}/data/REPORT.md",
    params:
        dictionaries=lambda wildcards: dictionary_folder(wildcards.corpus),
        splits=lambda wildcards: CORPORA[wildcards.corpus]["splits"],
        before=lambda wildcards, input: f"--before {input.before}" if input.before else "",
    log:
        "logs/{corpus}/report.log",
    message:
        "Reporting on the data"
    shell:
        "recurrent-mt data-report --prepared corpora/{wildcards.corpus}/text/prepared --dictionaries {params.dictionaries}"
        " --source-lang {SOURCE} --target-lang {TARGET} --splits {params.splits} {params.before} --out {output} > {log} 2>&1"
