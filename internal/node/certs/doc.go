// Package certs has the certificates of a cluster: it makes them, reads those of a
// process and keeps up with their files, and speaks TLS with them on all ports and to
// all peers (docs/decisions/022-security.md).
//
// Each side of a connection checks who the other one is (access.Identity), by the URI in
// its certificate: servers let package access decide what that one may do, clients
// name whom they want to reach. Connections are closed when the certificate of the
// other side is no longer valid.
//
// Goals: rotation without a restart; one port for plain and TLS connections while a
// cluster is switched over. Non-goals: revocation lists, OCSP, ACME, versions of TLS
// before 1.3.
package certs
