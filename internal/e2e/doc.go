// Package e2e tests the whole: files go in by import, queries by HTTP, and the
// answers are held against golden ones and against the oracle.
package e2e
