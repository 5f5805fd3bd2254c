# Tables, figures, and the report on everything that has been trained.


def translated(system, seed, name):
    """A translation by one training."""
    return f"trainings/{SYSTEMS[system]['folder']}/seed-{seed}/beam-{OPTIONS['beam']}/{name}"


def result_files():
    """What an experiment ends in."""
    if config["ablation"]:
        return [f"{RESULTS}/{config['name']}.txt"]
    return [f"{RESULTS}/table.txt", f"{RESULTS}/report.html", *beam_files()]


def beam_files():
    """The curve over beams, where one is asked for."""
    return [f"{RESULTS}/beams/beams.txt"] if OPTIONS["beams"] else []


def translation_files():
    """The translations of all systems, and their n-best lists."""
    names = ["test", *["test-without-unknown"] * OPTIONS["without_unknown"]]
    files = [f"{name}.{form}" for name in names for form in ("detokenized", "nbest")]
    files += [f"extra-{test}.detokenized" for test in EXTRA]
    return [translated(system, seed, file) for system, seed in TRAINED for file in files]


def extra_references():
    """The texts that further test sets are scored against."""
    corpora = {SYSTEMS[system]["corpus"] for system, _ in TRAINED}
    return [f"corpora/{corpus}/extra/{extra}/raw/test.{lang}" for corpus in corpora for extra in EXTRA for lang in (SOURCE, TARGET)]


def extra_flags():
    """Each further test set by its name, and the id that its translations have."""
    names = [f"{test['name']}={test['id']}" for test in EXTRA.values()]
    return f"--extra-tests {','.join(names)}" if names else ""


def own_references():
    """The texts that the test set is scored against."""
    corpora = {SYSTEMS[system]["corpus"] for system, _ in TRAINED}
    return [f"corpora/{corpus}/text/raw/test.{lang}" for corpus in corpora for lang in (SOURCE, TARGET)]


def first_trained(system):
    """The first seed that a system is trained with; None if none is."""
    return next((seed for name, seed in TRAINED if name == system), None)


def option_of(system, flag, default=None):
    """The value of an option that a system is trained with."""
    arguments = SYSTEMS[system]["arguments"]
    return arguments[arguments.index(flag) + 1] if flag in arguments else default


def architecture(system):
    """As fairseq calls it."""
    return option_of(system, "--arch")


def attends(system):
    """Whether a system's alignments can be drawn."""
    attention = option_of(system, "--decoder-attention", "none")
    # fconv and the transformer attend in several layers at once.
    return architecture(system) not in ("fconv", "transformer") and attention not in ("none", "0")


def has_structure(system):
    """Whether a system's gates can be drawn: it is a grConv whose nodes reach over whole sentences."""
    return architecture(system) == "grconv_encoder" and option_of(system, "--grconv-height", "0") == "0"


def implies_trees(system):
    """Whether binary trees follow from its gates: a dilated grConv joins the same windows everywhere."""
    return "--grconv-dilated" not in SYSTEMS[system]["arguments"]


def figures():
    """The folders of figures: alignments where a system attends, structure where it has that."""
    if config["ablation"]:
        return []
    drawn = [system for system in SYSTEMS if first_trained(system) is not None]
    alignments = [f"{RESULTS}/figures/alignments/{system}" for system in drawn if attends(system)]
    return alignments + [f"{RESULTS}/figures/structure/{system}" for system in drawn if has_structure(system)]


def gold_file(wildcards, ending):
    """The synthetic corpus knows its links and trees; another may have them beside its test set; None without.

    They are of the words that the text comes with, which only text that nothing splits still has.
    """
    corpus = CORPORA[SYSTEMS[wildcards.system]["corpus"]]
    if ending.endswith(".ptb") and not implies_trees(wildcards.system):
        return None
    if corpus["source"] == "collected" or corpus["words"] == "split" or corpus["segmentation"] == "sentencepiece":
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


def drawn_model(wildcards):
    """The first training of a system."""
    return f"trainings/{SYSTEMS[wildcards.system]['folder']}/seed-{first_trained(wildcards.system)}/model.pt"


def drawn_text(wildcards, lang):
    """The test set as the system reads it."""
    return f"corpora/{SYSTEMS[wildcards.system]['corpus']}/text/prepared/test.{lang}"


def subword_flags(wildcards):
    """What the figures have to know about the segmentation."""
    kind = CORPORA[SYSTEMS[wildcards.system]["corpus"]]["segmentation"]
    return "" if kind == "word" else f"--segmentation {kind}"


