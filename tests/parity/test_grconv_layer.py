"""The grConv layer against GroundHog's: Theano, float32, ReLU, a ragged batch."""

import torch

from recurrent_mt.kernels.grconv import GRConvWeights, grconv
from recurrent_mt.kernels.packing import make_packing
from tests.kernels.batches import ALL, every_backend, within
from tests.parity import oracle
from tests.tolerances import ORACLE


@every_backend(ALL)
def test_roots_and_gradient_equal_the_authors(backend):
    arrays = {name: torch.from_numpy(array) for name, array in oracle.load("groundhog_rconv_layer.npz").items()}
    leaves = arrays["X"].transpose(0, 1).clone().requires_grad_()  # (B, S, H)
    packing = make_packing(arrays["M"].t() == 0)
    # GroundHog multiplies rows by matrices, so its weights are transposed; U is the left child's, W the right one's.
    weights = GRConvWeights(
        left=arrays["U_r"].t(),
        right=arrays["W_r"].t(),
        bias=arrays["b_r"],
        gate_left=arrays["GU_r"].t(),
        gate_right=arrays["GW_r"].t(),
        gate_bias=arrays["Gb_r"],
    )
    roots, _, _ = within(backend, grconv)(
        packing.pack(leaves), weights, batch_sizes=packing.batch_sizes, activation="relu"
    )
    roots = packing.unsort(roots)
    torch.testing.assert_close(roots, arrays["out"][0], **ORACLE)
    (gradient,) = torch.autograd.grad((roots**2).sum(), leaves)
    torch.testing.assert_close(gradient, arrays["G"].transpose(0, 1), **ORACLE)
