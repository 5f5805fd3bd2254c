"""Functions on tensors: no parameters, no modules, no fairseq.

Each folder is one operation: ``reference.py`` has the paper's equations as a loop, the ground truth for testing the
others; ``backends.py`` computes the same without work on padding and with its own backward pass, in PyTorch
(``packed``), in C++ (``native``, with sources in ``native/``), and in Triton (``fused``, with kernels in ``triton_*``);
``interface.py``, where there is one, has the types of arguments and results. The folder's ``__init__`` holds the
public function, its checks, and the choice between them.

Shapes, here and everywhere: ``B`` sentences, ``S`` source length, ``T`` target length, ``E`` embedding, ``H`` hidden,
``A`` attention, ``D`` annotation, ``N`` packed rows.
"""
