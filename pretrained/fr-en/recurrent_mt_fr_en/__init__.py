"""French to English, trained on debates of the European Parliament and on everyday sentences. Data alone: see recurrent_mt.translation."""
