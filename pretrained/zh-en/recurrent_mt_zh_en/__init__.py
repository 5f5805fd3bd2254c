"""Chinese to English, trained on everyday sentences and on technical documentation. Data alone: see recurrent_mt.translation."""
