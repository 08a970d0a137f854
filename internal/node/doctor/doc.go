// Package doctor says what is wrong with a cluster, from what its ports answer
// (docs/operations/watch.md, "What is wrong"): in the order of harm, each finding with
// the name of the alert that means the same and with how to fix it.
//
// Goals: findings and alerts (deploy/alerts, docs/runbook.md) name the same
// things; no finding while nothing is wrong. Non-goals: asking (internal/cli
// does), history, which Prometheus has, and mending.
package doctor
