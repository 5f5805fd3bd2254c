"""Keeps what a configuration of ``fairseq-hydra-train`` takes from the files in its list of defaults.

fairseq 0.12.2 stores its own defaults under the name of the file that it is given. Since hydra 1.1, they are merged
where the file itself stands in the list, over all that comes before it: ``defaults: [base, _self_]`` reset what `base`
says to fairseq's defaults, or complained that the data is not in the struct. With hydra 1.0, the file came first. The
repair has fairseq's defaults come before all else, whatever the order of the list.
"""

from .replacements import around

#: Where fairseq's defaults are stored, in hydra's own notation.
GROUP, NAME = "fairseq_defaults", "all"


@around("fairseq.dataclass.initialize", "hydra_init")
def store_first(store, cfg_name=None):
    """Store the defaults where they come first. ``fairseq-hydra-train`` gives the file's name; fairseq itself, none."""
    if cfg_name is None:
        store()
    else:
        store(cfg_name)
        _move_to_the_front(cfg_name)


def _move_to_the_front(cfg_name):
    """Store the defaults in a group of their own, and name it where hydra's own configuration ends."""
    from hydra.core.config_store import ConfigStore

    configurations = ConfigStore.instance()
    stored = configurations.repo.pop(f"{cfg_name.removesuffix('.yaml')}.yaml")
    configurations.store(group=GROUP, name=NAME, node=stored.node, package="_global_")
    hydra = configurations.load("hydra/config.yaml")
    entry = f"/{GROUP}/{NAME}@_global_"
    if entry not in hydra.node.defaults:
        hydra.node.defaults.extend(["_self_", entry])
        configurations.store(group="hydra", name="config", node=hydra.node, provider=hydra.provider)
