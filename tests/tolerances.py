"""How far two computations of the same thing may be apart. Loosening one is a commit of its own, with the reason."""

import torch

#: Two implementations of one function, by dtype: passed to torch.testing.assert_close.
PARITY = {torch.float32: {"rtol": 1e-4, "atol": 1e-5}, torch.float64: {"rtol": 1e-9, "atol": 1e-10}}

#: The same function of the same numbers in another batch or another order.
INVARIANCE = {"rtol": 1e-5, "atol": 1e-5}

#: Against numbers of the authors' own code, float32.
ORACLE = {"rtol": 0.0, "atol": 1e-5}
