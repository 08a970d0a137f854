// Package maps makes models durable and publishes them. Changes go in (Stage), and the views that slaves
// and masters have. States to save and quanta to send come out (Out), and the model that masters may have
// (Published). The package numbers quanta and stamps them with the clock of the last change (thesis
// 6.3.3; docs/sources.md). Watch is the master's side: it decides when a master asks for a newer map, and
// which balancer it asks.
package maps
