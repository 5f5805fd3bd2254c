# From raw text to words, subwords, and sentences of lengths that models take.

SYNTHETIC = synthetic_folder(PAIR)


# Short sentences: in minutes, a model that reads them into one vector does not learn to translate others.
rule synthetic_corpus:
    output:
        [f"{SYNTHETIC}/{split}.{ending}" for split in ("train", "valid", "test") for ending in (SOURCE, TARGET, "src", "tgt")],
    log:
        f"logs/synthetic-{PAIR}.log",
    message:
        "Making the synthetic corpus"
    shell:
        "recurrent-mt synthetic-corpus --pair {PAIR} --max-words 20 --out {SYNTHETIC} > {log} 2>&1"


# Before all else: a local text may be edited at any time.
rule copy_text:
    input:
        corpus("made_source", "place", "split", "lang"),
    output:
        "corpora/{corpus}/{place}/input/{split}.{lang}",
    params:
        source=corpus("source_file", "place", "split", "lang"),
        unchanged=corpus("unchanged_flags", "place", "split", "lang"),
    log:
        "logs/{corpus}/{place}/input-{split}.{lang}.log",
    priority: 1
    message:
        "Reading {wildcards.split}.{wildcards.lang}"
    shell:
        "recurrent-mt words copy --language {wildcards.lang} {params.unchanged} < {params.source:q} > {output} 2> {log}"


# Resumed after its last whole lines: what is not whole yet is no output of the rule.
rule distill:
    input:
        f"corpora/{{corpus}}/text/input/train.{SOURCE}",
    output:
        f"corpora/{{corpus}}/text/distilled/train.{TARGET}",
    params:
        teacher=corpus("teacher"),
    log:
        "logs/{corpus}/distill.log",
    threads: THREADS
    message:
        "Translating the training text"
    shell:
        "recurrent-mt translate {params.teacher:q} --input {input} --out {output} --jobs {threads} > {log} 2>&1"


use rule copy_text as copy_reference with:
    input:
        corpus("made_reference", "place", "split", "lang"),
    output:
        "corpora/{corpus}/{place}/raw/{split}.{lang}",
    params:
        source=corpus("reference_file", "place", "split", "lang"),
    log:
        "logs/{corpus}/{place}/raw-{split}.{lang}.log",
    message:
        "Reading the references {wildcards.split}.{wildcards.lang}"


rule split_words:
    input:
        "corpora/{corpus}/{place}/input/{split}.{lang}",
    output:
        "corpora/{corpus}/{place}/words/{split}.{lang}",
    params:
        command=corpus("form.split_command", "lang"),
    log:
        "logs/{corpus}/{place}/words-{split}.{lang}.log",
    threads: THREADS
    message:
        "Preparing the words of {wildcards.split}.{wildcards.lang}"
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


rule learn_segmentation:
    input:
        corpus("segmentation_text"),
    output:
        "corpora/{corpus}/text/segmentation.model",
    params:
        command=corpus("form.learn_command", "input", "output", "threads"),
    log:
        "logs/{corpus}/segmentation.log",
    threads: THREADS
    message:
        "Learning subwords"
    shell:
        "( {params.command} ) > {log} 2>&1"


rule segment:
    input:
        words="corpora/{corpus}/{place}/words/{split}.{lang}",
        model="corpora/{corpus}/text/segmentation.model",
    output:
        "corpora/{corpus}/{place}/segmented/{split}.{lang}",
    params:
        command=corpus("form.segment_command", "input.words", "input.model", "threads"),
    log:
        "logs/{corpus}/{place}/segment-{split}.{lang}.log",
    threads: THREADS
    message:
        "Splitting {wildcards.split}.{wildcards.lang} into subwords"
    shell:
        "{params.command} > {output} 2> {log}"


rule limit_lengths:
    input:
        corpus("token_files", "place", "split"),
        [f"corpora/{{corpus}}/{{place}}/input/{{split}}.{lang}" for lang in (SOURCE, TARGET)],
    output:
        [f"corpora/{{corpus}}/{{place}}/prepared/{{split}}.{lang}" for lang in (SOURCE, TARGET)],
    params:
        tokens=corpus("tokens", "place", "split"),
        lengths=corpus("length_flags", "split"),
    log:
        "logs/{corpus}/{place}/lengths-{split}.log",
    message:
        "Limiting sentence lengths of {wildcards.split}"
    shell:
        "recurrent-mt limit-lengths {params.tokens} --pair {PAIR}"
        " {params.lengths} --same-as corpora/{wildcards.corpus}/{wildcards.place}/input/{wildcards.split}"
        " --out corpora/{wildcards.corpus}/{wildcards.place}/prepared/{wildcards.split} > {log} 2>&1"
