// Package load counts what searches cost, by slice, by ad group and by term. One
// search in so many is counted (Counter), and of what it looks at one posting in
// so many is sampled (Sampler). The most expensive groups and terms are found in
// bounded memory, and so is, for each slice, where half of its load lies on each side
// (package splitkey). A random sample says which groups each topic consists of.
//
// Non-goals: averages over time and decisions (package balance).
package load
