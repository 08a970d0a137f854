// Package httpapi is what the HTTP ports of all processes share: the server with its limits
// against slow and large requests, bodies, errors and how they are answered, the names that a
// port answers to, and openapi.yaml, from which package api is generated.
//
// Handlers are elsewhere: package searchapi has the port for queries, admin the admin port,
// collector that of events.
package httpapi

import _ "embed"

// Spec is the OpenAPI document of all ports.
//
//go:embed openapi.yaml
var Spec []byte

const op = "http: request"
