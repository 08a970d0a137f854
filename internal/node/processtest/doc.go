// Package processtest kills real processes of a cluster with kill -9 and holds
// what they answer afterwards against the oracle. It has tests only.
package processtest
