# Tables, figures, and the report on everything that has been trained.


# A drawing is there once it is whole; that of a former training goes first, since the new one may fail.
rule draw_alignments:
    input:
        training=lambda wildcards: plan.system_outcomes(config, wildcards.system),
        source=lambda wildcards: f"{CORPORA[SYSTEMS[wildcards.system]['corpus']].folder}/text/prepared/test.{SOURCE}",
        target=lambda wildcards: f"{CORPORA[SYSTEMS[wildcards.system]['corpus']].folder}/text/prepared/test.{TARGET}",
        gold=lambda wildcards: plan.gold_inputs(config, wildcards.system, f"{PAIR}.align"),
    output:
        f"{RESULTS}/figures/alignments-{{system}}.outcome",
    params:
        tool="align",
        model=lambda wildcards, input: plan.first_finished(input.training) / "checkpoints" / "checkpoint_best.pt",
        data=lambda wildcards: CORPORA[SYSTEMS[wildcards.system]["corpus"]].dictionary_folder,
        text=lambda wildcards, input: f"--source {input.source} --target {input.target} --target-title reference",
        flags=lambda wildcards: CORPORA[SYSTEMS[wildcards.system]["corpus"]].form.figure_flags,
        gold=lambda wildcards: plan.gold_flag(config, wildcards.system, "--gold", f"{PAIR}.align"),
        out=lambda wildcards: f"{RESULTS}/figures/alignments/{wildcards.system}",
    log:
        f"logs/{RESULTS}/align-{{system}}.log",
    message:
        "Drawing alignments of {wildcards.system}"
    shell:
        "rm -rf {params.out} {params.out}.new; " + AFTER_TRAINING + "recurrent-mt {params.tool}"
        " --checkpoint {params.model} --data {params.data} {params.text} {params.flags} {params.gold} --examples 3"
        " --format svg --out {params.out}.new > {log} 2>&1 && mv {params.out}.new {params.out}" + OUTCOME


use rule draw_alignments as draw_structure with:
    input:
        training=lambda wildcards: plan.system_outcomes(config, wildcards.system),
        source=lambda wildcards: f"{CORPORA[SYSTEMS[wildcards.system]['corpus']].folder}/text/prepared/test.{SOURCE}",
        trees=lambda wildcards: plan.gold_inputs(config, wildcards.system, f"{SOURCE}.ptb"),
    output:
        f"{RESULTS}/figures/structure-{{system}}.outcome",
    params:
        tool="structure",
        text=lambda wildcards, input: f"--source {input.source}",
        gold=lambda wildcards: plan.gold_flag(config, wildcards.system, "--trees", f"{SOURCE}.ptb"),
        out=lambda wildcards: f"{RESULTS}/figures/structure/{wildcards.system}",
    log:
        f"logs/{RESULTS}/structure-{{system}}.log",
    message:
        "Drawing the structure that {wildcards.system} finds"


rule compare:
    input:
        plan.translation_outcomes(config),
        plan.reference_files(config),
    output:
        multiext(f"{RESULTS}/table", ".txt", ".md", ".json"),
    params:
        systems=",".join(SYSTEMS),
        seeds=",".join(map(str, OPTIONS["seeds"])),
        baseline=f"--baseline {OPTIONS['baseline']}" if OPTIONS["baseline"] else "",
        extra=plan.extra_flags(config),
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
        figures=plan.drawing_outcomes(config),
        beams=plan.beam_files(config),
    output:
        f"{RESULTS}/report.html",
    params:
        run=RESULTS,
        baseline=lambda wildcards, input: plan.compared_with(input[0]),
    log:
        f"logs/{RESULTS}/report.log",
    message:
        "Making the report"
    shell:
        "recurrent-mt report {params.run} --baseline {params.baseline:q}"
        ' --title "Translation report: {config[name]}, {PAIR}" --out {output} > {log} 2>&1'


# The folders may have other searches, of other experiments with the same trainings.
rule compare_beams:
    input:
        [file for system in SYSTEMS for file in plan.beam_outcomes(config, system)],
        reference=lambda wildcards: plan.reference_files(config)[1],
    output:
        multiext(f"{RESULTS}/beams/beams", ".txt", ".md", ".json", ".svg"),
    params:
        systems=lambda wildcards: [
            f"--system {system}=trainings/{SYSTEMS[system]['folder']}/seed-{OPTIONS['seeds'][0]}/beams"
            for system in SYSTEMS
            if all(map(plan.has_finished, plan.beam_outcomes(config, system)))
        ],
        searches=",".join(plan.beam_names(OPTIONS)),
        lowercase="--lowercase" if OPTIONS["lowercase"] else "",
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
        training="trainings/{folder}/seed-{seed}/outcome",
    output:
        "trainings/{folder}/seed-{seed}/beam-{beam}/operations.outcome",
    params:
        training=lambda wildcards: f"trainings/{wildcards.folder}/seed-{wildcards.seed}",
        data=lambda wildcards: CORPORA[BY_FOLDER[wildcards.folder]["corpus"]].dictionary_folder,
    log:
        "trainings/{folder}/seed-{seed}/beam-{beam}/operations.errors",
    message:
        "Counting operations of {wildcards.folder}, seed {wildcards.seed}"
    shell:
        AFTER_TRAINING + "recurrent-mt count-operations --checkpoint {params.training}/checkpoints/checkpoint_best.pt"
        " --data {params.data} --out {params.training}/beam-{wildcards.beam}/operations.json > {log} 2>&1" + OUTCOME


rule compare_cells:
    input:
        plan.translation_outcomes(config),
        plan.reference_files(config),
        plan.operation_outcomes(config),
    output:
        multiext(f"{RESULTS}/{config['name']}", ".txt", ".md", ".json"),
    params:
        systems=",".join(SYSTEMS),
        baseline=OPTIONS["baseline"],
        folders=sorted({f"{RESULTS}/{CORPORA[one['corpus']].form.name}" for one in SYSTEMS.values()}),
        name=config["name"],
        out=RESULTS,
    log:
        f"logs/{RESULTS}/compare.log",
    message:
        "Comparing"
    shell:
        "recurrent-mt compare {params.folders} --ablation {params.name} --models {params.systems}"
        " --baseline {params.baseline} --out {params.out}/{params.name} > {log} 2>&1"
