"""Lets ``fairseq-generate --num-shards N --shard-id I`` translate a part.

fairseq 0.12.2 reads these options in ``fairseq-eval-lm`` alone: each of N processes translates everything.
"""

import copy
import functools


def repair(generate):
    """Let ``fairseq_cli.generate`` divide the text into as many shards as either options or processes ask for."""
    main = generate._main

    @functools.wraps(main)
    def main_of_a_shard(cfg, output_file):
        # What fairseq-generate reads instead, for nothing but the batches; as fairseq-eval-lm joins them.
        cfg = copy.deepcopy(cfg)
        shards, processes = cfg.dataset, cfg.distributed_training
        processes.distributed_world_size = max(shards.num_shards, processes.distributed_world_size)
        processes.distributed_rank = max(shards.shard_id, processes.distributed_rank)
        try:
            return main(cfg, output_file)
        except ZeroDivisionError as error:
            if shards.num_shards == 1:
                raise
            # fairseq divides by the time that translating has taken.
            raise ValueError(
                f"there is nothing to translate for shard {shards.shard_id} (--shard-id) of {shards.num_shards} "
                "(--num-shards): the text has fewer batches; smaller ones (--batch-size, --max-tokens) are more"
            ) from error

    generate._main = main_of_a_shard
