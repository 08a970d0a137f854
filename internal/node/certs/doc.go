// Package certs handles the certificates of a cluster: it makes them, reads those of a process,
// reads them again when their files change, and speaks TLS with them on all ports and to all peers
// (docs/decisions/022-security.md).
//
// Each side of a connection takes the identity of the other side (access.Identity) from the URI in
// its certificate. Servers let package access decide what that identity may do; clients name the
// identity that they want to reach. A connection is closed when the certificate of the other side
// is no longer valid.
//
// Goals: rotation without a restart; plain and TLS connections on one port while a cluster is
// switched over. Non-goals: revocation lists, OCSP, ACME, versions of TLS before 1.3.
package certs
