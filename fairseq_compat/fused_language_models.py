"""Refuses ``--lm-path`` where it would do nothing, or something else than is meant.

fairseq 0.12.2 adds the scores of a language model to those of a translation model by the numbers of words: of a model
with as many other words, as a ``dict.txt`` that is not the target dictionary gives it, it adds those of other words.
And ``fairseq-interactive`` takes the option, and loads no language model.
"""

import functools


def repair(module):
    """Let ``fairseq.tasks.fairseq_task`` compare the words, and ``fairseq_cli.interactive`` refuse the option."""
    if module.__name__ == "fairseq_cli.interactive":
        module.main = _refusing_the_option(module.main)
    else:
        module.FairseqTask.build_generator = _comparing_words(module.FairseqTask.build_generator)


def _comparing_words(build):
    @functools.wraps(build)
    def build_with_the_same_words(self, models, args, seq_gen_cls=None, extra_gen_cls_kwargs=None, *others, **kwargs):
        language_model = (extra_gen_cls_kwargs or {}).get("lm_model")
        if language_model is not None and language_model.decoder.dictionary != self.target_dictionary:
            raise ValueError(
                "--lm-path: the language model was loaded with the dict.txt in the data folder, which has other words "
                "than the target dictionary: train it with that one as its dict.txt"
            )
        return build(self, models, args, seq_gen_cls, extra_gen_cls_kwargs, *others, **kwargs)

    return build_with_the_same_words


def _refusing_the_option(main):
    @functools.wraps(main)
    def main_without_a_language_model(cfg):
        # fairseq also takes options as they were parsed.
        if getattr(cfg, "generation", cfg).lm_path:
            raise ValueError("fairseq-interactive adds no language model: leave --lm-path out, or use fairseq-generate")
        return main(cfg)

    return main_without_a_language_model
