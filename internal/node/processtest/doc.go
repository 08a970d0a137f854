// Package processtest kills real processes of a cluster with kill -9 and compares
// what they answer afterwards with the oracle. It has tests only.
package processtest
