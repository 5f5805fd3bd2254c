# Learning rates and trainings. The folder of a training is named after everything that decides its result.


PROCESSES = f"--processes {OPTIONS['processes']} " if OPTIONS["processes"] > 1 else ""


# Snakemake removes the log of a job before it starts it again. That of a training goes on, so what Snakemake knows is
# another name for it.
CONTINUE_LOG = "ln -sf train.log {log} && "


rule try_rate:
    input:
        lambda wildcards: CORPORA[BY_FOLDER[wildcards.folder]["corpus"]].binarized,
    output:
        "rates/{folder}/seed-{seed}/{rate}/outcome",
    params:
        command=lambda wildcards: steps.training_command(
            config, BY_FOLDER[wildcards.folder], wildcards.seed, wildcards.rate
        ),
        folder=lambda wildcards: f"rates/{wildcards.folder}/seed-{wildcards.seed}/{wildcards.rate}",
        system=lambda wildcards: BY_FOLDER[wildcards.folder]["name"],
    log:
        "rates/{folder}/seed-{seed}/{rate}/log",
    threads: THREADS
    message:
        "Training {params.system}, seed {wildcards.seed}, learning rate {wildcards.rate}"
    shell:
        CONTINUE_LOG + "recurrent-mt training {PROCESSES}{params.folder} fairseq-train {params.command}"
        " --save-dir {params.folder}/checkpoints 2>> {log}"


rule choose_rate:
    input:
        lambda wildcards: [
            f"rates/{wildcards.folder}/seed-{BY_FOLDER[wildcards.folder]['searched_with']}/{rate}/outcome"
            for rate in BY_FOLDER[wildcards.folder]["rates"]
        ],
    output:
        "rates/{folder}/outcome",
    params:
        rates=lambda wildcards: ",".join(BY_FOLDER[wildcards.folder]["rates"]),
        seed=lambda wildcards: BY_FOLDER[wildcards.folder]["searched_with"],
        system=lambda wildcards: BY_FOLDER[wildcards.folder]["name"],
    log:
        "rates/{folder}/choice.log",
    message:
        "Choosing the learning rate of {params.system}"
    shell:
        "recurrent-mt choose-rate rates/{wildcards.folder} --seed {params.seed} --rates {params.rates} > {log} 2>&1" + OUTCOME


rule train:
    input:
        data=lambda wildcards: CORPORA[BY_FOLDER[wildcards.folder]["corpus"]].binarized,
        choice=lambda wildcards: f"rates/{wildcards.folder}/outcome" if BY_FOLDER[wildcards.folder]["rates"] else [],
    output:
        "trainings/{folder}/seed-{seed}/outcome",
    params:
        unless_chosen=lambda wildcards, input, output: (
            steps.copy_unless_chosen(input.choice, output[0]) if input.choice else ""
        ),
        command=lambda wildcards, input: steps.training_command(
            config,
            BY_FOLDER[wildcards.folder],
            wildcards.seed,
            steps.chosen_rate(f"rates/{wildcards.folder}") if input.choice else None,
        ),
        folder=lambda wildcards: f"trainings/{wildcards.folder}/seed-{wildcards.seed}",
        system=lambda wildcards: BY_FOLDER[wildcards.folder]["name"],
    log:
        "trainings/{folder}/seed-{seed}/log",
    threads: THREADS
    message:
        "Training {params.system}, seed {wildcards.seed}"
    shell:
        "{params.unless_chosen}" + CONTINUE_LOG + "recurrent-mt training {PROCESSES}{params.folder} fairseq-train"
        " {params.command} --save-dir {params.folder}/checkpoints 2>> {log}"


# With the seed of the search, the system has been trained already.
if OPTIONS["learning_rates"]:

    ruleorder: take_trial > train
    localrules:
        take_trial,

    rule take_trial:
        input:
            choice="rates/{searched}/outcome",
        output:
            f"trainings/{{searched}}/seed-{OPTIONS['seeds'][0]}/outcome",
        params:
            unless_chosen=lambda wildcards, input, output: steps.copy_unless_chosen(input.choice, output[0]),
            trial=lambda wildcards: (
                f"rates/{wildcards.searched}/seed-{OPTIONS['seeds'][0]}/{steps.chosen_rate(f'rates/{wildcards.searched}')}"
            ),
            folder=lambda wildcards: f"trainings/{wildcards.searched}/seed-{OPTIONS['seeds'][0]}",
            system=lambda wildcards: BY_FOLDER[wildcards.searched]["name"],
        wildcard_constraints:
            searched="|".join(re.escape(folder) for folder in BY_FOLDER if BY_FOLDER[folder]["rates"]) or "none",
        message:
            "Taking the training of {params.system} with the chosen learning rate"
        shell:
            "{params.unless_chosen}for name in checkpoints train.log peak-memory; do"
            " ln -sfn ../../../{params.trial}/$name {params.folder}/$name; done; cp {params.trial}/outcome {output}"
