// Package api is openapi.yaml in Go: the types of requests and answers, the checks of parameters,
// and the routes of the public port. generate.sh writes the files that end in .gen.go; value.go has
// the checks that they call.
//
// Goals: one source for types, checks and documentation; checks without reflection. Non-goals:
// answering (package httpapi), the admin port's routes.
package api
