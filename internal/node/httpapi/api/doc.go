// Package api is what openapi.yaml says, as Go: the types of requests and
// answers, the checks of parameters and the routes of the public port. Files
// that end in .gen.go are written by generate.sh; value.go holds the checks
// that they call.
//
// Goals: one source for types, checks and documentation; a check costs no
// reflection. Non-goals: answering (package httpapi), the admin port's routes.
package api
