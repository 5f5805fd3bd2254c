"""Lets ``fairseq-generate --num-shards N --shard-id I`` translate a part.

fairseq 0.12.2 reads these options in ``fairseq-eval-lm`` alone: each of N processes translates everything. It also has
one name for the file of all of them: with ``--results-path DIR``, that of part I is in ``DIR/shardI``.
"""

import copy
import functools
import os


def repair(generate):
    """Let ``fairseq_cli.generate`` divide the text into as many shards as either options or processes ask for."""
    main, translate = generate.main, generate._main

    @functools.wraps(main)
    def main_with_its_own_file(cfg):
        if isinstance(cfg, generate.Namespace):
            cfg = generate.convert_namespace_to_omegaconf(cfg)
        place, shards = cfg.common_eval.results_path, cfg.dataset
        if place is not None and shards.num_shards > 1:
            cfg = copy.deepcopy(cfg)
            cfg.common_eval.results_path = os.path.join(place, f"shard{shards.shard_id}")
        return main(cfg)

    @functools.wraps(translate)
    def translate_a_shard(cfg, output_file):
        # What fairseq-generate reads instead, for nothing but the batches; as fairseq-eval-lm joins them.
        cfg = copy.deepcopy(cfg)
        shards, processes = cfg.dataset, cfg.distributed_training
        processes.distributed_world_size = max(shards.num_shards, processes.distributed_world_size)
        processes.distributed_rank = max(shards.shard_id, processes.distributed_rank)
        try:
            return translate(cfg, output_file)
        except ZeroDivisionError as error:
            if shards.num_shards == 1:
                raise
            # fairseq divides by the time that translating has taken.
            raise ValueError(
                f"there is nothing to translate for shard {shards.shard_id} (--shard-id) of {shards.num_shards} "
                "(--num-shards): the text has fewer batches; smaller ones (--batch-size, --max-tokens) are more"
            ) from error

    generate.main, generate._main = main_with_its_own_file, translate_a_shard
