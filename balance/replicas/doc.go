// Package replicas decides which slaves are replicas of which shards. It reads a cluster, and lets package
// verify compare the data of slaves that are to join a set. It adds to an edit which slaves join or leave a
// set, or get which shard (Arrange).
package replicas
