"""Repairs the searches besides plain beam search.

fairseq 0.12.2 adds the penalty of ``--diverse-beam-groups`` to scores and positional scores, and lists a translation
once for each group that has found it. ``--sampling-topk`` above the size of the dictionary, and ``--constraints`` in
``fairseq-generate``, which reads none, end in errors of PyTorch and Python that name neither.
"""

import functools


def repair(module):
    """Mend the classes of ``fairseq.search``, and let ``SequenceGenerator`` list each translation once."""
    if module.__name__ == "fairseq.sequence_generator":
        generator = module.SequenceGenerator
        generator.generate = _each_once(generator.generate, module.search.DiverseBeamSearch)
        return
    module.DiverseBeamSearch.step = _without_penalty(module.DiverseBeamSearch.step)
    module.Sampling.__init__ = _within_the_dictionary(module.Sampling.__init__)
    constrained = module.LexicallyConstrainedBeamSearch
    constrained.init_constraints = _needing_constraints(constrained.init_constraints)


def _without_penalty(choose):
    @functools.wraps(choose)
    def step_without_penalty(self, step, lprobs, scores, prev_output_tokens=None, original_batch_idxs=None):
        """The penalty is of one step (Vijayakumar et al. 2018, equation 4): it decides there, and stays there."""
        _, words, beams = choose(self, step, lprobs, scores, prev_output_tokens, original_batch_idxs)
        if step > 0:
            lprobs = lprobs + scores[:, :, step - 1].unsqueeze(2)
        return lprobs.flatten(1).gather(1, beams * lprobs.size(2) + words), words, beams

    return step_without_penalty


def _each_once(generate, search_class):
    @functools.wraps(generate)
    def generate_each_once(self, *args, **kwargs):
        found = generate(self, *args, **kwargs)
        if not isinstance(self.search, search_class):
            return found
        # Of equal keys, a dictionary keeps the first place.
        return [list({tuple(one["tokens"].tolist()): one for one in hypotheses}.values()) for hypotheses in found]

    return generate_each_once


def _within_the_dictionary(initialize):
    @functools.wraps(initialize)
    def initialize_within_the_dictionary(self, tgt_dict, sampling_topk=-1, sampling_topp=-1.0):
        if sampling_topk > len(tgt_dict):
            raise ValueError(f"--sampling-topk must be at most {len(tgt_dict)}, all target words, not {sampling_topk}")
        initialize(self, tgt_dict, sampling_topk, sampling_topp)

    return initialize_within_the_dictionary


def _needing_constraints(initialize):
    @functools.wraps(initialize)
    def initialize_constraints(self, batch_constraints, beam_size):
        if batch_constraints is None:
            raise ValueError(
                "--constraints needs words that translations must contain, which only fairseq-interactive reads: after "
                "a tab in each line; leave it out"
            )
        initialize(self, batch_constraints, beam_size)

    return initialize_constraints
