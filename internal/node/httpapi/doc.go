// Package httpapi has what the HTTP ports of all processes share: the server with its limits
// against slow and large requests, the reading of bodies, the answers to errors, the names to which
// a port answers, and openapi.yaml, from which package api is generated.
//
// The handlers are in other packages: searchapi has those of the port for queries, admin those of
// the admin port, and collector those of the port for events.
package httpapi

import _ "embed"

// Spec is the OpenAPI document of all ports.
//
//go:embed openapi.yaml
var Spec []byte

const op = "http: request"
