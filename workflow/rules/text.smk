# From raw text to words, subwords, and sentences of lengths that models take.


def source_of(wildcards):
    """Where the text of a split is taken from."""
    corpus = CORPORA[wildcards.corpus]
    if wildcards.place != "text":
        return extra_text(wildcards)
    if corpus["source"] == "collected":
        return collected_text(wildcards)
    return corpus["files"][wildcards.split][wildcards.lang]


def reference_of(wildcards):
    """The unchanged test set, on which scores are computed."""
    corpus = CORPORA[wildcards.corpus]
    if wildcards.place != "text":
        return extra_text(wildcards)
    if corpus["source"] == "collected":
        return f"corpora/{wildcards.corpus}/clean/held-out/{wildcards.split}.{wildcards.lang}"
    return corpus["raw"][wildcards.lang]


def extra_text(wildcards):
    """A further test set."""
    return f"{EXTRA[wildcards.place.removeprefix('extra/')]['prefix']}.{wildcards.lang}"


def unless_local(find):
    """What a rule depends on that reads text: local text's checksum is in the name of what is made of it, so the same
    text in another place is not read again."""

    def find_input(wildcards):
        local = wildcards.place != "text" or CORPORA[wildcards.corpus]["source"] == "files"
        return [] if local else find(wildcards)

    return find_input


def tokens_of(wildcards):
    """What models read: words, or their parts."""
    step = "segmented" if FORMS[wildcards.corpus].scheme else "words"
    return f"corpora/{wildcards.corpus}/{wildcards.place}/{step}/{wildcards.split}"


# Short sentences: in minutes, a model that reads them into one vector does not learn to translate others.
rule synthetic_corpus:
    output:
        [f"corpora/synthetic-{PAIR}/{split}.{ending}" for split in ("train", "valid", "test") for ending in (SOURCE, TARGET, "src", "tgt")],
        f"corpora/synthetic-{PAIR}/README.md",
    log:
        f"logs/synthetic-{PAIR}.log",
    message:
        "Making the synthetic corpus"
    shell:
        "recurrent-mt synthetic-corpus --pair {PAIR} --max-words 20 --out corpora/synthetic-{PAIR} > {log} 2>&1"


rule copy_text:
    input:
        unless_local(source_of),
    output:
        "corpora/{corpus}/{place}/input/{split}.{lang}",
    params:
        source=source_of,
    log:
        "logs/{corpus}/{place}/input-{split}.{lang}.log",
    message:
        "Reading {wildcards.split}.{wildcards.lang}"
    shell:
        "recurrent-mt words copy --language {wildcards.lang} < {params.source:q} > {output} 2> {log}"


rule copy_reference:
    input:
        unless_local(reference_of),
    output:
        "corpora/{corpus}/{place}/raw/{split}.{lang}",
    params:
        source=reference_of,
    log:
        "logs/{corpus}/{place}/raw-{split}.{lang}.log",
    message:
        "Reading the references {wildcards.split}.{wildcards.lang}"
    shell:
        "recurrent-mt words copy --language {wildcards.lang} < {params.source:q} > {output} 2> {log}"


rule split_words:
    input:
        "corpora/{corpus}/{place}/input/{split}.{lang}",
    output:
        "corpora/{corpus}/{place}/words/{split}.{lang}",
    params:
        command=lambda wildcards: FORMS[wildcards.corpus].split_command(wildcards.lang),
    log:
        "logs/{corpus}/{place}/words-{split}.{lang}.log",
    threads: THREADS
    message:
        "Splitting {wildcards.split}.{wildcards.lang} into words"
    shell:
        "{params.command} --jobs {threads} < {input} > {output} 2> {log}"


rule join_sides:
    input:
        [f"corpora/{{corpus}}/text/words/train.{lang}" for lang in (SOURCE, TARGET)],
    output:
        temp("corpora/{corpus}/text/both-sides"),
    message:
        "Joining both sides of the training text"
    shell:
        "cat {input} > {output}"


def model_text(wildcards):
    """What a segmentation is learned from."""
    if FORMS[wildcards.corpus].learns_from_one_file:
        return f"corpora/{wildcards.corpus}/text/both-sides"
    return [f"corpora/{wildcards.corpus}/text/words/train.{lang}" for lang in (SOURCE, TARGET)]


rule learn_segmentation:
    input:
        model_text,
    output:
        "corpora/{corpus}/text/segmentation.model",
    params:
        command=lambda wildcards, input, output, threads: FORMS[wildcards.corpus].learn_command(input, output, threads),
    log:
        "logs/{corpus}/segmentation.log",
    threads: THREADS
    message:
        "Learning subwords"
    shell:
        "{params.command} > {log} 2>&1"


rule segment:
    input:
        words="corpora/{corpus}/{place}/words/{split}.{lang}",
        model="corpora/{corpus}/text/segmentation.model",
    output:
        "corpora/{corpus}/{place}/segmented/{split}.{lang}",
    params:
        command=lambda wildcards, input, threads: FORMS[wildcards.corpus].segment_command(input.words, input.model, threads),
    log:
        "logs/{corpus}/{place}/segment-{split}.{lang}.log",
    threads: THREADS
    message:
        "Splitting the words of {wildcards.split}.{wildcards.lang}"
    shell:
        "{params.command} > {output} 2> {log}"


def most_tokens(wildcards):
    most = CORPORA[wildcards.corpus]["lengths"][wildcards.split]
    return "" if most is None else f"--max {most}"


rule limit_lengths:
    input:
        lambda wildcards: [f"{tokens_of(wildcards)}.{lang}" for lang in (SOURCE, TARGET)],
        [f"corpora/{{corpus}}/{{place}}/input/{{split}}.{lang}" for lang in (SOURCE, TARGET)],
    output:
        [f"corpora/{{corpus}}/{{place}}/prepared/{{split}}.{lang}" for lang in (SOURCE, TARGET)],
    params:
        tokens=tokens_of,
        most=most_tokens,
        refuse=lambda wildcards: "--refuse" if wildcards.split.startswith("test") else "",
    log:
        "logs/{corpus}/{place}/lengths-{split}.log",
    message:
        "Limiting sentence lengths of {wildcards.split}"
    shell:
        "recurrent-mt limit-lengths {params.tokens} --pair {PAIR}"
        " {params.most} {params.refuse} --same-as corpora/{wildcards.corpus}/{wildcards.place}/input/{wildcards.split}"
        " --out corpora/{wildcards.corpus}/{wildcards.place}/prepared/{wildcards.split} > {log} 2>&1"
