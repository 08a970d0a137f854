// Package openloop puts load on a server at a rate that does not depend on how fast it
// answers, and counts each latency from the time at which the request was meant to be
// sent. A stall of the server thus shows in every request that was due meanwhile, not only
// in those that were sent.
//
// The client speaks HTTP/1.1 over its own connections and reads only the parts of an
// answer that it counts, because it shares the cores with the server that it measures.
//
// Non-goals: redirects, compressed answers.
package openloop
