// Package processtest kills real processes of a cluster with kill -9, and compares their answers
// afterwards with the oracle. It has only tests.
package processtest
