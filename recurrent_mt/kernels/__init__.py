"""Functions on tensors: no parameters, no modules, no fairseq.

Each operation is one file. Its public function comes first, with the equations and the checks; then what computes it:
``reference``, the paper's equations as a loop, the ground truth for testing the others; ``packed``, the same without
work on padding and with its own backward pass, in PyTorch; ``native``, in C++, with its source of the same name in
``native/``. ``fused``, in Triton, is in ``triton_*``. Which of them runs is decided in ``dispatch.py``.

Shapes, here and everywhere: ``B`` sentences, ``S`` source length, ``T`` target length, ``E`` embedding, ``H`` hidden,
``A`` attention, ``D`` annotation, ``N`` packed rows.
"""
