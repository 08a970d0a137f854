// Package node is the processes of a cluster: master, slave and balancer, and
// all of them together on one machine (RunUp).
//
// It wires: configuration, listeners, gRPC services, HTTP servers, metrics,
// signals through contexts. A Run function returns when its context is over
// (nil) or when the process cannot go on (an error that says what to do). What
// it listens on it prints, one address a line, when it is listening.
//
// Goals: the same code in one process, in child processes and on many
// machines; real gRPC in all of them. Non-goals: algorithms; they lie in the
// packages below.
package node
