// Package maps makes models durable and publishes them. Changes go in (Stage), with the view that
// each slave and master has; states to save and quanta to send come out (Out), and the model that
// masters may have (Published). It numbers quanta and stamps them with the clock of the last change
// (thesis 6.3.3; docs/sources.md). Watch is the other side: when a master asks for a newer map, and whom.
package maps
