"""French to English, trained on 200,000 sentence pairs of the European Parliament. Data alone: see recurrent_mt.translation."""
