// Package access says who may make which call: roles, identities, tokens, and the
// one table of all calls of all ports (docs/decisions/022-security.md).
//
// An identity comes from a certificate of the cluster (package certs) or, on admin ports, from a
// token. The table names the roles of each call, and the sender that its message may claim to have.
// A call that is not in the table is refused.
//
// Goals: one place to read what each role may do; a new call without a row fails a
// test. Non-goals: permissions of single campaigns or advertisers, groups of users.
package access