rule draw_alignments:
    input:
        model=drawn_model,
        source=lambda wildcards: drawn_text(wildcards, SOURCE),
        target=lambda wildcards: drawn_text(wildcards, TARGET),
        gold=lambda wildcards: gold_beside(wildcards, f"{PAIR}.align"),
    output:
        directory(f"{RESULTS}/figures/alignments/{{system}}"),
    params:
        data=lambda wildcards: dictionary_folder(SYSTEMS[wildcards.system]["corpus"]),
        flags=subword_flags,
        gold=lambda wildcards: gold(wildcards, "--gold", f"{PAIR}.align"),
    log:
        f"logs/{RESULTS}/align-{{system}}.log",
    message:
        "Drawing alignments of {wildcards.system}"
    shell:
        "recurrent-mt align --checkpoint {input.model} --data {params.data} --source {input.source} --target {input.target}"
        " {params.flags} {params.gold} --examples 3 --format svg --out {output} > {log} 2>&1"


rule draw_structure:
    input:
        model=drawn_model,
        source=lambda wildcards: drawn_text(wildcards, SOURCE),
        trees=lambda wildcards: gold_beside(wildcards, f"{SOURCE}.ptb"),
    output:
        directory(f"{RESULTS}/figures/structure/{{system}}"),
    params:
        data=lambda wildcards: dictionary_folder(SYSTEMS[wildcards.system]["corpus"]),
        flags=subword_flags,
        gold=lambda wildcards: gold(wildcards, "--trees", f"{SOURCE}.ptb"),
    log:
        f"logs/{RESULTS}/structure-{{system}}.log",
    message:
        "Drawing the structure that {wildcards.system} finds"
    shell:
        "recurrent-mt structure --checkpoint {input.model} --data {params.data} --source {input.source}"
        " {params.flags} {params.gold} --examples 3 --format svg --out {output} > {log} 2>&1"


rule compare:
    input:
        translation_files(),
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
        figures=figures(),
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


def beam_names():
    """What the searches that the curve is drawn of are called."""
    return [f"beam-{beam}{penalty_name(penalty)}" for beam in OPTIONS["beams"] for penalty in OPTIONS["lenpens"]]


def beam_searches(ending):
    """The files of these searches, with the first seed."""
    return [
        f"trainings/{SYSTEMS[system]['folder']}/seed-{seed}/beams/{name}.{ending}"
        for system, seed in TRAINED
        if seed == OPTIONS["seeds"][0]
        for name in beam_names()
    ]


# The folders may have other searches, of other experiments with the same trainings.
rule compare_beams:
    input:
        beam_searches("log"),
        beam_searches("detokenized"),
        reference=lambda wildcards: own_references()[1],
    output:
        multiext(f"{RESULTS}/beams/beams", ".txt", ".md", ".json", ".svg"),
    params:
        systems=[
            f"--system {system}=trainings/{SYSTEMS[system]['folder']}/seed-{seed}/beams"
            for system, seed in TRAINED
            if seed == OPTIONS["seeds"][0]
        ],
        searches=",".join(beam_names()),
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
        "trainings/{folder}/seed-{seed}/model.pt",
    output:
        "trainings/{folder}/seed-{seed}/beam-{beam}/operations.json",
    params:
        data=lambda wildcards: dictionary_folder(corpus_of(wildcards.folder)),
    log:
        "trainings/{folder}/seed-{seed}/beam-{beam}/operations.errors",
    message:
        "Counting operations of {wildcards.folder}, seed {wildcards.seed}"
    shell:
        "recurrent-mt count-operations --checkpoint {input} --data {params.data} --out {output} > {log} 2>&1"


rule compare_cells:
    input:
        translation_files(),
        own_references(),
        [translated(system, seed, "operations.json") for system, seed in TRAINED],
    output:
        multiext(f"{RESULTS}/{config['name']}", ".txt", ".md", ".json"),
    params:
        systems=",".join(SYSTEMS),
        baseline=OPTIONS["baseline"],
        folders=sorted({f"{RESULTS}/{CORPORA[one['corpus']]['segmentation']}-{CORPORA[one['corpus']]['size']}" for one in SYSTEMS.values()}),
        name=config["name"],
        out=RESULTS,
    log:
        f"logs/{RESULTS}/compare.log",
    message:
        "Comparing"
    shell:
        "recurrent-mt compare {params.folders} --ablation {params.name} --models {params.systems}"
        " --baseline {params.baseline} --out {params.out}/{params.name} > {log} 2>&1"
