# Tables, figures, and the report on everything that has been trained.


def result_files():
    """What an experiment ends in."""
    if config["ablation"]:
        return [f"{RESULTS}/{config['name']}.txt"]
    return [f"{RESULTS}/table.txt", f"{RESULTS}/report.html", *beam_files()]


def beam_files():
    """The curve over beams, where one is asked for."""
    return [f"{RESULTS}/beams/beams.txt"] if OPTIONS["beams"] else []


def extra_references():
    """The texts that further test sets are scored against."""
    corpora = {system["corpus"] for system in SYSTEMS.values()}
    return [f"corpora/{corpus}/extra/{extra}/raw/test.{lang}" for corpus in corpora for extra in EXTRA for lang in (SOURCE, TARGET)]


def extra_flags():
    """Each further test set by its name, and the id that its translations have."""
    names = [f"{test['name']}={test['id']}" for test in EXTRA.values()]
    return f"--extra-tests {','.join(names)}" if names else ""


def own_references():
    """The texts that the test set is scored against."""
    corpora = {system["corpus"] for system in SYSTEMS.values()}
    return [f"corpora/{corpus}/text/raw/test.{lang}" for corpus in corpora for lang in (SOURCE, TARGET)]


def implies_trees(system):
    """Whether binary trees follow from its gates: a dilated grConv joins the same windows everywhere."""
    return "--grconv-dilated" not in SYSTEMS[system]["arguments"]


def gold_file(wildcards, ending):
    """The synthetic corpus knows its links and trees; another may have them beside its test set; None without.

    They are of the words that the text comes with, which only text that nothing splits still has.
    """
    corpus, form = CORPORA[SYSTEMS[wildcards.system]["corpus"]], FORMS[SYSTEMS[wildcards.system]["corpus"]]
    if ending.endswith(".ptb") and not implies_trees(wildcards.system):
        return None
    if corpus["source"] == "collected" or form.splits_words or not form.has_words:
        return None
    file = f"{corpus['folder']}/{OPTIONS['test']}.{ending}"
    return file if corpus["source"] == "synthetic" or Path(file).exists() else None


def gold(wildcards, flag, ending):
    """The option that names it."""
    file = gold_file(wildcards, ending)
    return f"{flag} {shlex.quote(file)}" if file else ""


def gold_beside(wildcards, ending):
    """The file to depend on: somebody may add or correct it. The synthetic corpus stays as it was made."""
    file = gold_file(wildcards, ending)
    synthetic = CORPORA[SYSTEMS[wildcards.system]["corpus"]]["source"] == "synthetic"
    return [file] if file and not synthetic else []


def trainings_of(wildcards):
    """How the trainings of a system ended; the first one that has finished is drawn."""
    system = SYSTEMS[wildcards.system]
    return [f"{steps.training_folder(system, seed)}/outcome" for seed in OPTIONS["seeds"]]


def drawn_text(wildcards, lang):
    """The test set as the system reads it."""
    return f"corpora/{SYSTEMS[wildcards.system]['corpus']}/text/prepared/test.{lang}"


# A drawing is there once it is whole.
rule draw_alignments:
    input:
        training=trainings_of,
        source=lambda wildcards: drawn_text(wildcards, SOURCE),
        target=lambda wildcards: drawn_text(wildcards, TARGET),
        gold=lambda wildcards: gold_beside(wildcards, f"{PAIR}.align"),
    output:
        f"{RESULTS}/figures/alignments-{{system}}.outcome",
    params:
        tool="align",
        model=lambda wildcards, input: steps.first_finished(input.training) / "checkpoints" / "checkpoint_best.pt",
        data=lambda wildcards: dictionary_folder(SYSTEMS[wildcards.system]["corpus"]),
        text=lambda wildcards, input: f"--source {input.source} --target {input.target}",
        flags=lambda wildcards: FORMS[SYSTEMS[wildcards.system]["corpus"]].figure_flags,
        gold=lambda wildcards: gold(wildcards, "--gold", f"{PAIR}.align"),
        out=lambda wildcards: f"{RESULTS}/figures/alignments/{wildcards.system}",
    log:
        f"logs/{RESULTS}/align-{{system}}.log",
    message:
        "Drawing alignments of {wildcards.system}"
    shell:
        AFTER_TRAINING + "rm -rf {params.out} {params.out}.new && recurrent-mt {params.tool} --checkpoint {params.model}"
        " --data {params.data} {params.text} {params.flags} {params.gold} --examples 3 --format svg --out {params.out}.new"
        " > {log} 2>&1 && mv {params.out}.new {params.out}" + OUTCOME


