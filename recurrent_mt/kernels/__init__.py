"""Functions on tensors: no parameters, no modules, no fairseq.

Each folder is one operation: ``reference.py`` is the paper's equations as a loop, the truth that the others are
tested against; ``packed.py`` computes the same without work on padding and with a backward pass of its own. The
folder's ``__init__`` holds the public function, its checks and the choice between them.

Shapes, here and everywhere: ``B`` sentences, ``S`` source length, ``T`` target length, ``E`` embedding, ``H`` hidden,
``A`` attention, ``D`` annotation, ``N`` packed rows.
"""
