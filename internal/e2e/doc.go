// Package e2e tests the whole program: files are imported, queries are sent over HTTP, and the answers are compared
// with golden ones and with the oracle's.
package e2e
