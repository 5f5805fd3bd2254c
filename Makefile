PYTHON_FILES = user_dir recurrent_mt fairseq_compat workflow tests benchmarks docs/site_pages.py setup.py
CPP_FILES = $(wildcard recurrent_mt/kernels/native/*.cpp recurrent_mt/kernels/native/*.h)

.PHONY: format check test

format:
	ruff check --fix $(PYTHON_FILES)
	ruff format $(PYTHON_FILES)
	clang-format -i $(CPP_FILES)

check:
	ruff check $(PYTHON_FILES)
	ruff format --check $(PYTHON_FILES)
	clang-format --dry-run --Werror $(CPP_FILES)
	mypy
	shellcheck scripts/*.sh tests/compat/*.sh .ci/run
	python -m mkdocs build --quiet --strict

test:
	bash scripts/test.sh
