.DEFAULT_GOAL := help
.PHONY: help demo test race check ci conformance e2e fuzz bench generate

help: ## show this list
	@awk -F ':.*## ' '/^[a-z0-9]+:.*## / { printf "%-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: ## run the main job on embedded defaults
	go run ./cmd/mcpotel demo

test: ## run all tests of the main module
	go test ./...

race: ## the same under the race detector
	go test -race ./...

check: ## everything CI checks but the conformance and end-to-end runs
	.ci/run quick

ci: ## everything CI checks
	.ci/run

conformance: ## run the official conformance suite (needs node and npm)
	.ci/run conformance

e2e: ## run the end-to-end tests against real servers (needs node and npm)
	.ci/run e2e

fuzz: ## fuzz one target: make fuzz PKG=./internal/jsonrpc TARGET=FuzzParse
	go test -run '^$$' -fuzz '^$(TARGET)$$' -fuzztime=500000x $(PKG)

bench: ## run the benchmarks
	go test -run '^$$' -bench . -benchmem ./...

generate: ## write the generated pages anew
	go generate ./...
	go -C tools generate ./...
