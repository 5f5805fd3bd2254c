# fairseq's binary form of the prepared text; each side has its own dictionary, made from the training text.


def splits_of(corpus):
    """All splits."""
    return CORPORA[corpus]["splits"]


def files_of(folder, splits):
    """What fairseq-preprocess writes for some splits."""
    files = [f"{folder}/{split}.{PAIR}.{lang}.{ending}" for split in splits for lang in (SOURCE, TARGET) for ending in ("bin", "idx")]
    return files + [f"{folder}/dict.{lang}.txt" for lang in (SOURCE, TARGET)]


def dictionary_folder(corpus):
    """The part of the binarized data that has the dictionaries, and the development and test sets."""
    return f"corpora/{corpus}/data" + "/shard0" * (CORPORA[corpus]["shards"] > 1)


def binarized(corpus):
    """All binarized files of a corpus."""
    folder = f"corpora/{corpus}/data"
    shards = CORPORA[corpus]["shards"]
    if shards == 1:
        return files_of(folder, splits_of(corpus))
    return [
        file
        for shard in range(shards)
        for file in files_of(f"{folder}/shard{shard}", splits_of(corpus) if shard == 0 else ["train"])
    ]


def prepared_files(corpus, splits):
    """The prepared text of some splits."""
    return [f"corpora/{corpus}/text/prepared/{split}.{lang}" for split in splits for lang in (SOURCE, TARGET)]


def held_out_flags(corpus):
    """Development and test sets; the latter are test, test1, and so on, as fairseq calls them."""
    prepared = f"corpora/{corpus}/text/prepared"
    tests = ",".join(f"{prepared}/{split}" for split in splits_of(corpus)[2:])
    return f"--validpref {prepared}/valid --testpref {tests}"


# One rule a corpus: the output of fairseq-preprocess depends on how many test sets there are.
for corpus in CORPORA:

    if CORPORA[corpus]["shards"] == 1:

        rule:
            name:
                f"binarize_{corpus.replace('-', '_')}"
            input:
                prepared_files(corpus, splits_of(corpus)),
            output:
                files_of(f"corpora/{corpus}/data", splits_of(corpus)),
            params:
                prepared=f"corpora/{corpus}/text/prepared",
                held_out=held_out_flags(corpus),
                vocabulary=FORMS[corpus].vocabulary_flags,
                data=f"corpora/{corpus}/data",
            log:
                f"logs/{corpus}/preprocess.log",
            threads: THREADS
            message:
                "Binarizing"
            shell:
                "fairseq-preprocess --source-lang {SOURCE} --target-lang {TARGET} --trainpref {params.prepared}/train"
                " {params.held_out} {params.vocabulary} --destdir {params.data} --workers {threads} > {log} 2>&1"

    else:

        rule:
            name:
                f"split_{corpus.replace('-', '_')}"
            input:
                f"corpora/{corpus}/text/prepared/train.{{lang}}",
            output:
                [f"corpora/{corpus}/text/shards/{shard}/train.{{lang}}" for shard in range(CORPORA[corpus]["shards"])],
            params:
                shards=CORPORA[corpus]["shards"],
                folder=f"corpora/{corpus}/text/shards",
            message:
                "Splitting train.{wildcards.lang} into shards"
            shell:
                # Sentence n goes to part n modulo shards, so that each part holds some of every corpus.
                "awk -v shards={params.shards} -v folder={params.folder} -v name=train.{wildcards.lang}"
                " '{{ print > (folder \"/\" (NR - 1) % shards \"/\" name) }}' {input}"


        rule:
            name:
                f"dictionaries_{corpus.replace('-', '_')}"
            input:
                prepared_files(corpus, ["train"]),
            output:
                [f"corpora/{corpus}/text/dictionaries/dict.{lang}.txt" for lang in (SOURCE, TARGET)],
            params:
                prepared=f"corpora/{corpus}/text/prepared",
                vocabulary=FORMS[corpus].vocabulary_flags,
                folder=f"corpora/{corpus}/text/dictionaries",
            log:
                f"logs/{corpus}/dictionaries.log",
            threads: THREADS
            message:
                "Making the dictionaries"
            shell:
                "fairseq-preprocess --source-lang {SOURCE} --target-lang {TARGET} --trainpref {params.prepared}/train"
                " {params.vocabulary} --dict-only --destdir {params.folder} --workers {threads} > {log} 2>&1"

        for shard in range(CORPORA[corpus]["shards"]):

            # The first one also has the development and test sets, where fairseq looks for them.
            rule:
                name:
                    f"shard_{corpus.replace('-', '_')}_{shard}"
                input:
                    [f"corpora/{corpus}/text/shards/{shard}/train.{lang}" for lang in (SOURCE, TARGET)],
                    [] if shard else prepared_files(corpus, splits_of(corpus)[1:]),
                    dictionaries=[f"corpora/{corpus}/text/dictionaries/dict.{lang}.txt" for lang in (SOURCE, TARGET)],
                output:
                    files_of(f"corpora/{corpus}/data/shard{shard}", ["train"] if shard else splits_of(corpus)),
                params:
                    train=f"corpora/{corpus}/text/shards/{shard}/train",
                    held_out="" if shard else held_out_flags(corpus),
                    data=f"corpora/{corpus}/data/shard{shard}",
                log:
                    f"logs/{corpus}/preprocess-{shard}.log",
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
        dictionaries=lambda wildcards: [f"{dictionary_folder(wildcards.corpus)}/dict.{lang}.txt" for lang in (SOURCE, TARGET)],
    output:
        [
            f"corpora/{{corpus}}/extra/{{extra}}/data/test.{PAIR}.{lang}.{ending}"
            for lang in (SOURCE, TARGET)
            for ending in ("bin", "idx")
        ],
    params:
        folder=lambda wildcards: f"corpora/{wildcards.corpus}/extra/{wildcards.extra}",
    log:
        "logs/{corpus}/preprocess-{extra}.log",
    message:
        "Binarizing the test set {wildcards.extra}"
    shell:
        "fairseq-preprocess --source-lang {SOURCE} --target-lang {TARGET} --testpref {params.folder}/prepared/test"
        " --srcdict {input.dictionaries[0]} --tgtdict {input.dictionaries[1]} --destdir {params.folder}/data"
        " --workers 1 > {log} 2>&1"