use rule draw_alignments as draw_structure with:
    input:
        training=trainings_of,
        source=lambda wildcards: drawn_text(wildcards, SOURCE),
        trees=lambda wildcards: gold_beside(wildcards, f"{SOURCE}.ptb"),
    output:
        f"{RESULTS}/figures/structure-{{system}}.outcome",
    params:
        tool="structure",
        text=lambda wildcards, input: f"--source {input.source}",
        gold=lambda wildcards: gold(wildcards, "--trees", f"{SOURCE}.ptb"),
        out=lambda wildcards: f"{RESULTS}/figures/structure/{wildcards.system}",
    log:
        f"logs/{RESULTS}/structure-{{system}}.log",
    message:
        "Drawing the structure that {wildcards.system} finds"


rule compare:
    input:
        steps.translation_outcomes(config),
        own_references(),
        extra_references(),
    output:
        multiext(f"{RESULTS}/table", ".txt", ".md", ".json"),
    params:
        systems=",".join(SYSTEMS),
        seeds=",".join(map(str, OPTIONS["seeds"])),
        baseline=f"--baseline {OPTIONS['baseline']}" if OPTIONS["baseline"] else "",
        extra=extra_flags(),
        run=RESULTS,
    log:
        f"logs/{RESULTS}/compare.log",
    message:
        "Comparing"
    shell:
        "recurrent-mt compare {params.run} --models {params.systems} --seeds {params.seeds} {params.baseline} {params.extra}"
        " --out {params.run}/table > {log} 2>&1"


def compared_with(table):
    """What the tables compare the systems with; a word that stands for it until they are there."""
    return json.loads(Path(table).read_text())["test_sets"][0]["baseline"] if Path(table).exists() else "BASELINE"


rule report:
    input:
        f"{RESULTS}/table.json",
        figures=steps.drawing_outcomes(config),
        beams=beam_files(),
    output:
        f"{RESULTS}/report.html",
    params:
        run=RESULTS,
        baseline=lambda wildcards, input: compared_with(input[0]),
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
        [file for system in SYSTEMS for file in steps.beam_outcomes(config, system)],
        reference=lambda wildcards: own_references()[1],
    output:
        multiext(f"{RESULTS}/beams/beams", ".txt", ".md", ".json", ".svg"),
    params:
        systems=lambda wildcards: [
            f"--system {system}=trainings/{SYSTEMS[system]['folder']}/seed-{OPTIONS['seeds'][0]}/beams"
            for system in SYSTEMS
            if all(map(steps.has_finished, steps.beam_outcomes(config, system)))
        ],
        searches=",".join(steps.beam_names(OPTIONS)),
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
        data=lambda wildcards: dictionary_folder(corpus_of(wildcards.folder)),
    log:
        "trainings/{folder}/seed-{seed}/beam-{beam}/operations.errors",
    message:
        "Counting operations of {wildcards.folder}, seed {wildcards.seed}"
    shell:
        AFTER_TRAINING + "recurrent-mt count-operations --checkpoint {params.training}/checkpoints/checkpoint_best.pt"
        " --data {params.data} --out {params.training}/beam-{wildcards.beam}/operations.json > {log} 2>&1" + OUTCOME


rule compare_cells:
    input:
        steps.translation_outcomes(config),
        own_references(),
        [
            f"{steps.training_folder(SYSTEMS[system], seed)}/beam-{OPTIONS['beam']}/operations.outcome"
            for system in SYSTEMS
            for seed in OPTIONS["seeds"]
        ],
    output:
        multiext(f"{RESULTS}/{config['name']}", ".txt", ".md", ".json"),
    params:
        systems=",".join(SYSTEMS),
        baseline=OPTIONS["baseline"],
        folders=sorted({f"{RESULTS}/{FORMS[one['corpus']].name}" for one in SYSTEMS.values()}),
        name=config["name"],
        out=RESULTS,
    log:
        f"logs/{RESULTS}/compare.log",
    message:
        "Comparing"
    shell:
        "recurrent-mt compare {params.folders} --ablation {params.name} --models {params.systems}"
        " --baseline {params.baseline} --out {params.out}/{params.name} > {log} 2>&1"
