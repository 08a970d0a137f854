// Package doctor says what is wrong with a cluster, judging by the answers of its ports
// (docs/operations/watch.md, "What is wrong"). It lists findings by their harm, each with how to
// fix it and with the name of the alert that means the same.
//
// Goals: findings and alerts (deploy/alerts, docs/runbook.md) use the same names; no finding while
// nothing is wrong. Non-goals: asking the ports (internal/cli does that), history (Prometheus has
// it), and repairs.
package doctor
