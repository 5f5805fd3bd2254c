# Translations of test sets by beam search, as people write them.

# Translations go to standard output and the timing to standard error: without buffering, their lines stay whole in one
# file, which is the log until it is whole.
SEARCH = "PYTHONUNBUFFERED=1 fairseq-generate"


# Another text under the name of a further test set has another id: what was translated before stays.
TRANSLATIONS = "|".join(["test", "test-without-unknown", *(f"extra-{re.escape(test)}" for test in EXTRA)])


rule translate:
    input:
        data=lambda wildcards: CORPORA[BY_FOLDER[wildcards.folder]["corpus"]].translated_data(wildcards.name),
        training="trainings/{folder}/seed-{seed}/outcome",
    output:
        "trainings/{folder}/seed-{seed}/beam-{beam}/{name}.outcome",
    params:
        data=lambda wildcards, input: Path(input.data[0]).parent,
        flags=lambda wildcards: plan.search_flags(wildcards.name, wildcards.beam),
        join=lambda wildcards: CORPORA[BY_FOLDER[wildcards.folder]["corpus"]].form.merge_flags,
        search=lambda wildcards: shlex.join(CORPORA[BY_FOLDER[wildcards.folder]["corpus"]].form.search_flags(config["plugin"])),
        training=lambda wildcards: f"trainings/{wildcards.folder}/seed-{wildcards.seed}",
        place=lambda wildcards, output: output[0].removesuffix(".outcome"),
        finish=lambda wildcards, output: plan.finishing_command(output[0], CORPORA[BY_FOLDER[wildcards.folder]["corpus"]].form.join_command, lists=True),
        system=lambda wildcards: BY_FOLDER[wildcards.folder]["name"],
        what=lambda wildcards: plan.translated_set(config, wildcards.name),
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


use rule translate as search_beam with:
    input:
        data=lambda wildcards: CORPORA[BY_FOLDER[wildcards.folder]["corpus"]].binarized,
        training="trainings/{folder}/seed-{seed}/outcome",
    output:
        "trainings/{folder}/seed-{seed}/beams/beam-{beam}{penalty}.outcome",
    params:
        flags=lambda wildcards: plan.penalized_flags(wildcards.penalty, wildcards.beam),
        finish=lambda wildcards, output: plan.finishing_command(output[0], CORPORA[BY_FOLDER[wildcards.folder]["corpus"]].form.join_command),
        what="the test set",
    wildcard_constraints:
        penalty=r"|-unnormalized|-lenpen-[0-9.]+",
    log:
        "trainings/{folder}/seed-{seed}/beams/beam-{beam}{penalty}.search",
    message:
        "Beam {wildcards.beam}{wildcards.penalty}, {params.system}, seed {wildcards.seed}"
