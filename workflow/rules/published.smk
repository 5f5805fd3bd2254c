# Published text, or local text in its place: got, joined, cleaned, selected.


rule find_published:
    output:
        sources_file(PLAN.experiment),
    params:
        identifiers=[one["id"] for one in PLAN.experiment.published],
    log:
        "logs/published.log",
    message:
        "Looking up the corpora"
    shell:
        "recurrent-mt get find {params.identifiers} --out {output} > {log} 2>&1"


rule get_text:
    input:
        corpus("get_inputs", "set"),
    output:
        [f"corpora/{{corpus}}/raw/{{set}}/text.{lang}" for lang in (SOURCE, TARGET)],
    params:
        what=corpus("get_command", "set"),
        out="corpora/{corpus}/raw/{set}",
    log:
        "logs/{corpus}/get-{set}.log",
    # A local text may be edited while others are downloaded.
    priority: 1
    resources:
        downloads=corpus("downloads", "set"),
    message:
        "Getting {wildcards.set}"
    shell:
        "recurrent-mt get {params.what} --pair {PAIR} --out {params.out} > {log} 2>&1"


rule join_held_out:
    input:
        corpus("held_out_texts", "split", "lang"),
    output:
        "corpora/{corpus}/clean/held-out/{split}.{lang}",
    message:
        "Joining {wildcards.split}.{wildcards.lang}"
    shell:
        "cat {input} > {output}"


use rule join_held_out as join_training_text with:
    input:
        corpus("training_texts", "lang"),
    output:
        "corpora/{corpus}/clean/joined/train.{lang}",
    message:
        "Joining the training text, {wildcards.lang}"


rule clean_text:
    input:
        source=corpus("training_texts", language=SOURCE),
        target=corpus("training_texts", language=TARGET),
        held_out=corpus("held_out_files"),
    output:
        [f"corpora/{{corpus}}/clean/cleaned/train.{lang}" for lang in (SOURCE, TARGET)],
        report="corpora/{corpus}/clean/cleaned/REPORT.md",
    params:
        exclude=corpus("held_out_prefixes"),
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
        source=corpus("cleaned_side", language=SOURCE),
        target=corpus("cleaned_side", language=TARGET),
        in_domain=corpus("in_domain_files"),
    output:
        [f"corpora/{{corpus}}/clean/selected/train.{lang}" for lang in (SOURCE, TARGET)],
        report="corpora/{corpus}/clean/selected/REPORT.md",
    params:
        in_domain=corpus("in_domain"),
        words=corpus("select_words"),
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
        data=corpus("binarized"),
        prepared=corpus("prepared"),
        references=corpus("raw_tests"),
        before=corpus("cleaning_reports"),
    output:
        "corpora/{corpus}/data/REPORT.md",
    params:
        dictionaries=corpus("dictionary_folder"),
        splits=corpus("splits"),
    log:
        "logs/{corpus}/report.log",
    message:
        "Reporting on the data"
    shell:
        "recurrent-mt data-report --prepared corpora/{wildcards.corpus}/text/prepared --dictionaries {params.dictionaries}"
        " --source-lang {SOURCE} --target-lang {TARGET} --splits {params.splits} --before {input.before} --out {output} > {log} 2>&1"
