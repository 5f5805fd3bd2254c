"""Lets ``--valid-subset valid,valid1`` validate on both.

fairseq 0.12.2 refuses to train where it finds a validation set that is not named, and compares names of files with
those of subsets: ``valid1.fr-en.fr`` is never named. It advises an option that does not exist, ``--combine-val``.
"""


def repair(data_utils):
    """Let ``fairseq.data.data_utils`` compare subsets."""
    find = data_utils._find_extra_valid_paths

    def raise_if_valid_subsets_unintentionally_ignored(train_cfg) -> None:
        """Raise a ValueError if the data have validation sets that are neither named, nor combined, nor ignored."""
        options = train_cfg.dataset
        if options.ignore_unused_valid_subsets or options.combine_valid_subsets or options.disable_validation:
            return
        if not hasattr(train_cfg.task, "data"):
            return
        # A file is named after its subset, and perhaps its languages: valid1.fr-en.fr.
        named = tuple(f"{subset}." for subset in options.valid_subset.split(","))
        ignored = {path.split(".")[0] for path in find(train_cfg.task.data) if not f"{path}.".startswith(named)}
        if ignored:
            raise ValueError(
                f"there is more to validate on than --valid-subset {options.valid_subset}: "
                f"{', '.join(sorted(ignored))}. Name it there, too, or set --combine-valid-subsets to make one set of "
                "all, or --ignore-unused-valid-subsets"
            )

    data_utils.raise_if_valid_subsets_unintentionally_ignored = raise_if_valid_subsets_unintentionally_ignored
