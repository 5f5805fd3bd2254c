# Translations of test sets by beam search, as people write them.

# Translations go to standard output and the timing to standard error: without buffering, their lines stay whole in one
# file, which is the log until it is whole.
SEARCH = "PYTHONUNBUFFERED=1 fairseq-generate"


# Another text under the name of a further test set has another id: what was translated before stays.
TRANSLATIONS = "|".join(["test", "test-without-unknown", *(f"extra-{re.escape(test)}" for test in EXTRA)])


rule translate:
    input:
        data=system("corpus.translated_data", "name"),
        training=f"{TRAINING}/outcome",
    output:
        f"{TRAINING}/beam-{{beam}}/{{name}}.outcome",
    params:
        data=system("corpus.translated_folder", "name"),
        flags=system("search_flags", "name"),
        join=system("corpus.form.merge_flags"),
        search=system("search_options"),
        model=f"{TRAINING}/{BEST}",
        place=f"{TRAINING}/beam-{{beam}}/{{name}}",
        finish=system("finish", "output"),
        what=system("corpus.translated_set", "name"),
    wildcard_constraints:
        name=TRANSLATIONS,
    log:
        f"{TRAINING}/beam-{{beam}}/{{name}}.search",
    threads: THREADS
    message:
        "Translating {params.what} with {wildcards.system}, seed {wildcards.seed}"
    shell:
        "rm -f {params.place}.detokenized; " + AFTER_TRAINING + "{SEARCH} {params.data} {params.search}"
        " --path {params.model} --beam {wildcards.beam} {params.join}"
        " --gen-subset test {params.flags} > {log} 2>&1 && {params.finish}" + OUTCOME


use rule translate as search_beam with:
    input:
        data=system("corpus.binarized"),
        training=f"{TRAINING}/outcome",
    output:
        f"{TRAINING}/beams/beam-{{beam}}{{penalty}}.outcome",
    params:
        data=system("corpus.dictionary_folder"),
        flags=system("penalized_flags", "penalty"),
        place=f"{TRAINING}/beams/beam-{{beam}}{{penalty}}",
        finish=system("finish", "output"),
        what="the test set",
    wildcard_constraints:
        penalty=r"|-unnormalized|-lenpen-[0-9.]+",
    log:
        f"{TRAINING}/beams/beam-{{beam}}{{penalty}}.search",
    message:
        "Beam {wildcards.beam}{wildcards.penalty}, {wildcards.system}, seed {wildcards.seed}"
