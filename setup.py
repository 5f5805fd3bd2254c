"""Package metadata, and where the plug-in goes. fairseq_compat is a distribution of its own, in its folder."""

from __future__ import annotations

import sys

from setuptools import find_packages, setup

PACKAGES = find_packages(include=[f"{name}{part}" for name in ("user_dir", "recurrent_mt") for part in ("", ".*")])
# A package_dir of this form makes the editable install one line in a .pth file. Without it
# setuptools writes a finder whose imports cost every Python process some 10 ms.
FOLDERS = {"": "."}
if "editable_wheel" not in sys.argv:
    # Installed, the plug-in is a part of the library: no environment gets a package called user_dir.
    PACKAGES = [f"recurrent_mt.plugin.{name}" if name.startswith("user_dir") else name for name in PACKAGES]
    FOLDERS["recurrent_mt.plugin.user_dir"] = "user_dir"

setup(
    name="fairseq-recurrent-mt",
    version="0.1.0",
    description="The recurrent encoder-decoders of 2014-15 for fairseq 0.12.2",
    license="MIT",
    python_requires=">=3.11",
    # What scores, analyses, and reports need. Models need fairseq and fairseq_compat as well.
    install_requires=[
        "jinja2>=3.1",
        "krippendorff>=0.8",
        "matplotlib>=3.8",
        "nltk>=3.9",
        "numpy>=1.26",
        "pandas>=2.2,<3",
        "PyYAML>=6",
        "sacrebleu>=2.4",
        "tabulate>=0.9",
    ],
    packages=PACKAGES,
    package_data={
        "recurrent_mt.report": ["templates/*"],
        "recurrent_mt.data.synthetic.lexicon": ["*.tsv"],
        "recurrent_mt.ratings": ["page/*"],
    },
    package_dir=FOLDERS,
    extras_require={"onnx": ["onnx", "onnxruntime"]},
    entry_points={"console_scripts": ["recurrent-mt = recurrent_mt.cli.command:main"]},
)
