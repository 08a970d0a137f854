// Package load counts what searches cost, by slice, by ad group and by term. It counts one search
// in n (Counter), and of that search samples one posting in m (Sampler). It finds the most
// expensive groups and terms in bounded memory, and for each slice the key that splits its load in
// half (package splitkey). A random sample shows the groups of each topic.
//
// Non-goals: averages over time and decisions (package balance).
package load
