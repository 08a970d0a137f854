# Targets are described by `make help`.
generate: ## rebuild the generated code (needs protoc and flatc)
	./schema/generate.sh
.PHONY: generate
