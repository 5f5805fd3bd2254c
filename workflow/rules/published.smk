# Published text, or local text in its place: got, joined, cleaned, selected.

PUBLISHED = [corpus["id"] for corpus in OPTIONS["published"]]
SOURCES = f"downloads/sources-{identify(PUBLISHED)}.json"


rule find_published:
    output:
        SOURCES,
    params:
        identifiers=PUBLISHED,
    log:
        "logs/published.log",
    message:
        "Looking up the corpora"
    shell:
        "recurrent-mt get find {params.identifiers} --out {output} > {log} 2>&1"


# What a call leaves that was killed between the tool's end and the last command stops the tool: it replaces no folder.
rule get_text:
    input:
        lambda wildcards: CORPORA[wildcards.corpus].download_inputs(wildcards.set, SOURCES, OPTIONS["checksums"]),
    output:
        [f"corpora/{{corpus}}/raw/{{set}}/text.{lang}" for lang in (SOURCE, TARGET)],
    params:
        what=lambda wildcards: CORPORA[wildcards.corpus].get_command(
            wildcards.set, SOURCES, OPTIONS["mirror"], OPTIONS["checksums"]
        ),
        out=lambda wildcards: f"corpora/{wildcards.corpus}/raw/{wildcards.set}",
    log:
        "logs/{corpus}/get-{set}.log",
    # A local text may be edited while others are downloaded.
    priority: 1
    resources:
        downloads=lambda wildcards: 0 if CORPORA[wildcards.corpus].prefix_of(wildcards.set) else 1,
    message:
        "Getting {wildcards.set}"
    shell:
        "rm -rf {params.out}.new && recurrent-mt get {params.what} --pair {PAIR} --out {params.out}.new > {log} 2>&1"
        " && mv {params.out}.new/* {params.out} && rmdir {params.out}.new"


rule join_held_out:
    input:
        lambda wildcards: CORPORA[wildcards.corpus].held_out_texts(wildcards.split, wildcards.lang),
    output:
        "corpora/{corpus}/clean/held-out/{split}.{lang}",
    message:
        "Joining {wildcards.split}.{wildcards.lang}"
    shell:
        "cat {input} > {output}"


rule join_training_text:
    input:
        lambda wildcards: CORPORA[wildcards.corpus].training_texts(wildcards.lang),
    output:
        "corpora/{corpus}/clean/joined/train.{lang}",
    message:
        "Joining the training text, {wildcards.lang}"
    shell:
        "cat {input} > {output}"


rule clean_text:
    input:
        source=lambda wildcards: CORPORA[wildcards.corpus].training_texts(SOURCE),
        target=lambda wildcards: CORPORA[wildcards.corpus].training_texts(TARGET),
        held_out=lambda wildcards: [
            f"{prefix}.{lang}" for prefix in CORPORA[wildcards.corpus].held_out_prefixes() for lang in (SOURCE, TARGET)
        ],
    output:
        [f"corpora/{{corpus}}/clean/cleaned/train.{lang}" for lang in (SOURCE, TARGET)],
        report="corpora/{corpus}/clean/cleaned/REPORT.md",
    params:
        exclude=lambda wildcards: CORPORA[wildcards.corpus].held_out_prefixes(),
    log:
        "logs/{corpus}/clean.log",
    threads: THREADS
    message:
        "Cleaning"
    shell:
        "recurrent-mt clean --source {input.source} --target {input.target} --source-lang {SOURCE} --target-lang {TARGET}"
        " --exclude {params.exclude:q} --jobs {threads} --out corpora/{wildcards.corpus}/clean/cleaned/train"
        " --report {output.report} > {log} 2>&1"


rule select_text:
    input:
        source=lambda wildcards: f"corpora/{wildcards.corpus}/clean/{CORPORA[wildcards.corpus].cleaned_text}/train.{SOURCE}",
        target=lambda wildcards: f"corpora/{wildcards.corpus}/clean/{CORPORA[wildcards.corpus].cleaned_text}/train.{TARGET}",
        in_domain=lambda wildcards: [f"{prefix}.{lang}" for prefix in CORPORA[wildcards.corpus].in_domain for lang in (SOURCE, TARGET)],
    output:
        [f"corpora/{{corpus}}/clean/selected/train.{lang}" for lang in (SOURCE, TARGET)],
        report="corpora/{corpus}/clean/selected/REPORT.md",
    params:
        in_domain=lambda wildcards: CORPORA[wildcards.corpus].in_domain,
        words=lambda wildcards: CORPORA[wildcards.corpus].entry["select_words"],
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
        data=lambda wildcards: CORPORA[wildcards.corpus].binarized,
        prepared=lambda wildcards: CORPORA[wildcards.corpus].prepared(CORPORA[wildcards.corpus].splits),
        references=lambda wildcards: [
            f"corpora/{wildcards.corpus}/text/raw/{split}.{lang}"
            for split in CORPORA[wildcards.corpus].tests
            for lang in (SOURCE, TARGET)
        ],
        before=lambda wildcards: CORPORA[wildcards.corpus].cleaning_reports,
    output:
        "corpora/{corpus}/data/REPORT.md",
    params:
        dictionaries=lambda wildcards: CORPORA[wildcards.corpus].dictionary_folder,
        splits=lambda wildcards: CORPORA[wildcards.corpus].splits,
        before=lambda wildcards, input: f"--before {input.before}" if input.before else "",
    log:
        "logs/{corpus}/report.log",
    message:
        "Reporting on the data"
    shell:
        "recurrent-mt data-report --prepared corpora/{wildcards.corpus}/text/prepared --dictionaries {params.dictionaries}"
        " --source-lang {SOURCE} --target-lang {TARGET} --splits {params.splits} {params.before} --out {output} > {log} 2>&1"
