// Package compare compares balancing strategies with the same corpus and the
// same queries at the same times. Each strategy has a fresh cluster, either
// real (processes) or simulated (package balance/sim). The result is a
// Comparison: figures, series over time and, as a study, what placements are
// worth without any cluster.
//
// Goals: the same figures from both kinds of clusters; each figure beside the
// best that any placement can reach. Non-goals: statistics over many machines.
package compare
