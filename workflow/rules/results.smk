# Tables, figures, and the report on everything that has been trained.


# A drawing is there once it is whole; that of a former training goes first, since the new one may fail.
rule draw_alignments:
    input:
        training=system("outcomes"),
        source=system("corpus.prepared_test", language=SOURCE),
        target=system("corpus.prepared_test", language=TARGET),
        gold=system("gold_inputs", ending=f"{PAIR}.align"),
    output:
        f"{RESULTS}/figures/alignments-{{system}}.outcome",
    params:
        tool="align",
        model=system("model"),
        data=system("corpus.dictionary_folder"),
        target=system("target_flags"),
        flags=system("corpus.form.figure_flags"),
        gold=system("gold_flag", flag="--gold", ending=f"{PAIR}.align"),
        out=f"{RESULTS}/figures/alignments/{{system}}",
    log:
        f"logs/{RESULTS}/align-{{system}}.log",
    message:
        "Drawing alignments of {wildcards.system}"
    shell:
        "rm -rf {params.out} {params.out}.new; " + AFTER_TRAINING + "recurrent-mt {params.tool}"
        " --checkpoint {params.model} --data {params.data} --source {input.source} {params.target} {params.flags} {params.gold} --examples 3"
        " --format svg --out {params.out}.new > {log} 2>&1 && mv {params.out}.new {params.out}" + OUTCOME


use rule draw_alignments as draw_structure with:
    input:
        training=system("outcomes"),
        source=system("corpus.prepared_test", language=SOURCE),
        trees=system("gold_inputs", ending=f"{SOURCE}.ptb"),
    output:
        f"{RESULTS}/figures/structure-{{system}}.outcome",
    params:
        tool="structure",
        target="",
        gold=system("gold_flag", flag="--trees", ending=f"{SOURCE}.ptb"),
        out=f"{RESULTS}/figures/structure/{{system}}",
    log:
        f"logs/{RESULTS}/structure-{{system}}.log",
    message:
        "Drawing the structure that {wildcards.system} finds"


rule compare:
    input:
        PLAN.translation_outcomes,
        PLAN.reference_files,
    output:
        multiext(f"{RESULTS}/table", ".txt", ".md", ".json"),
    params:
        systems=",".join(SYSTEMS),
        seeds=",".join(map(str, SEEDS)),
        baseline=f"--baseline {PLAN.experiment.baseline}" if PLAN.experiment.baseline else "",
        extra=PLAN.extra_flags,
        run=RESULTS,
    log:
        f"logs/{RESULTS}/compare.log",
    message:
        "Comparing"
    shell:
        "recurrent-mt compare {params.run} --models {params.systems} --seeds {params.seeds} {params.baseline} {params.extra}"
        " --out {params.run}/table > {log} 2>&1"


rule report:
    input:
        f"{RESULTS}/table.json",
        figures=PLAN.drawing_outcomes,
        beams=PLAN.beam_files,
    output:
        f"{RESULTS}/report.html",
    params:
        run=RESULTS,
        baseline=PLAN.compared_with,
    log:
        f"logs/{RESULTS}/report.log",
    message:
        "Making the report"
    shell:
        "recurrent-mt report {params.run} --baseline {params.baseline:q}"
        ' --title "Translation report: {PLAN.name}, {PAIR}" --out {output} > {log} 2>&1'


# The folders may have other searches, of other experiments with the same trainings.
rule compare_beams:
    input:
        [file for one in SYSTEMS.values() for file in PLAN.beam_outcomes(one)],
        reference=PLAN.reference_files[1:2],
    output:
        multiext(f"{RESULTS}/beams/beams", ".txt", ".md", ".json", ".svg"),
    params:
        systems=PLAN.searched_systems,
        searches=",".join(PLAN.beam_names),
        lowercase="--lowercase" if PLAN.experiment.lowercase else "",
        folder=f"{RESULTS}/beams",
    log:
        f"logs/{RESULTS}/beams.log",
    message:
        "Comparing beams"
    shell:
        "recurrent-mt beams {params.systems} --searches {params.searches} {params.lowercase} --reference {input.reference} --target-lang {TARGET}"
        " --out {params.folder} > {log} 2>&1"


rule count_operations:
    input:
        training=f"{TRAINING}/outcome",
    output:
        f"{TRAINING}/beam-{{beam}}/operations.outcome",
    params:
        model=f"{TRAINING}/{BEST}",
        data=system("corpus.dictionary_folder"),
        out=f"{TRAINING}/beam-{{beam}}/operations.json",
    log:
        f"{TRAINING}/beam-{{beam}}/operations.errors",
    message:
        "Counting operations of {wildcards.system}-{wildcards.id}, seed {wildcards.seed}"
    shell:
        AFTER_TRAINING + "recurrent-mt count-operations --checkpoint {params.model}"
        " --data {params.data} --out {params.out} > {log} 2>&1" + OUTCOME


rule compare_cells:
    input:
        PLAN.translation_outcomes,
        PLAN.reference_files,
        PLAN.operation_outcomes,
    output:
        multiext(f"{RESULTS}/{PLAN.name}", ".txt", ".md", ".json"),
    params:
        systems=",".join(SYSTEMS),
        baseline=PLAN.experiment.baseline,
        folders=sorted(f"{RESULTS}/{one.form.name}" for one in CORPORA.values()),
        name=PLAN.name,
        out=RESULTS,
    log:
        f"logs/{RESULTS}/compare.log",
    message:
        "Comparing"
    shell:
        "recurrent-mt compare {params.folders} --ablation {params.name} --models {params.systems}"
        " --baseline {params.baseline} --out {params.out}/{params.name} > {log} 2>&1"
