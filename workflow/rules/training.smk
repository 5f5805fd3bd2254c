# Learning rates and trainings. The folder of a training is named after everything that decides its result.


import json
import shlex
from pathlib import Path


def training_command(folder, seed, rate=None):
    """fairseq-train with the options of one system."""
    system = BY_FOLDER[folder]
    places = {"{seed}": str(seed), "{plugin}": config["plugin"], "{data}": data_argument(system["corpus"])}
    words = [*system["arguments"], *(["--lr", rate] if rate else []), *system["budget"]]
    for name, value in places.items():
        words = [word.replace(name, value) for word in words]
    return " ".join(map(shlex.quote, [*words, *CHECKPOINTS]))


# Checkpoints and reports that every training makes.
CHECKPOINTS = (
    "--num-workers 0 --no-epoch-checkpoints --save-interval-updates 2000 --keep-interval-updates 1"
    " --log-format json --log-interval 20"
).split()


def data_argument(corpus):
    """The binarized data, several shards joined by colons."""
    folder, shards = f"corpora/{corpus}/data", CORPORA[corpus]["shards"]
    return folder if shards == 1 else ":".join(f"{folder}/shard{shard}" for shard in range(shards))


def chosen_rate(choice):
    """What `recurrent-mt choose-rate` has chosen; a word that stands for it until then."""
    return json.loads(Path(choice).read_text())["chosen"] if Path(choice).exists() else "CHOSEN"


PROCESSES = f"--processes {OPTIONS['processes']} " if OPTIONS["processes"] > 1 else ""


# Snakemake removes the log of a job before it starts it again. That of a training goes on, so what Snakemake knows is
# another name for it.
CONTINUE_LOG = "ln -sf train.log {log} && "


# A rate with which a training diverges is an outcome of the search, and no failure.
rule try_rate:
    input:
        lambda wildcards: binarized(BY_FOLDER[wildcards.folder]["corpus"]),
    output:
        "rates/{folder}/seed-{seed}/{rate}/outcome",
    params:
        command=lambda wildcards: training_command(wildcards.folder, wildcards.seed, wildcards.rate),
        folder=lambda wildcards: f"rates/{wildcards.folder}/seed-{wildcards.seed}/{wildcards.rate}",
        system=lambda wildcards: BY_FOLDER[wildcards.folder]["name"],
    log:
        "rates/{folder}/seed-{seed}/{rate}/log",
    threads: THREADS
    message:
        "Training {params.system}, seed {wildcards.seed}, learning rate {wildcards.rate}"
    shell:
        CONTINUE_LOG + "recurrent-mt training {PROCESSES}--outcome {output} {params.folder} fairseq-train {params.command}"
        " --save-dir {params.folder}/checkpoints 2>> {log}"


rule choose_rate:
    input:
        lambda wildcards: [
            f"rates/{wildcards.folder}/seed-{BY_FOLDER[wildcards.folder]['searched_with']}/{rate}/outcome"
            for rate in BY_FOLDER[wildcards.folder]["rates"]
        ],
    output:
        "rates/{folder}/choice.json",
    params:
        rates=lambda wildcards: ",".join(BY_FOLDER[wildcards.folder]["rates"]),
        seed=lambda wildcards: BY_FOLDER[wildcards.folder]["searched_with"],
        system=lambda wildcards: BY_FOLDER[wildcards.folder]["name"],
    log:
        "rates/{folder}/choice.log",
    message:
        "Choosing the learning rate of {params.system}"
    shell:
        "recurrent-mt choose-rate rates/{wildcards.folder} --seed {params.seed} --rates {params.rates} > {log} 2>&1"


rule train:
    input:
        data=lambda wildcards: binarized(BY_FOLDER[wildcards.folder]["corpus"]),
        choice=lambda wildcards: f"rates/{wildcards.folder}/choice.json" if BY_FOLDER[wildcards.folder]["rates"] else [],
    output:
        "trainings/{folder}/seed-{seed}/model.pt",
    params:
        command=lambda wildcards, input: training_command(
            wildcards.folder, wildcards.seed, chosen_rate(input.choice) if input.choice else None
        ),
        folder=lambda wildcards: f"trainings/{wildcards.folder}/seed-{wildcards.seed}",
        system=lambda wildcards: BY_FOLDER[wildcards.folder]["name"],
    log:
        "trainings/{folder}/seed-{seed}/log",
    threads: THREADS
    message:
        "Training {params.system}, seed {wildcards.seed}"
    shell:
        CONTINUE_LOG + "recurrent-mt training {PROCESSES}{params.folder} fairseq-train {params.command}"
        " --save-dir {params.folder}/checkpoints 2>> {log} && ln -f {params.folder}/checkpoints/checkpoint_best.pt {output}"


# With the seed of the search, the system has been trained already.
if OPTIONS["learning_rates"]:

    ruleorder: take_trial > train
    localrules:
        take_trial,

    rule take_trial:
        input:
            "rates/{searched}/choice.json",
        output:
            f"trainings/{{searched}}/seed-{OPTIONS['seeds'][0]}/model.pt",
        params:
            trial=lambda wildcards, input: (
                f"rates/{wildcards.searched}/seed-{OPTIONS['seeds'][0]}/{chosen_rate(input[0])}"
            ),
            folder=lambda wildcards: f"trainings/{wildcards.searched}/seed-{OPTIONS['seeds'][0]}",
            system=lambda wildcards: BY_FOLDER[wildcards.searched]["name"],
        wildcard_constraints:
            searched="|".join(re.escape(folder) for folder in BY_FOLDER if BY_FOLDER[folder]["rates"]) or "none",
        message:
            "Taking the training of {params.system} with the chosen learning rate"
        shell:
            "for name in checkpoints train.log peak-memory; do ln -sfn ../../../{params.trial}/$name {params.folder}/$name;"
            " done; ln -f {params.trial}/checkpoints/checkpoint_best.pt {output}"
