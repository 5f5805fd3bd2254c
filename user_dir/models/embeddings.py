"""Embeddings of both sides: their sizes, what they share, and vectors from a file."""

from __future__ import annotations

from pathlib import Path

from fairseq import utils
from fairseq.data import Dictionary
from torch import nn

from recurrent_mt.layers.weights import BiasedEmbedding

from .config import EncoderDecoderConfig


def build_embeddings(
    config: EncoderDecoderConfig, source: Dictionary, target: Dictionary
) -> tuple[nn.Embedding, nn.Embedding]:
    """The source and target embeddings; the same module if all embeddings are shared.

    Raises:
        ValueError: if options contradict each other or an embedding file does not fit.
        FileNotFoundError: if an embedding file is missing.
    """
    biased = config.embed_bias
    source_embedding = build_embedding(source, config.encoder_embed_dim, biased=biased)
    if config.share_all_embeddings:
        _check_shareable(config, source, target)
        target_embedding = source_embedding
    else:
        target_embedding = build_embedding(target, config.decoder_embed_dim, biased=biased)
    if config.encoder_freeze_embed:
        source_embedding.requires_grad_(False)
    if config.decoder_freeze_embed:
        target_embedding.requires_grad_(False)
    return source_embedding, target_embedding


def build_embedding(dictionary: Dictionary, size: int, *, biased: bool = False) -> nn.Embedding:
    """An embedding of ``size`` units for each word, drawn at random."""
    kind = BiasedEmbedding if biased else nn.Embedding
    embedding = kind(len(dictionary), size, padding_idx=dictionary.pad())
    nn.init.uniform_(embedding.weight, -0.1, 0.1)
    nn.init.zeros_(embedding.weight[dictionary.pad()].detach())
    return embedding


def load_pretrained(embedding: nn.Embedding, dictionary: Dictionary, path: str) -> None:
    """Gives the words that the file at ``path`` has its vectors; the others keep what they have.

    Call it after every initialization: a row that is drawn anew is lost.

    Raises:
        FileNotFoundError: if there is no such file.
        ValueError: if it is no file of embeddings, or its vectors have not as many numbers as the embedding.
    """
    if not Path(path).is_file():
        raise FileNotFoundError(
            f"there is no embedding file at {path}; a trained model does not need it: use "
            "--model-overrides \"{'encoder_embed_path': None, 'decoder_embed_path': None}\""
        )
    vectors = utils.parse_embedding(path)
    needed = embedding.embedding_dim
    size = next((len(vector) for vector in vectors.values()), needed)
    if size != needed:
        raise ValueError(f"{path}: its vectors have {size} numbers, and the model's embeddings {needed}")
    utils.print_embed_overlap(vectors, dictionary)
    utils.load_embedding(vectors, dictionary, embedding)


def _check_shareable(config: EncoderDecoderConfig, source: Dictionary, target: Dictionary) -> None:
    if source != target:
        raise ValueError("--share-all-embeddings needs a joined dictionary (fairseq-preprocess --joined-dictionary)")
    if config.encoder_embed_dim != config.decoder_embed_dim:
        raise ValueError(
            f"--share-all-embeddings needs --encoder-embed-dim ({config.encoder_embed_dim}) to equal "
            f"--decoder-embed-dim ({config.decoder_embed_dim})"
        )
    if config.decoder_embed_path and config.decoder_embed_path != config.encoder_embed_path:
        raise ValueError("--share-all-embeddings does not allow a separate --decoder-embed-path")
