"""Tools that make another file of a trained model: an average, a low-rank model, a checkpoint of GroundHog's, ONNX."""

from __future__ import annotations

import argparse
from pathlib import Path

from recurrent_mt.arguments import positive
from recurrent_mt.kernels.grconv import ACTIVATIONS
from recurrent_mt.text_files import check_output_files

from ..checkpoints.conversions import FactoredMatrix, average_checkpoints, factorize_checkpoint
from ..checkpoints.groundhog import import_model
from .inspection import write_onnx


class Average:
    """Averages the parameters of checkpoints, of any fairseq model.

        recurrent-mt average checkpoints/checkpoint{8,9,10}.pt --out averaged.pt
        recurrent-mt average checkpoints/checkpoint_last.pt --ema --out ema.pt

    fairseq's own script for this is not installed with it. With --ema, the exponential moving averages are taken that
    fairseq-train --store-ema has kept in the checkpoints; one checkpoint is enough. The result translates, and can be
    fine-tuned with --finetune-from-model; a training cannot go on from it.
    """

    @staticmethod
    def configure(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("checkpoints", type=Path, nargs="+", help="checkpoints of one training")
        parser.add_argument("--out", type=Path, required=True, help="checkpoint to write")
        parser.add_argument("--ema", action="store_true", help="take the moving averages of --store-ema")

    @staticmethod
    def run(options: argparse.Namespace) -> None:
        check_output_files(options.checkpoints, [options.out])
        average_checkpoints(options.checkpoints, options.out, ema=options.ema)
        print(options.out)


class Factorize:
    """Makes a low-rank model from a trained one: every matrix of its GRU layers becomes a product of two narrow ones.

        recurrent-mt factorize --checkpoint FULL.pt --rank R --save-dir DIR
        fairseq-train DATA --user-dir "$(recurrent-mt user-dir)" --finetune-from-model DIR/checkpoint.pt --gru-rank R …
        fairseq-generate DATA --user-dir "$(recurrent-mt user-dir)" --path DIR/checkpoint.pt

    Truncated singular value decomposition (Prabhavalkar et al. 2016). Fine-tune with the model's other options
    unchanged, but without --initialization published, its spectral radii, and --recurrent-dropout, which drops numbers
    of whole matrices: the result's own options have none of these. "Kept" is the share of a matrix's squared singular
    values that the product keeps.
    """

    @staticmethod
    def configure(parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "--checkpoint", type=Path, required=True, help="checkpoint of a model trained without --gru-rank"
        )
        parser.add_argument(
            "--rank", type=positive, required=True, help="inner size of the products, which is --gru-rank of the result"
        )
        parser.add_argument("--save-dir", type=Path, required=True, help="folder for checkpoint.pt")

    @staticmethod
    def run(options: argparse.Namespace) -> None:
        file, matrices = factorize_checkpoint(options.checkpoint, options.save_dir, rank=options.rank)
        print(render_table(matrices))
        print(file)


def render_table(matrices: list[FactoredMatrix]) -> str:
    """One line for each matrix, and one for all of them."""
    width = max(len(matrix.name) for matrix in matrices)
    lines = [f"{'matrix':{width}} {'shape':>13} {'rank':>5} {'kept':>7} {'numbers':>10} {'before':>10}"]
    before = after = 0
    for name, (rows, columns), rank, kept in matrices:
        numbers = rank * (rows + columns)
        before, after = before + rows * columns, after + numbers
        shape = f"{rows} × {columns}"
        lines.append(f"{name:{width}} {shape:>13} {rank:5d} {kept:7.4f} {numbers:10d} {rows * columns:10d}")
    return "\n".join([*lines, f"{'all':{width}} {'':13} {'':5} {'':7} {after:10d} {before:10d}"])


class ImportGroundhog:
    """Turns a model of GroundHog, the authors' released code, into a fairseq checkpoint with dictionaries.

        recurrent-mt import-groundhog --params FILE.npz --save-dir DIR
        fairseq-interactive DIR --user-dir "$(recurrent-mt user-dir)" --path DIR/checkpoint.pt --beam 10

    The kind of model (RNNenc, grConv, or RNNsearch) is recognized by its parameter names.
    """

    @staticmethod
    def configure(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--params", type=Path, required=True, help=".npz file of GroundHog's parameters")
        parser.add_argument("--save-dir", type=Path, required=True, help="folder for the checkpoint and dictionaries")
        parser.add_argument(
            "--source-words", type=Path, help="one word per line, line i for id i; without it, the word of id i is 'i'"
        )
        parser.add_argument("--target-words", type=Path, help="the same for the target")
        parser.add_argument(
            "--grconv-activation",
            choices=ACTIVATIONS,
            help="activation of a grConv model (GroundHog: enc_activ; default: relu)",
        )

    @staticmethod
    def run(options: argparse.Namespace) -> None:
        kind = import_model(
            options.params,
            options.save_dir,
            source_words=options.source_words,
            target_words=options.target_words,
            grconv_activation=options.grconv_activation,
        )
        print(f"{kind}: {options.save_dir / 'checkpoint.pt'}")


class Export:
    """Writes a model as ONNX, for translation without fairseq and PyTorch.

        recurrent-mt export checkpoint_best.pt --data DATA --out FOLDER
        recurrent-mt translate-onnx FOLDER <test.fr >test.en

    The folder holds the encoder, one step of the decoder, the words of both languages, and a manifest. Models
    with GRU or grConv encoders can be exported, the authors' imported ones included. An encoder's low-rank
    matrices are multiplied out. Needs the package onnx, and onnxruntime for --int8.
    """

    @staticmethod
    def configure(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("checkpoint", type=Path, help="checkpoint of the model")
        parser.add_argument(
            "--data", type=Path, required=True, help="folder with the dictionaries, as for fairseq-generate"
        )
        parser.add_argument("--out", type=Path, required=True, help="folder to write")
        parser.add_argument(
            "--int8",
            action="store_true",
            help="store embeddings and linear layers in eight bits (onnxruntime's dynamic quantization)",
        )

    @staticmethod
    def run(options: argparse.Namespace) -> None:
        write_onnx(options.checkpoint, options.data, options.out, int8=options.int8)
        for file in sorted(options.out.glob("*.onnx")):
            print(f"{file}  {file.stat().st_size / 1e6:.1f} MB")
