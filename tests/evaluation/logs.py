"""Small logs in the form that fairseq 0.12.2 writes."""

TIMING = (
    "2026-01-02 03:04:05 | INFO | fairseq_cli.generate | "
    "Translated 3 sentences (1,234 tokens) in 2.5s (1.20 sentences/s, 493.60 tokens/s)"
)
INTERACTIVE = "2026-01-02 03:04:05 | INFO | fairseq_cli.interactive | "
INTERACTIVE_END = INTERACTIVE + "Total time: 2.000 seconds; translation time: 1.000"
END = "Generate test with beam=2: BLEU = 12.30 50.0/20.0/10.0/5.0 (BP = 1.000 ratio = 1.000 hyp_len = 9 ref_len = 9)"


def block(number, translations=1):
    """The lines of one sentence."""
    lines = [f"S-{number}\tsource {number}", f"T-{number}\treference {number}"]
    for rank in range(translations):
        lines += [
            f"H-{number}\t-{rank}.25\ttranslation {number} , {rank}",
            f"D-{number}\t-{rank}.25\ttranslation {number}, {rank}",
            f"P-{number}\t-0.5000 -1.0000 -0.2500",
            f"A-{number}\t0-0 1-1",
        ]
    return lines


def generate_log(*, order=(2, 0, 1), translations=1):
    """The lines of a whole log."""
    blocks = [line for number in order for line in block(number, translations)]
    return ["2026-01-02 03:04:00 | INFO | fairseq_cli.generate | loading model(s)", *blocks, TIMING, END]


def report(tag, **stats):
    """A JSON line of fairseq-train."""
    pairs = ", ".join(f'"{key}": "{value}"' for key, value in stats.items())
    return f'2026-01-02 03:04:05 | INFO | {tag} | {{"epoch": 1, {pairs}}}'


def interval(updates, wps, *, wpb=100, wall=10):
    """A report of a log interval."""
    return report("train_inner", update=0.5, loss=5.5, wps=wps, ups=1.0, wpb=wpb, num_updates=updates, wall=wall)


def valid(updates, loss):
    """A validation with the lines around it."""
    return [
        '2026-01-02 03:04:05 | INFO | fairseq_cli.train | begin validation on "valid" subset',
        report("valid", valid_loss=loss, valid_ppl=9, valid_wps=500, valid_num_updates=updates),
        "2026-01-02 03:04:05 | INFO | fairseq.checkpoint_utils | Preparing to save checkpoint for epoch 1",
    ]


MODEL = "2026-01-02 03:04:05 | INFO | fairseq_cli.train | num. shared model params: 1,234,567 (num. trained: 9)"
DONE = "2026-01-02 03:04:05 | INFO | fairseq_cli.train | done training in 60.5 seconds"


def train_log():
    """The lines of a whole log: of the four later intervals, two have a validation in them."""
    return [
        MODEL,
        interval(10, 1),
        interval(20, 1000),
        interval(30, 500, wpb=200),
        *valid(35, 4.5),
        interval(40, 20),
        *valid(45, 4.25),
        interval(50, 30, wall=55),
        report("train", train_loss=4.9, train_wps=77, train_num_updates=50, train_wall=60),
        DONE,
    ]


def write(path, lines):
    """The file `path` with these lines."""
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path
