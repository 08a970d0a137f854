// Package compare compares balancing strategies: the same
// corpus, the same queries at the same times, each strategy on a fresh cluster,
// real (processes of their own) or simulated (package balance/sim). What it
// finds is a Comparison: figures, series over time and, as a study, what
// placements are worth without any cluster.
//
// Goals: the same figures from both kinds of clusters; each figure beside what
// no placement can beat. Non-goals: statistics over many machines.
package compare
