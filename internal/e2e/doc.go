// Package e2e tests the whole: files go in by import, queries by HTTP, and the
// answers are compared with golden ones and with the oracle's.
package e2e
