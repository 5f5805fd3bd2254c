# fairseq's binary form of the prepared text; each side has its own dictionary, made from the training text.


# One rule a corpus: the output of fairseq-preprocess depends on how many test sets there are.
for files in CORPORA.values():

    if files.shards == 1:

        rule:
            name:
                f"binarize_{files.id.replace('-', '_')}"
            input:
                files.prepared(files.splits),
            output:
                files.binarized,
            params:
                prepared=f"{files.folder}/text/prepared",
                held_out=files.held_out_flags(),
                vocabulary=files.form.vocabulary_flags,
                data=f"{files.folder}/data",
            log:
                f"logs/{files.id}/preprocess.log",
            threads: THREADS
            message:
                "Binarizing"
            shell:
                "fairseq-preprocess --source-lang {SOURCE} --target-lang {TARGET} --trainpref {params.prepared}/train"
                " {params.held_out} {params.vocabulary} --destdir {params.data} --workers {threads} > {log} 2>&1"

    else:

        rule:
            name:
                f"split_{files.id.replace('-', '_')}"
            input:
                f"{files.folder}/text/prepared/train.{{lang}}",
            output:
                [f"{files.folder}/text/shards/{shard}/train.{{lang}}" for shard in range(files.shards)],
            params:
                shards=files.shards,
                folder=f"{files.folder}/text/shards",
            message:
                "Splitting train.{wildcards.lang} into shards"
            shell:
                # Sentence n goes to part n modulo shards, so that each part holds some of every corpus.
                "awk -v shards={params.shards} -v folder={params.folder} -v name=train.{wildcards.lang}"
                " 'BEGIN {{ while (part < shards) printf \"\" > (folder \"/\" part++ \"/\" name) }}"
                " {{ print > (folder \"/\" (NR - 1) % shards \"/\" name) }}' {input}"


        rule:
            name:
                f"dictionaries_{files.id.replace('-', '_')}"
            input:
                files.prepared(["train"]),
            output:
                files.dictionaries(f"{files.folder}/text/dictionaries"),
            params:
                prepared=f"{files.folder}/text/prepared",
                vocabulary=files.form.vocabulary_flags,
                folder=f"{files.folder}/text/dictionaries",
            log:
                f"logs/{files.id}/dictionaries.log",
            threads: THREADS
            message:
                "Making the dictionaries"
            shell:
                "fairseq-preprocess --source-lang {SOURCE} --target-lang {TARGET} --trainpref {params.prepared}/train"
                " {params.vocabulary} --dict-only --destdir {params.folder} --workers {threads} > {log} 2>&1"

        for shard in range(files.shards):

            # The first one also has the development and test sets, where fairseq looks for them.
            rule:
                name:
                    f"shard_{files.id.replace('-', '_')}_{shard}"
                input:
                    files.both_sides(f"{files.folder}/text/shards/{shard}/train"),
                    [] if shard else files.prepared(files.splits[1:]),
                    dictionaries=files.dictionaries(f"{files.folder}/text/dictionaries"),
                output:
                    files.shard_files(shard),
                params:
                    train=f"{files.folder}/text/shards/{shard}/train",
                    held_out="" if shard else files.held_out_flags(),
                    data=f"{files.folder}/data/shard{shard}",
                log:
                    f"logs/{files.id}/preprocess-{shard}.log",
                threads: THREADS
                message:
                    f"Binarizing shard {shard}"
                shell:
                    "fairseq-preprocess --source-lang {SOURCE} --target-lang {TARGET} --trainpref {params.train}"
                    " {params.held_out} --srcdict {input.dictionaries[0]} --tgtdict {input.dictionaries[1]}"
                    " --destdir {params.data} --workers {threads} > {log} 2>&1"


# A further test set has the dictionaries of the training text.
rule binarize_extra:
    input:
        prepared=[f"corpora/{{corpus}}/extra/{{extra}}/prepared/test.{lang}" for lang in (SOURCE, TARGET)],
        dictionaries=corpus("test_dictionaries"),
    output:
        [
            f"corpora/{{corpus}}/extra/{{extra}}/data/test.{PAIR}.{lang}.{ending}"
            for lang in (SOURCE, TARGET)
            for ending in ("bin", "idx")
        ],
    params:
        folder="corpora/{corpus}/extra/{extra}",
    log:
        "logs/{corpus}/preprocess-{extra}.log",
    message:
        "Binarizing the test set {wildcards.extra}"
    shell:
        "fairseq-preprocess --source-lang {SOURCE} --target-lang {TARGET} --testpref {params.folder}/prepared/test"
        " --srcdict {input.dictionaries[0]} --tgtdict {input.dictionaries[1]} --destdir {params.folder}/data"
        " --workers 1 > {log} 2>&1"
