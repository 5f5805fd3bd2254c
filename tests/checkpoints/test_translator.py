"""A model that translates and scores single sentences."""

from tests.checkpoints.checkpoints import small_checkpoint
from user_dir.checkpoints.translator import Translator


def test_the_preferred_word_is_the_one_that_scores_best_in_its_place(tmp_path):
    checkpoint = small_checkpoint(tmp_path, "gru_encoder")
    translator = Translator(tmp_path / "checkpoint.pt", tmp_path)
    source, target = "s1 s2 s3", ["t12", "t3"]
    preferred = translator.score(source, " ".join(target)).preferred
    assert len(preferred) == 3
    for place, word in enumerate(preferred[:-1]):
        scores = {
            other: translator.score(source, " ".join([*target[:place], other])).log_probabilities[place]
            for other in checkpoint.task.target_dictionary.symbols
            if other != "<pad>"
        }
        assert word == max(scores, key=scores.get)
